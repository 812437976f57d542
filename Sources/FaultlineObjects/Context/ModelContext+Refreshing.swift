extension ModelContext {
    /// Brings an object, and the context with it, to the newest state of the store.
    ///
    /// A context moves to the newest state with every fetch and save; this is for objects that are held in between, and
    /// for those with unsaved changes. A new object has no stored state and is left alone. One that was read with
    /// stand-ins is read again.
    ///
    /// - Parameters:
    ///   - model: An object of this context; one of another context makes the next save throw.
    ///   - mergeChanges: If true the object's unsaved changes stay, and what was not changed has its newest values. If
    ///     false they are dropped, on the other sides of its relationships too, and the object is a fault again. Members
    ///     of its collections that refer to it by a reference of their own stay what they are, with their changes.
    public func refresh<T: PersistentModel>(_ model: T, mergeChanges: Bool) {
        core.refresh(ObjectHandle(model), mergesChanges: mergeChanges)
    }

    /// Brings all objects to the newest state of the store; unsaved changes stay, and what was not changed in a changed
    /// object has its newest values.
    public func refreshAllObjects() { core.refreshAll() }

    /// Drops all unsaved changes and all that was loaded, and moves to the newest state.
    ///
    /// New objects leave the context; all others stay the objects that they are, and are read again when they are
    /// touched.
    public func reset() { core.reset() }
}
