import FaultlineDisk

// The bytes of the current transaction in the account of space.

extension Sequencer {
    /// Counts the blob of a placement that the current transaction deletes.
    func noteDeadBlob(_ id: RecordID) {
        // A hint: a placement that cannot be read is not counted.
        guard let (placement, managed) = try? placement(of: id) else { return }
        account.noteDeadBlob(placement.storedByteCount, of: managed)
    }

    /// Counts the blobs that the current transaction wrote to a segment; they are not counted again.
    func countWrittenBlobs(in segment: BlobSegment) {
        let number = UInt32(truncatingIfNeeded: segment.managed.number)
        let before = account.segments.end(of: segment.managed.number)
        guard segment.end > before else { return }
        account.segments.setEnd(segment.end, of: segment.managed.number)
        current.writtenBlobs.append((number, segment.end - max(before, UInt64(FileHeader.byteCount))))
    }

    /// Counts the growth and the dead bytes of the segments of uploads since the last call.
    func countUploads() {
        for change in uploads.takeChanges() {
            if change.end > account.segments.end(of: change.number) {
                account.segments.setEnd(change.end, of: change.number)
            }
            guard change.deadByteCount > 0 else { continue }
            account.segments.addDead(change.deadByteCount, of: UInt32(truncatingIfNeeded: change.number))
            account.deadBlobByteCount += change.deadByteCount
        }
    }

    /// Counts the bytes written for a transaction that is rolled back.
    func countGivenUp() {
        if let blobs { countWrittenBlobs(in: blobs) }
        account.countGivenUp(current)
        current.partialFrames.removeAll()
        current.writtenBlobs.removeAll()
    }

    /// Dead bytes by the low 32 bits of a segment's number, as far as they were counted.
    ///
    /// The caller must hold the writer lock.
    func deadByteCounts() -> [UInt32: UInt64] {
        account.countOverhead(in: logEnd.segment)
        countUploads()
        return account.segments.dead
    }
}
