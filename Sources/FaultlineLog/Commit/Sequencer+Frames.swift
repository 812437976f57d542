import FaultlineDisk

// Frames: room for records and on the disk, segments, and transactions of several frames.

extension Sequencer {
    /// Memory for the next record of the frame.
    @inline(__always)
    func room(for whole: Int, isClosing: Bool = false) throws(LogError) -> UnsafeMutableRawPointer {
        if !frame.hasRoom(for: whole, isClosing: isClosing) { try makeRoom(for: whole, isClosing: isClosing) }
        return frame.next
    }

    @inline(never)
    private func makeRoom(for whole: Int, isClosing: Bool) throws(LogError) {
        precondition(current.isOpen, "Records are written inside a transaction.")
        if let failure = current.failure { throw failure }
        guard whole <= Limits.recordByteCountMax else {
            throw LogError.tooLarge("A record of \(whole) bytes exceeds the limit of \(Limits.recordByteCountMax).")
        }
        if frame.isOpen, frame.recordCount > 0, frame.isFull(for: whole, isClosing: isClosing) {
            try writePartialFrame()
        }
        if !frame.isOpen { try beginFrame() }
        frame.makeRoom(for: whole)
    }

    private func beginFrame() throws(LogError) {
        guard current.recordCount <= Limits.transactionRecordCountMax else {
            throw fail(
                .tooLarge("A transaction has at most \(Limits.transactionRecordCountMax) records. Make several of it."))
        }
        if logEnd.offset >= account.segmentByteCount { try beginSegmentIfPossible() }
        let place = logEnd.place
        frame.begin(at: place)
        current.beginFrame(at: place)
    }

    /// Continues in a new segment; if there is no space for one, the present segment grows.
    private func beginSegmentIfPossible() throws(LogError) {
        do throws(LogError) {
            try beginSegment()
        } catch {
            guard error.code == .fullDisk, logEnd.offset < UInt64(Limits.segmentByteCountMax) else { throw fail(error) }
        }
    }

    /// Continues in a new segment.
    ///
    /// The manifest lists it when its first frame is written.
    private func beginSegment() throws(LogError) {
        // For the edits by which the leader lists it.
        try manifest.makeRoom()
        let next = try directory.createDurably(
            .hotSegment, headerSite: "segment.header", directorySite: "segment.directory")
        account.countOverhead(in: logEnd.segment)
        logEnd = LogEnd(next, UInt64(FileHeader.byteCount))
    }

    /// Makes the log go on in a new segment, between two transactions; the caller queues a barrier that seals the
    /// present one.
    ///
    /// - Returns: The segment, and the newest transaction before it.
    /// - Throws: `.fullDisk`, other disk errors; then the log goes on in the present segment.
    func endSegment() throws(LogError) -> CommitRequest.Next {
        // A transaction that was given up may have begun one already.
        if logEnd.offset > UInt64(FileHeader.byteCount) { try beginSegment() }
        return (logEnd.segment, sequence)
    }

    /// Reserves disk space for the frame being filled: after it is queued, a full disk would be a failed write.
    func makeRoomAhead() throws(LogError) {
        try checkMayGrow()
        let end = logEnd.offset + UInt64(frame.byteCount)
        do throws(LogError) {
            do throws(LogError) {
                try makeRoom(through: end)
            } catch {
                guard error.code == .fullDisk, error.cause?.code != .fileTooLarge, current.isMakingRoom, space.giveUp()
                else {
                    throw error
                }
                try makeRoom(through: end)
            }
        } catch {
            throw fail(error)
        }
    }

    private func makeRoom(through end: UInt64) throws(LogError) {
        // The edits that list the segment come with its first frame.
        if logEnd.offset == UInt64(FileHeader.byteCount) { try manifest.makeRoom() }
        // A refused reservation keeps the space that it got, so a large one is not tried in vain.
        if end > logEnd.roomEnd + RoomAhead.stepByteCountMax {
            let free = try onDisk("asking for free space") { () throws(DiskError) in
                try directory.disk.freeByteCount(in: directory.path)
            }
            if end - logEnd.roomEnd > free { throw LogError(noRoom: nil, path: logEnd.segment.path) }
        }
        try logEnd.makeRoom(through: end)
    }

    /// Refuses a transaction that makes no room while the rest of the disk is for those that do.
    func checkMayGrow() throws(LogError) {
        if !current.isMakingRoom, space.isForDeletesOnly() {
            throw fail(LogError(noRoom: nil, path: logEnd.segment.path))
        }
    }

    /// Frees the space reserved for frames; to be called when none follows.
    func releaseReserve() {
        logEnd.segment.releaseReserve()
        blobs?.managed.releaseReserve()
    }

    func closeFrame(flags: UInt8) -> CommitRequest.Frame {
        let closed = frame.close(at: logEnd.place, roomEnd: logEnd.roomEnd) {
            FrameHeader(
                kind: .commit, bodyByteCount: $0, headersCRC: $1, recordCount: $2, flags: flags,
                sequence: tables.sequence, part: current.part,
                spill: current.firstSegment == logEnd.segment.number ? current.firstOffset : 0)
        }
        logEnd.offset += UInt64(closed.byteCount)
        account.segments.setEnd(logEnd.offset, of: logEnd.segment.number)
        account.overheadByteCount &+= UInt64(FrameHeader.byteCount)
        byteCountSinceCheckpoint += UInt64(closed.byteCount)
        current.part += 1
        return closed
    }

    /// Writes the records so far, without making them durable, and continues in a new frame: so a transaction of any
    /// size needs little memory.
    private func writePartialFrame() throws(LogError) {
        try makeRoomAhead()
        let frame = closeFrame(flags: FrameHeader.flagContinued)
        current.notePartial(frame)
        let request = CommitRequest(frame: frame, visible: nil)
        committer.finish(request, leads: committer.enqueue(request))
        if let failure = request.failure { throw fail(failure) }
        self.frame.recycle()
        do {
            try spillIfNeeded()
        } catch {
            throw fail(error)
        }
    }
}
