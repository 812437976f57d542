import FaultlineDisk

extension Sequencer {
    /// Counts what the transaction under way made dead, for good.
    func countDead() {
        transactionDead.merge(into: &segmentSpace)
    }

    /// Counts the blob of a placement that the transaction under way ends.
    func noteDeadBlob(_ id: RecordID) {
        // A hint: what cannot be read is not counted.
        guard let (placement, managed) = try? placement(of: id) else { return }
        transactionDead.add(placement.storedByteCount, of: UInt32(truncatingIfNeeded: managed.number))
        deadBlobByteCount += placement.storedByteCount
    }

    /// Counts the blobs that the transaction under way wrote to a segment; they are not counted again.
    func countWrittenBlobs(in segment: BlobSegment) {
        let number = UInt32(truncatingIfNeeded: segment.managed.number)
        let before = segmentSpace.end(of: segment.managed.number)
        guard segment.end > before else { return }
        segmentSpace.setEnd(segment.end, of: segment.managed.number)
        writtenBlobs.append((number, segment.end - max(before, UInt64(FileHeader.byteCount))))
    }

    /// Counts what was written for a transaction that is given up.
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
    /// To be called in the writer's turn.
    func deadByteCounts() -> [UInt32: UInt64] {
        countOverhead()
        return segmentSpace.dead
    }

    // MARK: When writers have to wait for compaction

    /// Segments may take twice what is live, or so many segments more than that where it is little.
    private static let spareSegmentCount: UInt64 = 4

    /// A segment less than they may take: copies need it before what they replace is given back.
    private var limit: UInt64 {
        let live = segmentSpace.liveByteCount - min(overheadByteCount, segmentSpace.liveByteCount)
        return live + max(live, segmentByteCount * Self.spareSegmentCount) - segmentByteCount
    }

    /// Looks whether segments take more than they may.
    ///
    /// To be called in the writer's turn.
    func noteSpace() {
        isSpaceShort = segmentSpace.reducibleByteCount > max(limit, toleratedByteCount)
        if !isSpaceShort { byteCountBeforeShortage = segmentSpace.reducibleByteCount }
        hasExcess = segmentSpace.reducibleByteCount > limit
    }

    /// Lets segments take as much as they do, and one segment more: because compaction finds nothing to do, or because
    /// the store was opened so, and nobody is to wait for all that was not compacted before.
    ///
    /// To be called in the writer's turn.
    func tolerateSpace() {
        let byteCount = segmentSpace.reducibleByteCount
        if byteCount > limit { toleratedByteCount = byteCount + segmentByteCount }
        noteSpace()
    }

    /// Asks whoever waits for as much as was written since segments took no more than they may, and a segment at least;
    /// not for all that is too much, which may be any number of bytes where others have deleted.
    ///
    /// To be called in the writer's turn.
    func demandSpace() {
        guard isSpaceShort else { return }
        let byteCount = segmentSpace.reducibleByteCount
        let growth = byteCount - min(byteCountBeforeShortage, byteCount)
        let aim = byteCount - min(max(growth, segmentByteCount), byteCount)
        toleratedByteCount = aim > limit ? aim : 0
    }

    /// Takes back what was tolerated, as far as compaction got.
    ///
    /// To be called in the writer's turn, when segments were dropped.
    func lowerTolerance() {
        let byteCount = segmentSpace.reducibleByteCount
        toleratedByteCount = byteCount <= limit ? 0 : min(toleratedByteCount, byteCount + segmentByteCount)
    }
}
