package import FaultlineLog

extension RowWriter {
    /// Rewrites a stored row in the layout in force, with the values that its readers see, and deletes values outside
    /// of the row that the schema no longer has.
    ///
    /// No reader sees a difference, and no index changes by it, except that a row which was set aside in a secondary
    /// index gets a real key. A row that is gone, or has the layout in force, is not written.
    ///
    /// - Returns: Whether it was written.
    /// - Throws: `malformed` for a row that does not fit its layout; `tooLarge` for one that no longer fits into a
    ///   record.
    package mutating func rewrite(
        id: RecordID, _ entity: EntityStorage, in transaction: inout Transaction
    ) throws(StoreError) -> Bool {
        let location: Location
        do throws(LogError) { location = try transaction.locationToReplace(of: id, in: entity.table) } catch {
            throw StoreError(error)
        }
        guard !location.isAbsent else { return false }
        let store = store
        let old = try withStoredRow(id, entity, transaction) { view -> StoredRow? in
            guard view.table.pointee.number != entity.layout.number else { return nil }
            return StoredRow(view, id, store, entity: entity, changed: SlotMask.all, isCopied: true)
        }
        guard let old, let row = old.merged else { return false }
        defer { row.destroy() }
        // Checked before anything is written; a blob may be lost already.
        var removedBlobs: [UInt64] = []
        do throws(LogError) {
            for blob in old.removedBlobs where try !transaction.location(of: blob, in: .blobs).isAbsent {
                removedBlobs.append(blob)
            }
        } catch { throw StoreError(error) }
        let isReindexed = entity.hasDerivedKeys
        try put(
            row, id: id, changed: 0, flags: isReindexed ? [] : .noIndexChange,
            replacing: isReindexed ? old.derivedKeys : nil, entity, in: &transaction)
        for blob in removedBlobs { try delete(blob, &transaction) }
        return true
    }
}
