/// The user's context of a `ContextCore`, which its objects outlive.
struct ContextOwner {
    /// The context; nil once it is gone.
    weak var context: ModelContext?
    /// Makes the context again where it is gone and its container is not: that of a container's main context.
    var remake: (() -> ModelContext?)?
    /// Whether the context is gone for good: nothing will be saved any more, so no object is held for its changes.
    var isAbandoned = false
    /// Called when an object gets its first unsaved change; false says that a watcher is gone.
    var watchers: [() -> Bool] = []
    /// Saves unsaved changes by itself; nil where a context has none.
    var autosave: Autosave?

    /// Whether the context comes back when it is asked for.
    var isRemade: Bool { remake != nil }
}
