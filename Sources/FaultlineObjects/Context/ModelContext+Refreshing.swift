extension ModelContext {
    /// Brings an object, and the context with it, to the newest state of the store.
    ///
    /// A context moves to the newest state with every fetch and save; call this for objects that are held in between,
    /// and for those with unsaved changes. A new object has no stored state and is ignored. An object that was read
    /// with placeholders is read again.
    ///
    /// - Parameters:
    ///   - model: An object of this context; one of another context makes the next save throw.
    ///   - mergeChanges: If true the object's unsaved changes stay, and its other properties get their newest values.
    ///     If false they are dropped, including those on the other sides of its relationships, and the object is a
    ///     fault again. Members of its collections that refer to it by a reference of their own keep their changes.
    /// - Complexity: O(1) if nothing was saved since; otherwise all loaded rows of the context are released, and each
    ///   is read again when it is used.
    public func refresh<T: PersistentModel>(_ model: T, mergeChanges: Bool) {
        ObjectRefresher(core(having: model)).refresh(ObjectHandle(model), mergesChanges: mergeChanges)
    }

    /// Brings all objects to the newest state of the store; unsaved changes stay, and the other properties of a changed
    /// object get their newest values.
    ///
    /// - Complexity: Reads the rows of changed objects now; all others are read again when they are used.
    public func refreshAllObjects() { cores.forEach { ObjectRefresher($0).refreshAll() } }

    /// Drops all unsaved changes and all loaded values, and moves to the newest state.
    ///
    /// New objects leave the context; all other objects stay the same instances, and are read again when they are used.
    ///
    /// - Complexity: Proportional to the unsaved changes; all rows are read again when they are used.
    public func reset() { onEachState { ObjectRefresher($0).reset() } }
}
