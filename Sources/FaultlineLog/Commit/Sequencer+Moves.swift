import FaultlineDisk

extension Sequencer {
    /// Points the tables at moved records, each unless its object was changed since, and waits until new snapshots see
    /// that.
    ///
    /// This is no transaction: the rows do not change. Everything sequenced before is published before, or with it.
    /// Originals count as dead, and so do copies that came too late.
    ///
    /// - Parameters:
    ///   - moves: In the order of tables and objects, so that each page is found, and copied, once.
    ///   - segment: The segment that the records were moved to.
    ///   - headByteCount: Bytes before the records of its new frames.
    /// - Throws: Disk errors, and the error of an earlier failed write; the tables are then unchanged.
    func publish(_ moves: ArraySlice<Move>, to segment: ColdSegment, headByteCount: UInt64) throws(LogError) {
        turn.lock()
        let request: CommitRequest
        let leads: Bool
        let cold = UInt32(truncatingIfNeeded: segment.managed.number)
        let died = account.dead
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
            request = CommitRequest(
                frame: nil, visible: .init(sequence: sequence, tables: tables.capture()), isCommit: false)
            leads = committer.enqueue(request)
            account.countDead()
            account.segments.setEnd(segment.end, of: segment.managed.number)
            account.note()
        } catch {
            died.removeAll()
            tables.restore()
            turn.unlock()
            throw error
        }
        turn.unlock()
        committer.finish(request, leads: leads)
        if let failure = request.failure { throw failure }
    }

    /// The location of a moved object; absent if its table was dropped, which must not be created again.
    private func placeToReplace(_ move: Move) throws(LogError) -> Location {
        guard tables.set[move.table] != nil else { return .absent }
        return try tables.locationToReplace(of: move.id, in: move.table)
    }
}
