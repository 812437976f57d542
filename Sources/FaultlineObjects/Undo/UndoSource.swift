/// The changes of a context, which its `UndoManager` collects when a group begins or ends.
protocol UndoSource: AnyObject {
    /// The manager that the changes are registered with.
    var manager: UndoManager { get }

    /// Whether an object is the context.
    func isOf(_ target: AnyObject) -> Bool

    /// Registers the changes since the last call.
    func collectChanges()

    /// Ends the event before a save: later changes are a group of their own.
    func endEvent()

    /// Forgets unsaved values: they are saved.
    ///
    /// - Parameter upserts: New objects that have replaced stored ones.
    func noteSaved(replacing upserts: [ObjectHandle])

    /// Forgets all changes: they were dropped.
    func forgetAll()

    /// Leaves the manager, with all changes.
    func leave()
}
