/// The state that a checkpoint stores, captured in the writer's turn.
struct CapturedState {
    let tables: TableSet
    let sequence: UInt64
    let wallNanoseconds: Int64
    let blobs: (number: UInt64, end: UInt64, head: UInt32)?
    /// The segment of those blobs, if it is so large that the next ones go to another.
    let fullBlobs: BlobSegment?
    /// The segments of uploads.
    let uploads: [UploadSegments.Captured]
    let dead: [UInt32: UInt64]
    /// Done when everything captured is durable.
    let request: CommitRequest
    let leads: Bool
}

extension CapturedState {
    /// The place in the log behind all transactions of the state.
    typealias Position = (segment: ManagedFile, offset: UInt64, previousHead: UInt32)

    /// The ends of the unsealed segments.
    func openEnds(_ position: Position) -> [UInt64: UInt64] {
        var ends = [position.segment.number: position.offset]
        if let blobs { ends[blobs.number] = blobs.end }
        return ends
    }

    /// The edits that name the checkpoint, and the durable ends of the log and of the blobs.
    func edits(checkpoint file: UInt64, at position: Position) -> [ManifestEdit] {
        var edits: [ManifestEdit] = [
            .checkpoint(
                CheckpointPosition(
                    file: file, segment: position.segment.number, offset: position.offset,
                    previousHead: position.previousHead, sequence: sequence, wallNanoseconds: wallNanoseconds)),
            .durable(file: position.segment.number, offset: position.offset, head: position.previousHead),
        ]
        if let blobs { edits.append(.durable(file: blobs.number, offset: blobs.end, head: blobs.head)) }
        for upload in uploads where !upload.isOver && upload.placedEnd > 0 {
            edits.append(.durable(file: upload.segment.managed.number, offset: upload.placedEnd, head: 0))
        }
        return edits
    }
}
