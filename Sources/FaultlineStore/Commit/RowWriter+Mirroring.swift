internal import FaultlineLog

// Rows that are entered into the indexes of an online migration when they are saved.

extension RowWriter {
    /// Writes the row of a draft, and its entries in those indexes.
    @inline(never)
    func putMirrored(
        _ mirror: IndexMirror, _ draft: Draft, id: RecordID, changed: UInt64?, flags: RecordFlags,
        _ entity: EntityStorage, in transaction: inout Transaction
    ) throws(StoreError) {
        try mirror.replace(id, in: entity.table, &transaction) { (transaction) throws(LogError) in
            // A replay looks at these indexes too.
            try Self.put(
                draft, id: id, changed: changed, flags: flags.subtracting(.noIndexChange),
                byteCount: draft.encodedByteCount, entity, in: &transaction)
        }
    }
}
