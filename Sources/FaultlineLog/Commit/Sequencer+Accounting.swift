extension Sequencer {
    /// Counts what the transaction under way made dead, for good.
    func countDead() {
        transactionDead.merge(into: &dead)
    }

    /// Counts the blob of a placement that the transaction under way ends.
    func noteDeadBlob(_ id: RecordID) {
        // A hint: what cannot be read is not counted.
        guard let (placement, managed) = try? placement(of: id) else { return }
        transactionDead.add(placement.storedByteCount, of: UInt32(truncatingIfNeeded: managed.number))
        deadBlobByteCount += placement.storedByteCount
    }

    /// Counts the headers and closing records of the segment being written.
    func countOverhead() {
        guard overheadByteCount > 0 else { return }
        dead[UInt32(truncatingIfNeeded: segment.number), default: 0] += overheadByteCount
        overheadByteCount = 0
    }

    /// Dead bytes by the low 32 bits of a segment's number, as far as they were counted.
    ///
    /// To be called in the writer's turn.
    func deadByteCounts() -> [UInt32: UInt64] {
        countOverhead()
        return dead
    }
}
