internal import FaultlineDisk
package import FaultlineLog
internal import Synchronization

/// Enters the rows that containers of the schema in force save into the indexes that an online migration builds.
///
/// The entries of a row are written in the transaction of the row, and a replay derives the same entries, because the
/// migration's record names the indexes. So an index has the newest rows at each moment, beside older ones that the
/// migration enters row by row.
///
/// A save must not fail for a rule of the new version. An object with the unique values of another one gets no entry,
/// and is noted: `settle` looks at it again.
///
/// Concurrency: `open` and `failure` are guarded by the writer lock of the log.
// Safe because of the rule in the comment above; `indexes` has a lock of its own.
package final class IndexMirror: @unchecked Sendable {
    let log: Log
    /// By table.
    private let indexes = Guarded<[UInt16: [BuiltIndexes]]>([:])
    /// Objects without an entry in a unique index, because another one had their key, or because they cannot have one.
    private var open: Set<OpenObject> = []
    /// Why the indexes cannot be finished.
    private var failure: StoreError?

    /// The largest number of objects that the last transaction of the migration looks at.
    package static let openMax = 1_000

    private struct OpenObject: Hashable {
        let table: UInt16
        let id: RecordID
    }

    /// An entry of a row.
    private struct Entry: Equatable {
        let index: IndexDefinition
        let key: [UInt8]
    }

    /// - Parameter log: The store that is migrated.
    package init(_ log: Log) { self.log = log }

    /// Adds indexes; call it before the record of the migration names them.
    package func add(_ added: BuiltIndexes) {
        indexes.withLock { $0[added.entity.table.rawValue, default: []].append(added) }
    }

    private func indexes(of table: TableID) -> [BuiltIndexes] { indexes.withLock { $0[table.rawValue] ?? [] } }

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
        do {
            try write(&transaction)
            let new = try entries(of: id, indexes, transaction) { _ in note(id, table) }
            for entry in old where !new.contains(entry) { try Self.remove(entry, id, table, &transaction) }
            for entry in new where !old.contains(entry) {
                if try !Self.enter(entry, id, &transaction) { note(id, table) }
            }
        } catch { throw Self.translated(error) }
    }

    /// Calls `delete`, which deletes a row, and removes its entries.
    func remove(
        _ id: RecordID, in table: TableID, _ transaction: inout Transaction,
        delete: (inout Transaction) throws(LogError) -> Void
    ) throws(StoreError) {
        let old = oldEntries(of: id, indexes(of: table), transaction)
        do {
            try delete(&transaction)
            for entry in old { try Self.remove(entry, id, table, &transaction) }
        } catch { throw Self.translated(error) }
    }

    /// The entries of the stored row; none if there is none.
    ///
    /// A row that cannot be read ends the migration, and not the save that replaces it.
    private func oldEntries(
        of id: RecordID, _ indexes: [BuiltIndexes], _ transaction: borrowing Transaction
    ) -> [Entry] {
        do { return try entries(of: id, indexes, transaction) { _ in } } catch {
            if failure == nil { failure = Self.translated(error) }
            return []
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
                    entries.append(Entry(index: $0, key: $1))
                }
            }
        }
        return entries
    }

    /// Adds an entry; false if another object has the key of a unique index.
    private static func enter(_ entry: Entry, _ id: RecordID, _ transaction: inout Transaction) throws -> Bool {
        try entry.key.withUnsafeBytes { key in
            if entry.index.isUnique, let other = try transaction.firstID(in: entry.index, key: key) {
                return other == id
            }
            try transaction.insertEntry(entry.index, key: key, id: id)
            return true
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

    private func note(_ id: RecordID, _ table: TableID) { open.insert(OpenObject(table: table.rawValue, id: id)) }

    private static func translated(_ error: any Error) -> StoreError {
        if let error = error as? StoreError { return error }
        if let error = error as? LogError { return StoreError(error) }
        return StoreError(.malformed, "\(error)")
    }

    // MARK: The migration

    /// Enters a row as it is now; does nothing if it is gone.
    ///
    /// For a row that was changed since the migration has read it.
    package func enter(_ id: RecordID, in table: TableID, _ transaction: inout Transaction) throws {
        for entry in try entries(of: id, indexes(of: table), transaction, refuse: { _ in note(id, table) })
        where try !Self.enter(entry, id, &transaction) {
            note(id, table)
        }
    }

    /// Looks again at the objects without an entry if there are more than the last transaction may have.
    ///
    /// - Throws: As the last call of `settle` if they stay as many.
    package func settleIfMany(in transaction: inout Transaction) throws {
        if let failure { throw failure }
        if open.count <= Self.openMax { return }
        try settle(in: &transaction, isLast: false)
        if open.count > Self.openMax { try settle(in: &transaction, isLast: true) }
    }

    /// Looks again at the objects without an entry: those that may have one by now get it.
    ///
    /// An entry that a later transaction adds is found by a replay only if the row is written too, so it is.
    ///
    /// - Parameters:
    ///   - transaction: A transaction of the migration.
    ///   - isLast: Whether it is the one that puts the new schema in force: then no object may be left.
    /// - Throws: `duplicate` or `tooLarge`, with entity and object, if it is the last one and an object breaks a rule;
    ///   the error of a row that could not be read.
    package func settle(in transaction: inout Transaction, isLast: Bool) throws {
        if let failure { throw failure }
        for object in open.sorted(by: { ($0.table, $0.id) < ($1.table, $1.id) })
        where try settle(object, &transaction, isLast) {
            open.remove(object)
        }
    }

    /// Whether the object needs no more attention.
    private func settle(
        _ object: OpenObject, _ transaction: inout Transaction, _ isLast: Bool
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
        try transaction.put(
            id, in: table, layout: layout, changed: 0, flags: flags.contains(.hasExtension) ? .hasExtension : .none,
            byteCount: row.count
        ) { target in
            row.withUnsafeBytes { target.copyMemory(from: $0) }
        }
    }
}
