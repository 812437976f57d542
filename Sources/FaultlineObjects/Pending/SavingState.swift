package import FaultlineStore

/// The save that a context is carrying out, or has ended last.
package struct SavingState {
    /// Whether the save that is under way deletes a stored object, which is given with the ordinal of its entity; nil
    /// if it deletes none.
    var deletes: ((ObjectReference, _ ordinal: Int) -> Bool)?
    /// How many objects of each entity the last save of a batch deletion has deleted.
    var deletedCounts: [String: Int] = [:]
    /// The code of a class that is being called.
    var phase = SavePhase.none
    /// Whether a save is queued to be written: its changes are marked, and unsaved still.
    var isQueued = false
    /// The objects that the save writes; nil where no notification is posted.
    var identifiers: SavedIdentifiers?
    /// Whether the objects that the save writes are collected.
    var collectsObjects: Bool { identifiers != nil || rehearsal != nil }
    /// The calls of observers that wait until a save over several stores has ended; nil where none wait.
    var later: [() -> Void]?
    /// The objects that a batch is about, while this context carries one out.
    var selection: BatchSelection?
    /// Collects the objects of a save that is only rehearsed; nil for one that is carried out.
    var rehearsal: SaveRehearsal?
    /// The code of the store's refusal of the last save, where one of its objects was the cause.
    package var refusal: StoreError.Code?
}
