/// Changes of a result: the objects that joined it, that are in it and were updated, and that left it.
///
/// Apply the batches in their order: put objects in that are inserted or updated, and take those out that are deleted.
/// When `token` is not nil, the result is that of a fetch at this state of the store.
public struct ChangeBatch: Sendable {
    /// Objects that are new in the result: inserted ones, and ones that begin to satisfy the predicate.
    public let inserted: [PersistentIdentifier]
    /// Objects that stay in the result, and were updated.
    public let updated: [PersistentIdentifier]
    /// Objects that are no longer in the result: deleted ones, and ones that cease to satisfy the predicate.
    public let deleted: [PersistentIdentifier]
    /// Copies of the inserted objects, then of the updated ones; empty unless they were requested.
    public let values: [ValueCopy]
    /// The state that the result has with this batch: keep it, to go on from there later.
    ///
    /// Nil if further batches of the same state follow, and if the history no longer has its newest save.
    public let token: DefaultHistoryToken?
    /// Whether no further batch of the same state follows.
    public let isComplete: Bool
}
