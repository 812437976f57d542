import FaultlineDisk

extension Sequencer {
    /// Checks the invariants that the type's comment lists.
    ///
    /// The caller must hold the writer lock, outside of a transaction.
    func checkInvariants() throws(BrokenInvariant) {
        guard !current.isOpen, !frame.isOpen, stage.count == 0, tables.isCaptured else {
            throw broken(
                "while no thread holds `turn`, the working tables are captured, and `stage` is empty",
                "\(stage.count) entries are staged, a transaction is \(current.isOpen ? "open" : "not open"), and the "
                    + "tables are \(tables.isCaptured ? "captured" : "not captured")")
        }
        guard current.partialFrames.isEmpty, current.writtenBlobs.isEmpty, current.spilledRuns.isEmpty else {
            throw broken(
                "while no thread holds `turn`, the working tables are captured, and `stage` is empty",
                "frames, blobs or runs of a transaction are left")
        }
        try uploads.checkInvariants()
        let published = publisher.snapshot.sequence
        guard published <= sequence else {
            throw broken(
                "`sequence` is that of the newest transaction whose last frame was queued",
                "it is \(sequence), and transaction \(published) is published")
        }
        // After a failed write, queued frames never reach the file.
        guard let end = committer.idleEnd, publisher.failure == nil else { return }
        guard end.sequence == sequence, published == sequence else {
            throw broken(
                "`sequence` is that of the newest transaction whose last frame was queued",
                "it is \(sequence); \(end.sequence) is written, and \(published) published")
        }
        // A segment that no frame was queued for is not the committer's yet.
        let expected = end.segment == logEnd.segment.number ? end.offset : UInt64(FileHeader.byteCount)
        guard logEnd.offset == expected else {
            throw broken(
                "`logEnd` is the place of the next frame, behind all queued frames",
                "it is \(logEnd.offset) in segment \(logEnd.segment.number), and the frames end at \(expected)")
        }
    }

    private func broken(_ rule: String, _ detail: String) -> BrokenInvariant {
        BrokenInvariant("Sequencer", rule, detail)
    }
}
