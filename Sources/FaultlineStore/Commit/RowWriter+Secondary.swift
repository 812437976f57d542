internal import FaultlineLog

extension RowWriter {
    /// Adds the keys of a row that was put, and removes those of the previous row: `replaced` has those of each index,
    /// and is `none` if there was no previous row.
    @inline(__always)
    func enterDerived(
        _ draft: Draft, _ id: RecordID, replacing replaced: DerivedKeys, _ entity: EntityStorage,
        _ transaction: inout Transaction
    ) throws(StoreError) {
        if !entity.secondaryIndexes.isEmpty {
            try enterSecondaryKeys(draft, id, replacing: replaced.secondary, entity, &transaction)
        }
        if !entity.textIndexes.isEmpty {
            try enterTextKeys(draft, id, replacing: replaced.texts, entity, &transaction)
        }
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

    /// Adds the terms that a row that was put has and the previous row lacked, and removes those that only the
    /// previous row had.
    @inline(never)
    private func enterTextKeys(
        _ draft: Draft, _ id: RecordID, replacing replaced: [TextKeys?], _ entity: EntityStorage,
        _ transaction: inout Transaction
    ) throws(StoreError) {
        do throws(LogError) {
            for (place, index) in entity.textIndexes.enumerated() {
                let old = place < replaced.count ? replaced[place] : TextKeys()
                guard let old else { continue }
                // One closure at a time may change the transaction.
                var changes: [(key: [UInt8], isDelete: Bool)] = []
                let keys = index.keys(of: draft, id)
                if old.count == 0 {
                    try keys.forEach { (key) throws(LogError) in
                        try transaction.insertEntry(index.definition, key: key, id: id)
                    }
                    continue
                }
                keys.difference(
                    from: old, removed: { changes.append((Array($0), true)) },
                    added: { changes.append((Array($0), false)) })
                for change in changes {
                    let result = change.key.withUnsafeBytes { bytes in
                        Result { () throws(LogError) in
                            if change.isDelete {
                                try transaction.removeEntry(index.definition, key: bytes, id: id)
                            } else {
                                try transaction.insertEntry(index.definition, key: bytes, id: id)
                            }
                        }
                    }
                    try result.get()
                }
            }
        } catch { throw StoreError(error) }
    }

    /// Removes the keys of a deleted row from the secondary and text indexes.
    func removeDerived(
        _ keys: DerivedKeys, _ id: RecordID, _ entity: EntityStorage, _ transaction: inout Transaction
    ) throws(StoreError) {
        do throws(LogError) {
            for (index, key) in zip(entity.secondaryIndexes, keys.secondary) {
                try Self.remove(key, of: index, id, &transaction)
            }
            for (index, keys) in zip(entity.textIndexes, keys.texts) {
                try keys?.forEach { (key) throws(LogError) in
                    try transaction.removeEntry(index.definition, key: key, id: id)
                }
            }
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
