/// Observes the events of a log.
package protocol LogObserver: AnyObject, Sendable {
    /// Called for each event.
    ///
    /// The calls come from a separate thread, one after the other, in the order of the events, and never while a lock
    /// of the log is held: the observer may use the store. While a call takes long, events wait, and are lost from the
    /// 1,024th on.
    func observe(_ event: LogEvent)

    /// Whether to call `committed`: then each commit reads the clock twice, and each sync too.
    var timesCommits: Bool { get }

    /// Called for each commit, on the thread that made it, after it is visible.
    ///
    /// - Parameters:
    ///   - nanoseconds: The time from waiting for the writer lock to being visible, with the transaction's body.
    ///   - syncs: The time of each synchronization of the log since the last call; a group of commits shares one.
    func committed(nanoseconds: UInt64, syncs: [UInt64])
}
