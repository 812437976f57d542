extension Memtable {
    /// Writes a frozen memtable's entries into a run, without those that no reader can need.
    ///
    /// - Parameters:
    ///   - oldestLimit: The smallest sequence number that a snapshot reads at; `UInt64.max` if there is none below the
    ///     newest.
    ///   - isOldest: There are no runs and no older memtables, so that deletes need not be kept.
    ///   - writer: A writer without entries; the caller finishes it.
    /// - Throws: Errors of writing the file; the memtable keeps its entries.
    package func flush(oldestLimit: UInt64, isOldest: Bool, to writer: inout RunWriter) throws(LogError) {
        precondition(isFrozen, "A memtable is frozen before it is flushed.")
        let tier = sorting { order.wholeTier(of: arena) }
        charge()
        var merge = EntryMerge(limit: .max)
        merge.add(tier, from: 0, to: tier.count)
        var filter = VersionFilter(oldestLimit: oldestLimit, dropsDeletes: isOldest)
        while let entry = try merge.next() {
            guard filter.keeps(entry) else { continue }
            try writer.append(
                key: UnsafeRawBufferPointer(start: entry.pointee.key, count: entry.pointee.keyByteCount),
                id: entry.pointee.id,
                sequence: entry.pointee.sequence, isDelete: entry.pointee.isDelete)
        }
    }
}
