/// The end of an opening: a clean log goes on where it ended, another one in a new segment.
extension Opening {
    /// The store after a replay that needs no new segment.
    func opened(
        _ files: OpeningFiles, _ replay: Replay, _ end: Replay.SegmentEnd, manifest: Manifest?, blobs: BlobSegment?
    ) -> Opened {
        Opened(
            directory: files.directory, manifest: manifest, state: files.state, replay: replay, segment: files.last,
            end: end.end, head: end.head, blobs: blobs, cold: openCold(files.state, files.segments),
            pageFiles: files.pageFiles, report: report, retained: retained)
    }

    /// Goes on with the manifest and the segments of a clean log.
    mutating func goOn(
        _ files: OpeningFiles, _ replay: Replay, _ end: Replay.SegmentEnd
    ) throws(LogError) -> Opened {
        let (reading, directory, plan) = (files.reading, files.directory, files.leftovers)
        if !plan.isEmpty { try Manifest.makeDurable(reading.managed, in: directory) }
        try Manifest.removeSuperseded(plan.superseded, in: directory)
        Leftovers.carryOut(plan, in: directory, report: &report)
        return opened(
            files, replay, end,
            manifest: Manifest(continuing: reading, in: directory, rotation: Manifest.Rotation(options)),
            blobs: try Self.openBlobs(files.state, files.segments, directory.progress))
    }

    /// Makes the end of a log that was not closed durable, and begins a new manifest.
    ///
    /// A log that ends whole goes on in its segments. Another one goes on in a new segment, which gets copies of the
    /// last transactions; all others are sealed.
    mutating func settle(
        _ files: OpeningFiles, from start: CheckpointPosition, _ replay: inout Replay, _ end: Replay.SegmentEnd
    ) throws(LogError) -> Opened {
        let (state, directory) = (files.state, files.directory)
        let behind = replay.transactions(behind: end.durable)
        report.rescuedTransactionCount = behind.count
        report.discardedByteCount = end.length > end.end ? end.length - end.end : 0
        let tail = try settleTail(files, behind, &replay, end)
        var next = state
        let edits =
            tail.edits + (try endEdits(files, &replay, goesOn: tail.goesOn)) + restartEdits(state, replay, start)
        for edit in edits where !next.apply(edit) {
            throw .damaged("The manifest contradicts itself.", files.reading.managed.path)
        }
        let manifest = try Manifest(
            next, in: directory, rotation: Manifest.Rotation(options),
            replacing: files.reading.predecessor, superseded: files.leftovers.superseded)
        for managed in files.segments.values
        where state.files[managed.number]?.seal == nil && next.files[managed.number]?.seal != nil {
            managed.releaseReserve()
        }
        if !tail.goesOn { replay.files = replay.files.adding(tail.segment) }
        // Files that the new manifest no longer lists are not read any more.
        var plan = files.leftovers
        plan.remove += state.files.values.filter { next.files[$0.added.number] == nil }.map {
            FileName.numbered($0.kind, $0.added.number)
        }.sorted()
        Leftovers.carryOut(plan, in: directory, report: &report)
        return Opened(
            directory: directory, manifest: manifest, state: manifest.state, replay: replay, segment: tail.segment,
            end: tail.end, head: tail.head, blobs: try Self.openBlobs(next, files.segments, directory.progress),
            cold: openCold(next, files.segments), pageFiles: files.pageFiles, report: report, retained: retained)
    }
}

/// The segment in which a log that was not closed goes on.
extension Opening {
    /// The end of a log that was not closed, once it is durable.
    struct SettledTail {
        let segment: ManagedFile
        let end: UInt64
        let head: UInt32
        /// Whether the log goes on in the segments that it had.
        let goesOn: Bool
        /// The edits for the hot segments.
        let edits: [ManifestEdit]
    }

    /// Bytes of a transaction without its end, behind the last whole one, that are written again rather than left
    /// behind; and bytes behind the last large value of a segment that gets more.
    static let unfinishedByteCountMax: UInt64 = 1 << 20

    /// Makes the end of the log durable: in its place if it is whole, else in a new segment.
    func settleTail(
        _ files: OpeningFiles, _ behind: [Replay.Passed], _ replay: inout Replay, _ end: Replay.SegmentEnd
    ) throws(LogError) -> SettledTail {
        guard isWhole(files, behind, end) else { return try moveOn(files, behind, &replay, end) }
        do throws(LogError) {
            return try stay(files, end)
        } catch {
            // The place may be bad. A system that failed to write may also read other bytes now.
            do throws(LogError) {
                return try moveOn(files, behind, &replay, end)
            } catch let second {
                throw second.code == .damaged ? error : second
            }
        }
    }

    /// Whether the log ends with its last frame, and nothing is known to be missing or damaged.
    ///
    /// After a loss, sequence numbers are used again; so no segment with traces of the lost transactions goes on. Nor does
    /// one behind a power loss: a backup may have bytes of it that were lost.
    private func isWhole(_ files: OpeningFiles, _ behind: [Replay.Passed], _ end: Replay.SegmentEnd) -> Bool {
        let wholeEnd = max(end.durable, behind.last?.end ?? 0)
        return lock.isSameStart && end.end == end.length
            && end.end - min(wholeEnd, end.end) <= Self.unfinishedByteCountMax
            && report.lostTail == nil && report.ignoredDerivedFiles.isEmpty && !files.leftovers.isDoubtful
    }

    /// Makes the frames durable where they are.
    private func stay(_ files: OpeningFiles, _ end: Replay.SegmentEnd) throws(LogError) -> SettledTail {
        try TailRescue.writeAgain(files.last, from: (end.durable, end.durableHead), through: end.end)
        return SettledTail(
            segment: files.last, end: end.end, head: end.head, goesOn: true,
            edits: [.durable(file: files.last.number, offset: end.end, head: end.head)])
    }

    /// Copies the last transactions into a new segment, and seals the last one where a sync is known.
    private func moveOn(
        _ files: OpeningFiles, _ behind: [Replay.Passed], _ replay: inout Replay, _ end: Replay.SegmentEnd
    ) throws(LogError) -> SettledTail {
        let last = files.last
        let rescued = try TailRescue.rescue(
            behind, from: last, durable: end.durable, tables: &replay.tables, in: files.directory)
        return SettledTail(
            segment: rescued.segment, end: rescued.end, head: rescued.head, goesOn: false,
            edits: [
                .fileSealed(
                    SealedFile(
                        number: last.number, end: end.durable, chain: end.durableHead,
                        firstSequence: files.lastEntry.added.begun + 1,
                        lastSequence: Self.lastSequence(
                            in: last, through: end.durable, before: behind, newest: replay.sequence))),
                rescued.segment.addition(begun: behind.first.map { $0.record.sequence - 1 } ?? replay.sequence),
                .durable(file: rescued.segment.number, offset: rescued.end, head: rescued.head),
            ])
    }
}
