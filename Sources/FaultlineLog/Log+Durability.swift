import Synchronization

extension Log {
    /// Waits until a transaction is durable, and with it all before it.
    ///
    /// With `.sync` it is when its commit returns. With `.async` whoever waits joins a group, as a commit does: one
    /// synchronization serves all who wait.
    ///
    /// - Parameter sequence: The transaction, by the number that its receipt has; nil: the newest that is visible, which
    ///   also stands for one that is not visible yet.
    /// - Throws: `.readOnly`, `.closed`, `.removed`; `.outcomeUnknown` where the disk failed before: then what is found after the
    ///   store is opened again may end before the transaction.
    package func waitUntilDurable(through sequence: UInt64? = nil) throws(LogError) {
        let writing = try writable()
        let newest = snapshot().sequence
        if writing.committer.durableSequence >= min(sequence ?? newest, newest) { return }
        if isClosed.load(ordering: .acquiring) { throw .closed(path) }
        guard let failure = writing.committer.synchronizeAll() else { return }
        guard failure.code != .removed else { throw failure }
        throw LogError(
            .outcomeUnknown,
            "The disk failed before what was saved was on it. Open the store again and look how far it goes. "
                + "(\(failure.message))", path: failure.path, offset: failure.offset, cause: failure.cause)
    }
}
