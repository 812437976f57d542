import FaultlineDisk

/// Closing a store.
extension Checkpointer {
    /// A store whose segments take less is closed as it is: 2 MiB.
    private static let closeByteCountMin: UInt64 = 2 << 20
    /// Live bytes of a store that is compacted when it is closed, at most: 4 MiB.
    private static let closeLiveByteCountMax: UInt64 = 4 << 20
    /// Bytes of its segments, of which the parts with live bytes are read, at most: 512 MiB.
    private static let closeByteCountMax: UInt64 = 512 << 20
    /// Bytes of index runs that are merged at most: 16 MiB.
    private static let closeMergeByteCountMax: UInt64 = 16 << 20
    /// Free bytes of the file system, at least: 64 MiB.
    private static let closeFreeByteCountMin: UInt64 = 64 << 20
    /// Identifiers that its tables gave out, at most: their pages are read.
    private static let closeIdentifierCountMax: UInt64 = 4 << 20

    /// Compacts a small store whose segments take much more than its live bytes, then makes the last checkpoint.
    ///
    /// The work is bounded: at most 4 MiB are copied, 16 MiB of index runs merged, and 512 MiB read. Larger stores are
    /// left to the compaction beside commits. Errors of compaction do not keep the store from being closed.
    func close() throws(LogError) {
        if options.isCompacting, options.maintenance != .manual, publisher.failure == nil {
            do throws(LogError) {
                lock.withLock { mergeAllowance = Self.closeMergeByteCountMax }
                if try isCompactedAtClose() { _ = try compact(until: { false }, progress: { _ in }) }
            } catch {
                note(error)
            }
        }
        try run(isClosing: true)
    }

    private func isCompactedAtClose() throws(LogError) -> Bool {
        // A disk that is nearly full would make the close fail, which needs little without this.
        guard let free = try? directory.disk.freeByteCount(in: directory.path), free >= Self.closeFreeByteCountMin
        else { return false }
        let byteCount = sequencer.turn.withLock { sequencer.account.segments.reducibleByteCount }
        guard byteCount > Self.closeByteCountMin, byteCount <= Self.closeByteCountMax else { return false }
        let snapshot = publisher.snapshot
        var identifierCount: UInt64 = 0
        var least: UInt64 = 0
        for root in snapshot.tables.all {
            let table = TableID(rawValue: root.table)
            identifierCount += snapshot.nextID(of: table)
            // Each record has a header.
            least += UInt64(snapshot.recordCount(of: table) * RecordHeader.byteCount)
        }
        guard identifierCount <= Self.closeIdentifierCountMax, least <= Self.closeLiveByteCountMax else { return false }
        let live = try LiveBytes(snapshot).total
        return live <= Self.closeLiveByteCountMax && live < byteCount / 2
    }
}
