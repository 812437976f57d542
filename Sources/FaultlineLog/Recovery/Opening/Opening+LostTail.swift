/// Detects logs that lost their end: `docs/FileFormat.md` section 5, "Witnesses".
extension Opening {
    /// The least length of the log, by the manifest in force and the blobs that were written after its last edit.
    ///
    /// A store that was closed has no such blobs; one that was opened since may have some, and no edit yet.
    func witness(
        _ reading: ManifestReader.Reading, _ segments: [UInt64: ManagedFile]
    ) throws(LogError) -> LogWitness {
        var witness = reading.witness
        for number in reading.state.numbers(of: .blobSegment) {
            guard let managed = segments[number], let entry = reading.state.files[number], entry.seal == nil else {
                continue
            }
            try witness.add(blobSegment: managed, from: entry.durable)
        }
        return witness
    }

    /// Refuses a log that lacks transactions which were durable, unless the loss is accepted, and reports any loss.
    ///
    /// - Parameters:
    ///   - witness: The least length of the log.
    ///   - found: The last transaction that was found.
    ///   - last: The last hot segment.
    ///   - end: The end of its frames.
    /// - Throws: `.damaged`, with the number of transactions.
    mutating func judgeTail(
        _ witness: LogWitness, _ found: UInt64, _ last: ManagedFile, _ end: Replay.SegmentEnd
    ) throws(LogError) {
        report.lostTail = witness.tail(behind: found, path: last.path, offset: end.end)
        guard let tail = report.lostTail, tail.wasDurable, !options.acceptsLostTail else { return }
        throw LogError(lost: tail)
    }
}
