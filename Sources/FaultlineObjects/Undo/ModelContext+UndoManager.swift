extension ModelContext {
    /// The manager that takes back changes of this context; nil, the default, for none.
    ///
    ///     context.undoManager = UndoManager()
    ///
    /// Several contexts may have the same one. `rollback()` drops the changes of the context from it. Setting another
    /// one, or nil, does so too.
    ///
    /// - Complexity: With a manager, each save, undo and group compares the unsaved objects with those before.
    public var undoManager: UndoManager? {
        get { core.undo?.manager }
        set {
            guard newValue !== core.undo?.manager else { return }
            onEachState { core in
                core.undo?.leave()
                core.undo = newValue.map { UndoRecorder(core, $0) }
            }
        }
    }
}
