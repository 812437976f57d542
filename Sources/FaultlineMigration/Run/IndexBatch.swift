internal import FaultlineLog
internal import FaultlineStore

/// Entries of an entity's new indexes, for one transaction.
struct IndexBatch {
    let store: RowStore
    let entity: EntityStorage
    /// Approximate bytes of the entries.
    private(set) var byteCount = 0
    private var entries: [(index: IndexDefinition, key: [UInt8], id: RecordID)] = []
    /// Objects that a dry run has listed, or that are quarantined when the transaction has ended.
    private var refused: Set<RecordID> = []
    private var duplicates: [(number: RecordID, error: StoreError)] = []

    /// Approximate bytes of an entry beside its key.
    private static let entryByteCount = 96

    init(store: RowStore, entity: EntityStorage) {
        self.store = store
        self.entity = entity
    }

    var isEmpty: Bool { entries.isEmpty }

    mutating func add(_ index: IndexDefinition, _ key: [UInt8], _ id: RecordID) {
        entries.append((index, key, id))
        byteCount += key.count + Self.entryByteCount
    }

    /// Enters all entries but those of refused objects, and empties the batch.
    ///
    /// - Parameters:
    ///   - transaction: The transaction.
    ///   - quarantine: The objects that have left the table.
    ///   - refuses: Whether an object with a used key is refused.
    /// - Throws: The error of a duplicate, unless it is refused; disk errors.
    mutating func enter(in transaction: inout Transaction, quarantine: QuarantineKeeper, refuses: Bool) throws {
        for entry in entries where !refused.contains(entry.id) {
            try entry.key.withUnsafeBytes { key in
                if entry.index.isUnique, let other = try transaction.firstID(in: entry.index, key: key),
                    other != entry.id
                {
                    guard refused.contains(other) || quarantine.contains(other, in: entity.table.rawValue) else {
                        let duplicate = store.duplicate(other, entry.id, entity, entry.index)
                        guard refuses else { throw duplicate }
                        refused.insert(entry.id)
                        duplicates.append((entry.id, duplicate))
                        return
                    }
                    // The holder breaks another rule, and leaves the table.
                    try transaction.removeEntry(entry.index, key: key, id: other)
                }
                try transaction.insertEntry(entry.index, key: key, id: entry.id)
            }
        }
        entries.removeAll(keepingCapacity: true)
        byteCount = 0
    }

    /// The refused objects since the last call.
    mutating func takeDuplicates() -> [(number: RecordID, error: StoreError)] {
        defer { duplicates = [] }
        return duplicates
    }
}
