internal import FaultlineDisk
package import FaultlineLog
internal import FaultlineModel
internal import Glibc

/// Collects the objects that a transaction inserts, updates and deletes, and writes them as history into the
/// transaction.
///
/// Consecutive numbers are one run, even with other entities in between; so a million new objects take a few bytes. The
/// collected runs are written in parts as they grow, so that memory stays bounded. Nothing is allocated for an object:
/// memory is kept from one transaction to the next.
///
/// Used by one thread at a time, with the writer lock held. The next `begin` drops the remains of a failed transaction.
package final class HistoryWriter {
    private struct Run {
        /// Nil for none.
        var tag: HistoryFormat.Tag?
        var mask: UInt64
        var first: RecordID
        var end: RecordID

        static let none = Run(tag: nil, mask: 0, first: 0, end: 0)
    }

    private let store: RowStore
    /// The part that is being filled.
    @exclusivity(unchecked) private var bytes = HistoryBytes()
    /// The runs that may continue, by ordinal of the entity.
    private let runs: UnsafeMutableBufferPointer<Run>
    /// Ordinals of entities with a run, each once.
    @exclusivity(unchecked) private var begun: [Int] = []
    /// The ordinal of the entity whose runs were written last in this part; −1 for none.
    @exclusivity(unchecked) private var section = -1
    /// The end of the section's last run.
    @exclusivity(unchecked) private var previousEnd: RecordID = 0
    private var microseconds: UInt64 = 0
    private var sequence: UInt64 = 0
    private var author: [UInt8]?
    private var authorText: String?
    private var partCount = 0
    private let process = UInt64(clamping: getpid())

    package init(_ store: RowStore) {
        self.store = store
        runs = .allocate(capacity: store.storage.entities.count)
        runs.initialize(repeating: .none)
    }

    deinit { runs.deallocate() }

    // MARK: The stages of a record

    /// Begins the record of a transaction.
    package func begin(author: String?, in transaction: borrowing Transaction) {
        for ordinal in begun { runs[ordinal] = .none }
        begun.popAll()
        bytes.removeAll()
        partCount = 0
        section = -1
        sequence = transaction.sequence
        microseconds = UInt64(max(transaction.wallNanoseconds, 0)) / 1_000
        if author != authorText {
            authorText = author
            self.author = author.map { Array($0.utf8) }
        }
    }

    /// Writes the rest; nothing if there were no changes.
    package func end(in transaction: inout Transaction) throws(StoreError) {
        for ordinal in begun { try write(ordinal, &transaction) }
        guard bytes.count > 0 else { return }
        try writePart(isLast: true, &transaction)
    }

    // MARK: Changes

    package func noteInsert(
        _ id: RecordID, _ entity: EntityStorage, in transaction: inout Transaction
    ) throws(StoreError) {
        try note(.inserts, 0, id, entity, &transaction)
    }

    /// Records that slots of an object have changed; nothing if the mask is 0.
    package func noteUpdate(
        _ id: RecordID, mask: UInt64, _ entity: EntityStorage, in transaction: inout Transaction
    ) throws(StoreError) {
        if mask != 0 { try note(.updates, mask, id, entity, &transaction) }
    }

    /// Records the deletion of an object that still exists, with the values to be preserved.
    package func noteDelete(
        _ id: RecordID, _ entity: EntityStorage, _ writer: borrowing RowWriter, in transaction: inout Transaction
    ) throws(StoreError) {
        let location: Location
        do throws(LogError) { location = try transaction.location(of: id, in: entity.table) } catch {
            throw StoreError(error)
        }
        // Another transaction may have deleted it.
        guard !location.isAbsent else { return }
        guard !entity.preservedSlots.isEmpty else { return try note(.deletes, 0, id, entity, &transaction) }
        let (slots, row) = try writer.withStoredRow(id, entity, transaction) { Self.tombstone($0, entity) }
        try write(entity.ordinal, &transaction)
        try enterSection(entity, roomFor: row.count + 8 * slots.count + 32, &transaction)
        bytes.append(HistoryFormat.Tag.tombstone.rawValue)
        appendPlace(id)
        previousEnd = id + 1
        bytes.appendNumber(UInt64(slots.count))
        for slot in slots { bytes.appendNumber(UInt64(slot)) }
        bytes.appendNumber(UInt64(row.count))
        bytes.append(row)
    }

    /// The slots whose values are preserved, and a row of the entity's layout with only these.
    private static func tombstone(_ row: RowView, _ entity: EntityStorage) -> (slots: [Int], row: [UInt8]) {
        var draft = Draft.create(layout: entity.layout)
        defer { draft.destroy() }
        var slots: [Int] = []
        for slot in entity.preservedSlots {
            if entity.layout.columns[slot].isVariable {
                // A value outside of the row is deleted with its object.
                guard !row.isNil(slot), row.blobReference(slot) == nil,
                    row.variable(slot).count < HistoryFormat.preservedByteCountMax
                else { continue }
            }
            draft.copyValue(of: row, slot: slot)
            slots.append(slot)
        }
        let bytes = [UInt8](unsafeUninitializedCapacity: draft.encodedByteCount) { target, count in
            if let base = target.baseAddress { count = draft.encode(into: UnsafeMutableRawPointer(base)) }
        }
        return (slots, bytes)
    }

    @inline(__always)
    private func note(
        _ tag: HistoryFormat.Tag, _ mask: UInt64, _ id: RecordID, _ entity: EntityStorage,
        _ transaction: inout Transaction
    ) throws(StoreError) {
        let ordinal = entity.ordinal
        if runs[ordinal].tag == tag, runs[ordinal].end == id, runs[ordinal].mask == mask {
            runs[ordinal].end = id &+ 1
        } else {
            try beginRun(Run(tag: tag, mask: mask, first: id, end: id + 1), entity, &transaction)
        }
    }

    @inline(never)
    private func beginRun(_ run: Run, _ entity: EntityStorage, _ transaction: inout Transaction) throws(StoreError) {
        if runs[entity.ordinal].tag == nil, !begun.contains(entity.ordinal) { begun.append(entity.ordinal) }
        try write(entity.ordinal, &transaction)
        runs[entity.ordinal] = run
    }

    // MARK: Bytes

    /// Writes the run of an entity.
    private func write(_ ordinal: Int, _ transaction: inout Transaction) throws(StoreError) {
        let run = runs[ordinal]
        guard let tag = run.tag else { return }
        runs[ordinal] = .none
        // A run may continue only if its entity is in `begun`, which keeps it.
        try enterSection(store.storage.entities[ordinal], roomFor: 32, &transaction)
        bytes.append(tag.rawValue)
        if tag == .updates { bytes.appendNumber(run.mask) }
        appendPlace(run.first)
        bytes.appendNumber(run.end - run.first - 1)
        previousEnd = run.end
    }

    private func appendPlace(_ first: RecordID) {
        bytes.appendNumber(HistoryFormat.folded(Int64(first) - Int64(previousEnd)))
    }

    /// Prepares the next change for an entity, in a new part if the last one is full.
    private func enterSection(
        _ entity: EntityStorage, roomFor byteCount: Int, _ transaction: inout Transaction
    ) throws(StoreError) {
        if bytes.count > 0, bytes.count + byteCount > HistoryFormat.partByteCount {
            try writePart(isLast: false, &transaction)
        }
        if bytes.count == 0 { beginPart() }
        guard section != entity.ordinal else { return }
        section = entity.ordinal
        previousEnd = 0
        bytes.append(HistoryFormat.Tag.entity.rawValue)
        bytes.appendNumber(UInt64(entity.table.rawValue))
        bytes.appendNumber(UInt64(entity.layout.number))
    }

    private func beginPart() {
        section = -1
        bytes.append(HistoryFormat.version)
        bytes.append(partCount == 0 ? HistoryFormat.isFirst : 0)
        bytes.appendNumber(sequence)
        bytes.appendNumber(microseconds)
        guard partCount == 0 else { return }
        bytes.appendNumber(process)
        bytes.appendNumber(author.map { UInt64($0.count) + 1 } ?? 0)
        if let author { bytes.append(author) }
    }

    private func writePart(isLast: Bool, _ transaction: inout Transaction) throws(StoreError) {
        if isLast { bytes.set(HistoryFormat.isLast, at: 1) }
        do throws(LogError) {
            let number = try transaction.allocateIDs(1, in: .history)
            try transaction.put(
                number, in: .history, layout: 0, changed: nil, flags: .none, byteCount: bytes.count
            ) { target in target.copyMemory(from: bytes.bytes) }
        } catch { throw StoreError(error) }
        bytes.removeAll()
        partCount += 1
    }
}
