/// Snapshots that readers hold.
extension Checkpointer {
    /// Takes idle old snapshots away from their holders, and removes the files that only they needed.
    ///
    /// - Returns: Whether some are left, so that this must be called again.
    /// - Throws: `.closed`.
    func release() throws(LogError) -> Bool {
        try whileOpen { () throws(LogError) in
            let isLeft = moveOnHolds()
            directory.removeUnneededFiles()
            return isLeft
        }
    }

    @discardableResult
    func moveOnHolds() -> Bool {
        let live = manifest.state.files.values.reduce(UInt64(0)) { sum, file in
            guard file.kind.isSegment else { return sum }
            // A segment without dead bytes so far has no count.
            return sum + (file.total > 0 ? file.live : file.seal?.end ?? file.durable)
        }
        return holds.moveOn(
            compactor.heldFiles(), liveByteCount: live, newest: publisher.snapshot.sequence)
    }
}
