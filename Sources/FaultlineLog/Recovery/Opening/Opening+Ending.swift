/// The end of an opening: a clean log goes on where it ended, another one in a new segment.
extension Opening {
    /// The store after a replay that needs no new segment.
    func opened(
        _ files: OpeningFiles, _ replay: Replay, _ end: Replay.SegmentEnd, manifest: Manifest?, blobs: BlobSegment?
    ) -> Opened {
        Opened(
            directory: files.directory, manifest: manifest, state: files.state, replay: replay, segment: files.last,
            end: end.end, head: end.head, blobs: blobs, cold: openCold(files.state, files.segments),
            pageFiles: files.pageFiles, report: report)
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

    /// Seals the segments of a log that was not closed, copies its last transactions into a new one, and begins a new
    /// manifest.
    mutating func settle(
        _ files: OpeningFiles, from start: CheckpointPosition, _ replay: inout Replay, _ end: Replay.SegmentEnd
    ) throws(LogError) -> Opened {
        let (state, directory, last) = (files.state, files.directory, files.last)
        let behind = replay.transactions(behind: end.durable)
        report.rescuedTransactionCount = behind.count
        report.discardedByteCount = end.length > end.end ? end.length - end.end : 0
        let rescued = try TailRescue.rescue(
            behind, from: last, durable: end.durable, tables: &replay.tables, in: directory)
        var next = state
        var edits: [ManifestEdit] = [
            .fileSealed(
                SealedFile(
                    number: last.number, end: end.durable, chain: end.durableHead,
                    firstSequence: files.lastEntry.added.begun + 1,
                    lastSequence: Self.lastSequence(
                        in: last, through: end.durable, before: behind, newest: replay.sequence))),
            rescued.segment.addition(begun: behind.first.map { $0.record.sequence - 1 } ?? replay.sequence),
            .durable(file: rescued.segment.number, offset: rescued.end, head: rescued.head),
        ]
        edits += try sealEdits(state, files.segments, &replay) + restartEdits(state, replay, start)
        for edit in edits where !next.apply(edit) {
            throw .damaged("The manifest contradicts itself.", files.reading.managed.path)
        }
        let manifest = try Manifest(
            next, in: directory, rotation: Manifest.Rotation(options),
            replacing: files.reading.predecessor, superseded: files.leftovers.superseded)
        for managed in files.segments.values where state.files[managed.number]?.seal == nil { managed.releaseReserve() }
        replay.files = replay.files.adding(rescued.segment)
        // Files that the new manifest no longer lists are not read any more.
        var plan = files.leftovers
        plan.remove += state.files.values.filter { next.files[$0.added.number] == nil }.map {
            FileName.numbered($0.kind, $0.added.number)
        }.sorted()
        Leftovers.carryOut(plan, in: directory, report: &report)
        return Opened(
            directory: directory, manifest: manifest, state: manifest.state, replay: replay, segment: rescued.segment,
            end: rescued.end, head: rescued.head, blobs: nil, cold: nil, pageFiles: files.pageFiles, report: report)
    }
}
