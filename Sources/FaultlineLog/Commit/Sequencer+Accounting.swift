import FaultlineDisk

extension Sequencer {
    /// Counts for good the bytes that the current transaction made dead.
    func countDead() {
        transactionDead.merge(into: &segmentSpace)
    }

    /// Counts the blob of a placement that the current transaction deletes.
    func noteDeadBlob(_ id: RecordID) {
        // A hint: a placement that cannot be read is not counted.
        guard let (placement, managed) = try? placement(of: id) else { return }
        transactionDead.add(placement.storedByteCount, of: UInt32(truncatingIfNeeded: managed.number))
        deadBlobByteCount += placement.storedByteCount
    }

    /// Counts the blobs that the current transaction wrote to a segment; they are not counted again.
    func countWrittenBlobs(in segment: BlobSegment) {
        let number = UInt32(truncatingIfNeeded: segment.managed.number)
        let before = segmentSpace.end(of: segment.managed.number)
        guard segment.end > before else { return }
        segmentSpace.setEnd(segment.end, of: segment.managed.number)
        writtenBlobs.append((number, segment.end - max(before, UInt64(FileHeader.byteCount))))
    }

    /// Counts the bytes written for a transaction that is rolled back.
    func countGivenUp() {
        transactionDead.removeAll()
        if let blobs { countWrittenBlobs(in: blobs) }
        for blobs in writtenBlobs {
            segmentSpace.addDead(blobs.byteCount, of: blobs.segment)
            deadBlobByteCount += blobs.byteCount
        }
        for frame in partialFrames { segmentSpace.addDead(frame.byteCount, of: frame.segment) }
        partialFrames.removeAll()
        writtenBlobs.removeAll()
        noteSpace()
    }

    /// Counts the headers and closing records of the segment being written.
    func countOverhead() {
        guard overheadByteCount > 0 else { return }
        segmentSpace.addDead(overheadByteCount, of: UInt32(truncatingIfNeeded: segment.number))
        overheadByteCount = 0
    }

    /// Dead bytes by the low 32 bits of a segment's number, as far as they were counted.
    ///
    /// The caller must hold the writer lock.
    func deadByteCounts() -> [UInt32: UInt64] {
        countOverhead()
        return segmentSpace.dead
    }

    // MARK: When writers must wait for compaction

    /// Segments may take twice the live bytes, or the live bytes and this many segments if that is more.
    private static let spareSegmentCount: UInt64 = 4

    /// One segment less than the segments may take: compaction needs it for copies before it frees their sources.
    private var limit: UInt64 {
        let live = segmentSpace.liveByteCount - min(overheadByteCount, segmentSpace.liveByteCount)
        return live + max(live, segmentByteCount * Self.spareSegmentCount) - segmentByteCount
    }

    /// Checks whether segments take more than they may.
    ///
    /// The caller must hold the writer lock.
    func noteSpace() {
        isSpaceShort = segmentSpace.reducibleByteCount > max(limit, toleratedByteCount)
        if !isSpaceShort { byteCountBeforeShortage = segmentSpace.reducibleByteCount }
        hasExcess = segmentSpace.reducibleByteCount > limit
    }

    /// Raises the limit to the present size and one segment more.
    ///
    /// Called when compaction finds nothing to do, and when a store is opened beyond its limit: writers must not wait
    /// for space that was not compacted before.
    ///
    /// The caller must hold the writer lock.
    func tolerateSpace() {
        let byteCount = segmentSpace.reducibleByteCount
        if byteCount > limit { toleratedByteCount = byteCount + segmentByteCount }
        noteSpace()
    }

    /// Sets how many bytes the waiting writer must help reclaim: the growth since segments were last within their
    /// limit, at least one segment.
    ///
    /// Never the whole excess, which may be any number of bytes after large deletes. The caller must hold the writer
    /// lock.
    func demandSpace() {
        guard isSpaceShort else { return }
        let byteCount = segmentSpace.reducibleByteCount
        let growth = byteCount - min(byteCountBeforeShortage, byteCount)
        let aim = byteCount - min(max(growth, segmentByteCount), byteCount)
        toleratedByteCount = aim > limit ? aim : 0
    }

    /// Lowers the tolerated size by the progress of compaction.
    ///
    /// The caller must hold the writer lock. To be called when segments were dropped.
    func lowerTolerance() {
        let byteCount = segmentSpace.reducibleByteCount
        toleratedByteCount = byteCount <= limit ? 0 : min(toleratedByteCount, byteCount + segmentByteCount)
    }
}
