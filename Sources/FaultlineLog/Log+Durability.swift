import Synchronization

extension Log {
    /// Waits until a transaction is durable, and with it all before it.
    ///
    /// With `.sync` a transaction is durable when its commit returns. With `.async` a waiting thread joins a group, as
    /// a commit does: one synchronization serves all that wait.
    ///
    /// - Parameter sequence: The transaction, by the number in its receipt; nil for the newest visible one. A number
    ///   that is not visible yet stands for the newest visible one too.
    /// - Throws: `.readOnly`, `.closed`, `.removed`; `.outcomeUnknown` if the disk failed before: after the store is
    ///   opened again, it may end before the transaction.
    package func waitUntilDurable(through sequence: UInt64? = nil) throws(LogError) {
        let writing = try writable()
        let newest = snapshot().sequence
        if writing.committer.durableSequence >= min(sequence ?? newest, newest) { return }
        if isClosed.load(ordering: .acquiring) { throw .closed(path) }
        guard let failure = writing.committer.synchronizeAll() else { return }
        guard failure.code != .removed else { throw failure }
        throw LogError(
            .outcomeUnknown,
            "The disk failed before the save was on it. Open the store again and look for the newest transaction. "
                + "(\(failure.message))", path: failure.path, offset: failure.offset, cause: failure.cause)
    }
}
