internal import FaultlineLog

extension RowWriter {
    /// Adds the keys of a row that was put, and removes those of the previous row: `replaced` has one for each index,
    /// and is empty if there was no previous row.
    @inline(__always)
    func enterSecondary(
        _ draft: Draft, _ id: RecordID, replacing replaced: [[UInt8]], _ entity: EntityStorage,
        _ transaction: inout Transaction
    ) throws(StoreError) {
        if entity.secondaryIndexes.isEmpty { return }
        try enterSecondaryKeys(draft, id, replacing: replaced, entity, &transaction)
    }

    @inline(never)
    private func enterSecondaryKeys(
        _ draft: Draft, _ id: RecordID, replacing replaced: [[UInt8]], _ entity: EntityStorage,
        _ transaction: inout Transaction
    ) throws(StoreError) {
        var key = KeyWriter()
        do throws(LogError) {
            for (place, index) in entity.secondaryIndexes.enumerated() {
                index.makeKey(of: draft, into: &key)
                try key.withBytes { (bytes) throws(LogError) in
                    if place < replaced.count {
                        if bytes.elementsEqual(replaced[place]) { return }
                        try Self.remove(replaced[place], of: index, id, &transaction)
                    }
                    try transaction.insertEntry(index.definition, key: bytes, id: id)
                }
            }
        } catch { throw StoreError(error) }
    }

    /// Removes the keys of a deleted row from the secondary indexes.
    func removeSecondary(
        _ keys: [[UInt8]], _ id: RecordID, _ entity: EntityStorage, _ transaction: inout Transaction
    ) throws(StoreError) {
        do throws(LogError) {
            for (index, key) in zip(entity.secondaryIndexes, keys) { try Self.remove(key, of: index, id, &transaction) }
        } catch { throw StoreError(error) }
    }

    private static func remove(
        _ key: [UInt8], of index: SecondaryIndex, _ id: RecordID, _ transaction: inout Transaction
    ) throws(LogError) {
        let result = key.withUnsafeBytes { bytes in
            Result { () throws(LogError) in try transaction.removeEntry(index.definition, key: bytes, id: id) }
        }
        try result.get()
    }
}
