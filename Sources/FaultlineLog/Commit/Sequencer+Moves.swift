import FaultlineDisk

extension Sequencer {
    /// Turns the tables to where records were moved, each unless the object was changed since; waits until that is what
    /// new snapshots see.
    ///
    /// No transaction: the rows are what they were. What was sequenced before is published before, or with it.
    /// Originals are counted as dead, and copies that came too late.
    ///
    /// - Parameters:
    ///   - moves: In the order of tables and objects, so that each page is found, and copied, once.
    ///   - segment: Where they were moved to.
    ///   - headByteCount: Bytes before the records of its new frames.
    /// - Throws: What the disk says, and why a write failed before; the tables are then as they were.
    func publish(_ moves: ArraySlice<Move>, to segment: ColdSegment, headByteCount: UInt64) throws(LogError) {
        turn.lock()
        let completion = Completion()
        let leads: Bool
        let cold = UInt32(truncatingIfNeeded: segment.managed.number)
        let died = transactionDead
        died.removeAll()
        died.add(headByteCount, of: cold)
        do throws(LogError) {
            if let failure = publisher.failure { throw failure }
            tables.sequence = sequence
            for move in moves {
                if try placeToReplace(move) == move.from {
                    _ = try tables.replace(move.id, in: move.table, with: move.to)
                    died.add(move.from)
                } else {
                    died.add(move.to)
                }
            }
            leads = committer.enqueue(
                Committer.Item(
                    frame: nil, visible: .init(sequence: sequence, tables: tables.capture()), completion: completion,
                    blobs: nil, blobEnd: 0, isCommit: false))
            countDead()
            segmentSpace.setEnd(segment.end, of: segment.managed.number)
            noteSpace()
        } catch {
            died.removeAll()
            tables.restore()
            turn.unlock()
            throw error
        }
        turn.unlock()
        committer.finish(completion, leads: leads)
        if let failure = completion.failure { throw failure }
    }

    /// Where an object lies that was moved; in a table that is gone, which must not be made again, none does.
    private func placeToReplace(_ move: Move) throws(LogError) -> Location {
        guard tables.set[move.table] != nil else { return .absent }
        return try tables.locationToReplace(of: move.id, in: move.table)
    }
}
