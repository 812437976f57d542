import FaultlineDisk

/// The manifest edits of an unclean opening.
extension Opening {
    /// The newest transaction with records in a segment, if those behind its last sync are copied to another one.
    static func lastSequence(
        in managed: ManagedFile, through durable: UInt64, before rescued: [Replay.Passed], newest: UInt64
    ) -> UInt64 {
        guard let first = rescued.first else { return newest }
        let isBegun = first.frames.first.map { $0.file !== managed || $0.end <= durable } ?? false
        return isBegun ? first.record.sequence : first.record.sequence - 1
    }

    /// The edits that seal the unsealed blob segments and cold segments, but for those in which the store goes on.
    ///
    /// A blob segment ends behind its last byte: those behind the last blob are of uploads that no transaction has
    /// placed, and are counted as dead.
    ///
    /// - Parameters:
    ///   - files: The files of the store.
    ///   - replay: Gets the dead bytes of blob segments.
    ///   - goesOn: Whether the log ended whole, so that one segment of each kind may get more bytes.
    /// - Returns: The edits.
    /// - Throws: Disk errors.
    func endEdits(
        _ files: OpeningFiles, _ replay: inout Replay, goesOn: Bool
    ) throws(LogError) -> [ManifestEdit] {
        let state = files.state
        var staying: UInt64?
        var edits: [ManifestEdit] = []
        for (number, file) in state.files.sorted(by: { $0.key > $1.key })
        where file.kind == .blobSegment && file.seal == nil {
            let placed = max(file.durable, replay.blobEnds[number] ?? 0)
            var end = placed
            if let managed = files.segments[number] { end = max(placed, try Self.end(of: managed)) }
            replay.dead[UInt32(truncatingIfNeeded: number), default: 0] += end - placed
            if goesOn, staying == nil, placed > UInt64(FileHeader.byteCount),
                end - placed <= Self.unfinishedByteCountMax, Self.mayGoOn(number, state)
            {
                staying = number
                // A blob is durable before the frame that places it is written.
                if placed > file.durable { edits.append(.durable(file: number, offset: placed, head: 0)) }
                continue
            }
            edits.append(
                .fileSealed(
                    SealedFile(
                        number: number, end: end, chain: 0, firstSequence: file.added.begun + 1,
                        lastSequence: replay.sequence)))
        }
        for (number, end) in coldEnds.sorted(by: { $0.key < $1.key }) {
            // Behind the last known sync nothing may follow: it could be taken for a part of the segment.
            if goesOn, end.durable == end.length {
                edits.append(.durable(file: number, offset: end.durable, head: end.durableHead))
                continue
            }
            edits.append(
                .fileSealed(
                    SealedFile(
                        number: number, end: end.durable, chain: end.durableHead, firstSequence: 0,
                        lastSequence: replay.sequence)))
        }
        return edits
    }

    /// Whether blobs may be written to an unsealed segment; those of a kept state that it does not name an end of are
    /// sealed, because a return to that state must not find traces of later transactions in them.
    private static func mayGoOn(_ number: UInt64, _ state: ManifestState) -> Bool {
        state.files[number]?.seal == nil && (!state.isKept(number) || state.kept?.blobs.segment == number)
    }

    /// The edits that restart from the segments, if the checkpoint could not be used.
    ///
    /// Damaged runs stay listed until a checkpoint lists their replacements: after a crash before that they are rebuilt
    /// again.
    func restartEdits(
        _ state: ManifestState, _ replay: Replay, _ start: CheckpointPosition
    ) -> [ManifestEdit] {
        guard state.checkpoint != nil, start.file == 0 else { return [] }
        var edits: [ManifestEdit] = [.checkpoint(start)]
        for entry in state.runs where replay.memtables.states[entry.index] != nil {
            edits.append(.runDropped(index: entry.index, file: entry.file))
            edits.append(.fileDropped(number: entry.file))
        }
        for number in state.numbers(of: .tableCheckpoint) { edits.append(.fileDropped(number: number)) }
        return edits
    }

    /// The blob segment to continue, behind its last byte: blobs abandoned after the last checkpoint left bytes there,
    /// and no offset is written twice.
    static func openBlobs(
        _ state: ManifestState, _ segments: [UInt64: ManagedFile], _ progress: LogProgress
    ) throws(LogError) -> BlobSegment? {
        // Targets of moved blobs are sealed.
        let open = state.numbers(of: .blobSegment).last { state.files[$0]?.seal == nil }
        guard let open, let entry = state.files[open], let managed = segments[open] else { return nil }
        return BlobSegment(
            managed, end: max(entry.durable, try end(of: managed)), previousHead: entry.durableHead, progress: progress)
    }

    /// The end of a blob segment's bytes, where the next frame may begin.
    private static func end(of segment: ManagedFile) throws(LogError) -> UInt64 {
        try onDisk("opening a blob segment") { () throws(DiskError) in try segment.file.byteCount() }.roundedUpTo8
    }
}
