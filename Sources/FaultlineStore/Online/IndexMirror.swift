internal import FaultlineDisk
package import FaultlineLog
internal import Synchronization

/// Enters the rows that containers of the schema in force save into the indexes that an online migration builds.
///
/// The entries of a row are written in the transaction of the row, and a replay derives the same entries, because the
/// migration's record names the indexes. So an index has the newest rows at each moment, beside older ones that the
/// migration enters row by row.
///
/// A save must not fail for a rule of the new version, nor for a page of a new index that cannot be read. An object with
/// the unique values of another one gets no entry, and is noted: `settle` looks at it again. Other errors end the
/// migration at its next step.
///
/// Concurrency: `noted`, `round`, `leftCount` and `failure` are guarded by the writer lock of the log.
// Safe because of the rule in the comment above; `indexes` has a lock of its own.
package final class IndexMirror: @unchecked Sendable {
    package let log: Log
    /// The largest number of objects that are noted: beyond it the migration ends, so that its memory is bounded.
    private let notedMax: Int
    private let indexes = Guarded(Indexes())
    /// Objects without an entry in a unique index, because another one had their key, or because they cannot have one.
    private var noted: Set<NotedObject> = []
    /// The objects of `noted` that the present round of looking at them has not reached, the next one last.
    private var round: [NotedObject] = []
    /// The objects that the round has left without an entry.
    private var leftCount = 0
    /// Why the indexes cannot be finished.
    private var failure: StoreError?

    /// The largest number of objects that a round may leave without an entry: the last transaction of the migration looks
    /// at all that are left, so it is short.
    private static let leftMax = 1_000
    /// The default of `notedMax`.
    private static let notedMaxDefault = 100_000
    /// The largest number of objects that one transaction looks at before the last one.
    private static let sliceMax = 512

    private struct Indexes {
        /// Those that rows are entered into, by table.
        var byTable: [UInt16: [BuiltIndexes]] = [:]
        /// Those whose numbers the store does not count yet.
        var coming: [BuiltIndexes] = []

        mutating func enter(_ added: BuiltIndexes) { byTable[added.entity.table.rawValue, default: []].append(added) }
    }

    private struct NotedObject: Hashable, Comparable {
        let table: UInt16
        let id: RecordID

        static func < (left: NotedObject, right: NotedObject) -> Bool {
            (left.table, left.id) < (right.table, right.id)
        }
    }

    /// An entry of a row.
    package struct Entry: Hashable {
        package let index: IndexDefinition
        let key: [UInt8]

        package init(_ index: IndexDefinition, _ key: [UInt8]) {
            self.index = index
            self.key = key
        }
    }

    /// A row was not written: the error of the transaction, which cannot be completed.
    private struct Unwritten: Error {
        let cause: LogError
    }

    /// - Parameters:
    ///   - log: The store that is migrated.
    ///   - notedMax: The largest number of objects without an entry; nil for the default.
    package init(_ log: Log, notedMax: Int? = nil) {
        self.log = log
        self.notedMax = notedMax ?? Self.notedMaxDefault
    }

    /// Adds indexes; call it before the record of the migration names them.
    ///
    /// Rows are entered into them from `noteCounted` on.
    package func add(_ added: BuiltIndexes) { indexes.withLock { $0.coming.append(added) } }

    /// Lets rows be entered into the added indexes whose numbers the store counts.
    ///
    /// A number must not be used before: if the record of a step cannot be written, the next attempt gives its numbers
    /// to other indexes. The map that counts them is written with the record, and each save calls this when it finds
    /// another map, so the first one behind the record does, too.
    ///
    /// - Parameter next: The first number that the store does not count.
    package func noteCounted(below next: UInt32) {
        indexes.withLock { indexes in
            let ready = indexes.coming.filter { $0.areNumbered(below: next) }
            for added in ready { indexes.enter(added) }
            indexes.coming.removeAll { $0.areNumbered(below: next) }
        }
    }

    private func indexes(of table: TableID) -> [BuiltIndexes] {
        indexes.withLock { $0.byTable[table.rawValue] ?? [] }
    }

    /// Whether rows of a table have entries here.
    func has(_ table: TableID) -> Bool { !indexes(of: table).isEmpty }

    // MARK: Saves

    /// Calls `write`, which writes a version of a row, and changes its entries.
    func replace(
        _ id: RecordID, in table: TableID, _ transaction: inout Transaction,
        write: (inout Transaction) throws(LogError) -> Void
    ) throws(StoreError) {
        let indexes = indexes(of: table)
        let old = oldEntries(of: id, indexes, transaction)
        do throws(LogError) { try write(&transaction) } catch { throw StoreError(error) }
        guard let old else { return }
        do {
            let new = try entries(of: id, indexes, transaction) { _ in note(id, table) }
            let (before, after) = (Set(old), Set(new))
            for entry in old where !after.contains(entry) { try Self.remove(entry, id, table, &transaction) }
            for entry in new where !before.contains(entry) {
                if try Self.enter(entry, id, &transaction) != nil { note(id, table) }
            }
        } catch { try fail(error) }
    }

    /// Calls `delete`, which deletes a row, and removes its entries.
    func remove(
        _ id: RecordID, in table: TableID, _ transaction: inout Transaction,
        delete: (inout Transaction) throws(LogError) -> Void
    ) throws(StoreError) {
        let old = oldEntries(of: id, indexes(of: table), transaction)
        do throws(LogError) { try delete(&transaction) } catch { throw StoreError(error) }
        do { for entry in old ?? [] { try Self.remove(entry, id, table, &transaction) } } catch { try fail(error) }
    }

    /// Ends the migration for an error of a save's entries; the save goes on, unless its transaction cannot be completed.
    private func fail(_ error: any Error) throws(StoreError) {
        if let error = error as? Unwritten { throw StoreError(error.cause) }
        end(with: Self.translated(error))
    }

    private func end(with error: StoreError) {
        failure = failure ?? error
        noted.removeAll()
        round.removeAll()
    }

    /// The entries of the stored row, none if there is none; nil if the migration has failed, or fails by this.
    private func oldEntries(
        of id: RecordID, _ indexes: [BuiltIndexes], _ transaction: borrowing Transaction
    ) -> [Entry]? {
        if failure != nil { return nil }
        do { return try entries(of: id, indexes, transaction) { _ in } } catch {
            end(with: Self.translated(error))
            return nil
        }
    }

    private func entries(
        of id: RecordID, _ indexes: [BuiltIndexes], _ transaction: borrowing Transaction,
        refuse: (StoreError) throws -> Void
    ) throws -> [Entry] {
        guard let table = indexes.first?.entity.table else { return [] }
        var entries: [Entry] = []
        _ = try transaction.record(id, in: table) { record in
            for built in indexes {
                try built.forEachKey(of: built.store.view(record, of: built.entity), id, refuse: refuse) {
                    entries.append(Entry($0, $1))
                }
            }
        }
        return entries
    }

    /// Adds an entry.
    ///
    /// - Returns: The other object that has the key of a unique index; nil if the entry is there now.
    package static func enter(
        _ entry: Entry, _ id: RecordID, _ transaction: inout Transaction
    ) throws -> RecordID? {
        try entry.key.withUnsafeBytes { key in
            if entry.index.isUnique, let holder = try transaction.firstID(in: entry.index, key: key) {
                return holder == id ? nil : holder
            }
            try transaction.insertEntry(entry.index, key: key, id: id)
            return nil
        }
    }

    /// Removes an entry; one of a unique key that another object has is not there.
    ///
    /// The newest transaction with a key decides who has it. A replay derives that this one gives up the key, so the
    /// row of its holder is written again, and the holder has the key by the same transaction.
    private static func remove(
        _ entry: Entry, _ id: RecordID, _ table: TableID, _ transaction: inout Transaction
    ) throws {
        try entry.key.withUnsafeBytes { key in
            if entry.index.isUnique, let holder = try transaction.firstID(in: entry.index, key: key), holder != id {
                try rewrite(holder, table, &transaction)
                try transaction.insertEntry(entry.index, key: key, id: holder)
            } else {
                try transaction.removeEntry(entry.index, key: key, id: id)
            }
        }
    }

    private func note(_ id: RecordID, _ table: TableID) {
        guard failure == nil else { return }
        noted.insert(NotedObject(table: table.rawValue, id: id))
        guard noted.count > notedMax else { return }
        let entity = indexes(of: table).first?.entity.name ?? ""
        end(
            with: StoreError(
                .duplicate,
                "More than \(notedMax) objects have values that another object has, or that cannot be unique, and were saved while the migration ran, the last one object \(id) of \(entity). Correct them, or migrate without isOnline.",
                about: .init(entityName: entity, object: id, propertyName: nil)))
    }

    private static func translated(_ error: any Error) -> StoreError {
        if let error = error as? StoreError { return error }
        if let error = error as? LogError { return StoreError(error) }
        if let error = error as? Unwritten { return StoreError(error.cause) }
        return StoreError(.malformed, "\(error)")
    }

    // MARK: The migration

    /// Enters a row as it is now; does nothing if it is gone.
    ///
    /// For a row that was changed since the migration has read it.
    package func enter(_ id: RecordID, in table: TableID, _ transaction: inout Transaction) throws {
        for entry in try entries(of: id, indexes(of: table), transaction, refuse: { _ in note(id, table) })
        where try Self.enter(entry, id, &transaction) != nil {
            note(id, table)
        }
    }

    /// Looks again at some of the objects without an entry if there are many.
    ///
    /// - Throws: As the last call of `settle` if they stay as many.
    package func settleIfMany(in transaction: inout Transaction) throws {
        if let failure { throw failure }
        if !round.isEmpty || noted.count > Self.leftMax { _ = try settleSome(in: &transaction) }
    }

    /// Whether the last transaction would look at many objects; the transaction holds the writer lock.
    package func hasMany(in transaction: borrowing Transaction) -> Bool { noted.count > Self.leftMax }

    /// Looks again at some of the objects without an entry: those that may have one by now get it.
    ///
    /// An entry that a later transaction adds is found by a replay only if the row is written too, so it is.
    ///
    /// - Parameter transaction: A transaction of the migration.
    /// - Returns: Whether all objects that were there at the first of several calls were looked at.
    /// - Throws: As the last call of `settle` if more than `leftMax` of them stay without an entry; the error of a row
    ///   that could not be read.
    package func settleSome(in transaction: inout Transaction) throws -> Bool {
        if let failure { throw failure }
        if round.isEmpty {
            round = noted.sorted(by: >)
            leftCount = 0
        }
        for _ in 0..<Self.sliceMax {
            guard let object = round.popLast() else { break }
            guard noted.contains(object) else { continue }
            if try settle(object, &transaction, isLast: false) {
                noted.remove(object)
            } else {
                leftCount += 1
            }
        }
        if round.isEmpty, leftCount > Self.leftMax { try settle(in: &transaction) }
        return round.isEmpty
    }

    /// Looks at all objects without an entry, in the transaction that puts the new schema in force: none may be left.
    ///
    /// - Parameter transaction: The transaction.
    /// - Throws: `duplicate` or `tooLarge`, with entity and object, if an object breaks a rule; the error of a row that
    ///   could not be read.
    package func settle(in transaction: inout Transaction) throws {
        if let failure { throw failure }
        for object in noted.sorted() where try settle(object, &transaction, isLast: true) { noted.remove(object) }
    }

    /// Whether the object needs no more attention.
    private func settle(
        _ object: NotedObject, _ transaction: inout Transaction, isLast: Bool
    ) throws -> Bool {
        let table = TableID(rawValue: object.table)
        let indexes = indexes(of: table)
        var refusal: StoreError?
        let entries = try entries(of: object.id, indexes, transaction) { refusal = refusal ?? $0 }
        var missing: [Entry] = []
        for entry in entries where entry.index.isUnique {
            let holder = try entry.key.withUnsafeBytes { try transaction.firstID(in: entry.index, key: $0) }
            if holder == nil { missing.append(entry) }
            guard let holder, holder != object.id,
                let built = indexes.first(where: { $0.entity.uniqueIndexes.contains { $0.definition == entry.index } })
            else { continue }
            refusal = refusal ?? built.store.duplicate(holder, object.id, built.entity, entry.index)
        }
        if let refusal {
            if isLast { throw refusal }
            return false
        }
        guard !missing.isEmpty else { return true }
        try Self.rewrite(object.id, table, &transaction)
        for entry in missing { _ = try Self.enter(entry, object.id, &transaction) }
        return true
    }

    /// Writes a row again, as it is.
    private static func rewrite(_ id: RecordID, _ table: TableID, _ transaction: inout Transaction) throws {
        let found = try transaction.record(id, in: table) { ($0.layout, $0.flags, Array($0.row)) }
        guard let (layout, flags, row) = found else { return }
        do throws(LogError) {
            try transaction.put(
                id, in: table, layout: layout, changed: 0,
                flags: flags.contains(.hasExtension) ? .hasExtension : .none, byteCount: row.count
            ) { target in
                row.withUnsafeBytes { target.copyMemory(from: $0) }
            }
        } catch { throw Unwritten(cause: error) }
    }
}
