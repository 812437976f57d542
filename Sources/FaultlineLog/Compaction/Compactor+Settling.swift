import FaultlineDisk

extension Compactor {
    /// Whether a checkpoint would store or drop something, although no transaction was committed.
    var needsCheckpoint: Bool { hasPublished || !owedSeals.isEmpty || !finished.isEmpty }

    /// The edits of a checkpoint for moved records and for unneeded segments, if its tables are captured now.
    struct Settlement {
        var edits: [ManifestEdit] = []
        var dropped: Set<UInt64> = []
        /// Of each dropped segment, the transaction before its first, and its end.
        var bounds: [UInt64: (begun: UInt64, end: UInt64)] = [:]
        /// Bytes of the segments that stay, less those counted as dead.
        var liveByteCount: UInt64 = 0
    }

    /// Leaves it to the next checkpoint to seal a blob segment that gets no more bytes; all of it is durable.
    func oweSeal(of full: BlobSegment, last: UInt64, _ state: ManifestState) {
        full.managed.releaseReserve()
        let begun = state.files[full.managed.number]?.added.begun ?? 0
        owedSeals.append(.fileSealed(full.seal(begun: begun, last: last)))
    }

    /// Builds the edits for a checkpoint's group.
    ///
    /// It drops all finished segments. No beginning of a transaction stays without its end, as it would look like an
    /// abandoned transaction: a segment is finished only after the one that holds the beginning.
    ///
    /// - Parameters:
    ///   - state: The manifest's state.
    ///   - dead: Dead bytes as they were counted when the tables were captured.
    ///   - openEnds: The ends of the unsealed segments at that time.
    /// - Returns: The edits, and the segments that they drop.
    /// - Throws: Disk errors.
    func settlement(
        _ state: ManifestState, dead: [UInt32: UInt64], openEnds: [UInt64: UInt64]
    ) throws(LogError) -> Settlement {
        var settlement = Settlement(dropped: finished)
        if settlement.dropped.contains(where: { state.files[$0]?.kind == .hotSegment }) { try noteCompacted() }
        if let cold {
            settlement.edits.append(
                .replayFrom(
                    MovePosition(segment: cold.managed.number, offset: cold.end, previousHead: cold.previousHead)))
            settlement.edits.append(
                .durable(file: cold.managed.number, offset: cold.end, head: cold.previousHead))
            // No later opening may continue a file that failed.
            if cold.hasFailed { settlement.edits.append(.fileSealed(cold.seal(newest: publisher.snapshot.sequence))) }
        }
        if let blobs = blobMover?.openEnd {
            settlement.edits.append(.durable(file: blobs.number, offset: blobs.end, head: 0))
        }
        settlement.edits += owedSeals
        var owedEnds: [UInt64: UInt64] = [:]
        for case .fileSealed(let seal) in owedSeals { owedEnds[seal.number] = seal.end }
        for (number, file) in state.files.sorted(by: { $0.key < $1.key })
        where file.kind.isSegment && !settlement.dropped.contains(number) {
            let total = file.seal?.end ?? owedEnds[number] ?? openEnds[number] ?? file.durable
            let live = total - min(dead[UInt32(truncatingIfNeeded: number)] ?? 0, total)
            settlement.liveByteCount += live
            guard live != total || file.total > 0, live != file.live || total != file.total else { continue }
            settlement.edits.append(.usage(segment: number, live: live, total: total))
        }
        for number in settlement.dropped.sorted() {
            settlement.edits.append(.fileDropped(number: number))
            guard let file = state.files[number] else { continue }
            settlement.bounds[number] = (file.added.begun, file.seal?.end ?? 0)
        }
        return settlement
    }

    /// The segment before a hot one, if it has the beginning of a transaction that continues in the hot one.
    func beginning(of number: UInt64, _ state: ManifestState) throws(LogError) -> UInt64? {
        guard let previous = state.numbers(of: .hotSegment).last(where: { $0 < number }),
            let first = try continuation(at: number), first <= state.files[previous]?.seal?.lastSequence ?? .max
        else { return nil }
        return previous
    }

    /// The transaction that continues at the beginning of a hot segment, if there is one; 0, for any, if that cannot be
    /// read.
    private func continuation(at number: UInt64) throws(LogError) -> UInt64? {
        guard let file = publisher.snapshot.files.find(UInt32(truncatingIfNeeded: number))?.takeUnretainedValue() else {
            return 0
        }
        return try withUnsafeTemporaryAllocation(byteCount: FrameHeader.byteCount, alignment: 8) {
            (bytes) throws(LogError) in
            let offset = UInt64(FileHeader.byteCount)
            let count: Int
            do throws(DiskError) {
                count = try file.file.read(into: bytes, at: offset)
            } catch {
                guard error.code == .ioFailure else { throw LogError(error, doing: "reading a segment") }
                // One damaged place is no reason to stop compaction.
                return 0
            }
            guard count == bytes.count, let start = bytes.baseAddress,
                let header = FrameHeader(reading: start, at: offset, of: file.header)
            else { return 0 }
            return header.part > 0 ? header.sequence : nil
        }
    }

    /// To be called when a group with a settlement is durable.
    func noteSettled(_ settlement: Settlement) {
        hasPublished = false
        owedSeals.removeAll()
        if cold?.hasFailed == true { cold = nil }
        finished.subtract(settlement.dropped)
        sequencer.turn.withLock {
            sequencer.account.suitSegments(toLive: settlement.liveByteCount, options)
            for number in settlement.dropped { sequencer.account.segments.remove(number) }
            if !settlement.dropped.isEmpty { sequencer.account.lowerTolerance() }
            sequencer.account.note()
        }
        guard !settlement.dropped.isEmpty else { return }
        let files = publisher.snapshot.files
        publisher.update(files: { $0.removing(settlement.dropped) })
        let newest = publisher.snapshot.sequence
        for number in settlement.dropped.sorted() {
            guard let file = files.find(UInt32(truncatingIfNeeded: number))?.takeUnretainedValue() else { continue }
            let byteCount: UInt64
            do throws(DiskError) { byteCount = try file.file.byteCount() } catch { byteCount = 0 }
            file.noteDropped()
            let bounds = settlement.bounds[number] ?? (0, 0)
            noteHeld(
                SnapshotHolds.HeldFile(
                    number: number, byteCount: byteCount, sequences: min(bounds.begun, newest)...newest))
            report.segmentCount += 1
            report.droppedByteCount += byteCount
            gain.noteDropped(bounds.end)
            directory.watch.note(.segmentDropped(path: file.path, byteCount: byteCount))
        }
    }
}
