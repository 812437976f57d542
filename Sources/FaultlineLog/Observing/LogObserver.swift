/// Hears what happens to a log.
package protocol LogObserver: AnyObject, Sendable {
    /// Is told of an event.
    ///
    /// On a thread of its own, one event after the other, in their order, and never while a lock of the log is held: it may
    /// use the store. While it takes long, events pile up, and are lost from the 1,024th on.
    func observe(_ event: LogEvent)

    /// Whether `committed` is to be called: then each commit reads the clock twice, and each sync too.
    var timesCommits: Bool { get }

    /// Is told of a commit, on the thread that made it, after it is visible.
    ///
    /// - Parameters:
    ///   - nanoseconds: From asking for the turn to being visible, what the transaction's body did included.
    ///   - syncs: How long each synchronization of the log took since the last call; a group of commits shares one.
    func committed(nanoseconds: UInt64, syncs: [UInt64])
}
