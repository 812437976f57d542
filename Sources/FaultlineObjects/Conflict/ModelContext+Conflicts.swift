extension ModelContext {
    /// How saves treat objects that another save has changed since this context has read them.
    ///
    /// The default is `.mergeByPropertyObjectTrump`. Under any other policy the context keeps a copy of the row of
    /// every object that is changed or deleted, until it is saved or rolled back. In the closures of migration stages
    /// it has no effect: no other code writes the stage's objects.
    public var mergePolicy: MergePolicy {
        get { core.mergePolicy }
        set { onEachState { OriginalKeeper($0).setMergePolicy(newValue) } }
    }

    /// Makes the next save that has something to write fail under `.error` if another save has changed or deleted an
    /// object since this call, even if it was not changed here.
    ///
    /// Reads the object, unless it is loaded. The call is in effect until a save succeeds or the changes are rolled
    /// back; `refresh(_:mergeChanges:)` of the object restarts it from then on.
    ///
    /// - Parameter model: A stored object of this context; a new one is ignored, and one of another context makes the
    ///   next save throw.
    /// - Complexity: O(1), and a fault for an object that is not loaded.
    public func detectConflicts<T: PersistentModel>(for model: T) {
        OriginalKeeper(core(having: model)).detectConflicts(for: ObjectHandle(model))
    }
}
