/// The state of the store that a context reads, and how its objects and rows stand to it.
struct ReadState {
    /// Stands between the engine and the context: other threads ask it whether the snapshot may be taken away.
    let gate: ContextGate
    /// The label of the context's pin; nil if it is not pinned.
    var pinLabel: String?
    /// Whether rows may be older than the snapshot, because the one at which they were loaded was taken.
    var hasOlderRows = false
    /// Whether the snapshot lacks tables or indexes that the container reads, because a migration has dropped them.
    var isOutdated = false
    /// Whether the state has changed while objects were alive: an object that is not read yet may have been deleted by
    /// another context.
    var mayHaveDeletedFaults = false
    /// Whether deleted objects may be alive: an undo of a save may restore them.
    var hasGoneObjects = false
    /// How often all rows were forgotten: a walk that holds objects sees by it that they may show another state by now.
    var forgettingCount = 0
    /// In a streamed stage: waits until other workers have saved the objects before its own; nil where it need not.
    ///
    /// Called once, before the first read, behind which the context moves on.
    var waitForOthers: (() -> Void)?

    init(_ gate: ContextGate) { self.gate = gate }
}
