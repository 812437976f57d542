import FaultlineDisk

extension Sequencer {
    /// Turns the tables to where records were moved, each unless the object was changed since; waits until that is what
    /// new snapshots see.
    ///
    /// No transaction: the rows are what they were. What was sequenced before is published before, or with it.
    /// Copies that came too late are counted as dead.
    func publish(_ moves: [Move]) throws(LogError) {
        turn.lock()
        let completion = Completion()
        let leads: Bool
        var lateByteCount: UInt64 = 0
        do throws(LogError) {
            if let failure = publisher.failure { throw failure }
            tables.sequence = sequence
            for move in moves {
                if try tables.location(of: move.id, in: move.table) == move.from {
                    _ = try tables.replace(move.id, in: move.table, with: move.to)
                } else {
                    lateByteCount += UInt64(move.to.byteCount ?? 0)
                }
            }
            leads = committer.enqueue(
                Committer.Item(
                    frame: nil, visible: .init(sequence: sequence, tables: tables.capture()), completion: completion,
                    blobs: nil, blobEnd: 0))
            if let cold = moves.first?.to.segment { dead[cold, default: 0] += lateByteCount }
        } catch {
            tables.restore()
            turn.unlock()
            throw error
        }
        turn.unlock()
        committer.finish(completion, leads: leads)
        if let failure = completion.failure { throw failure }
    }
}
