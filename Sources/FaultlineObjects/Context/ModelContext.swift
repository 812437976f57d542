internal import FaultlineLog
internal import FaultlineStore

/// Fetches, changes and saves objects: one object for each row, unsaved changes until `save()` writes them in one
/// transaction.
///
/// A context belongs to one thread, task or actor at a time, like its objects; identifiers go between contexts. Objects
/// may outlive their context: they keep reading, and `modelContext` is nil.
///
/// Each context reads one state of the store: that of its last fetch or save. Saves of other contexts become visible at
/// the next fetch. `pin` keeps a context at its state.
public class ModelContext: Equatable, SendableMetatype {
    package let core: ContextCore
    /// An object that the context keeps alive: its container.
    package let owner: AnyObject?
    /// Whether the user wants automatic saves of unsaved changes.
    var wantsAutosave = false

    /// Abandons the unsaved changes of the core, when the context ends before it.
    private let abandon: (ContextCore) -> Void

    init(_ core: ContextCore, owner: AnyObject?, abandon: @escaping (ContextCore) -> Void) {
        self.core = core
        self.owner = owner
        self.abandon = abandon
        core.setUserContext(self)
    }

    deinit {
        // Unsaved changes of a main context belong to its container: the next handle shows them.
        if !core.owner.isRemade { abandon(core) }
    }

    /// Whether both are the same context: two contexts of one container are not equal.
    public static func == (left: ModelContext, right: ModelContext) -> Bool { left === right }

    /// Whether a save would write anything.
    public var hasChanges: Bool { core.hasChanges }

    /// The author that each transaction of this context records; at most 1,024 bytes of UTF-8.
    public var author: String? {
        get { core.history.author }
        set { core.history.author = newValue }
    }

    /// Whether the context belongs to a dry run of a migration: its changes are dropped, so a closure should skip
    /// effects outside of the store.
    public var isDryRun: Bool { core.stage?.isDryRun ?? false }

    /// The reads of this context so far.
    public var counters: FaultCounters {
        var counters = core.counters
        counters.cacheBytes = core.store.log.budget.used
        return counters
    }

    /// Called with errors of getters and setters, which cannot throw.
    public var errorHandler: (@Sendable (any Error) -> Void)? {
        get { core.errors.handler }
        set { core.errors.handler = newValue }
    }
}

extension PersistentModel {
    /// The context that the object is in: nil before insertion, after the context is gone, and after a saved deletion.
    public var modelContext: ModelContext? {
        ObjectHandle(self).core.pointee.modelContext
    }
}

extension ModelCore {
    /// The context that the user gets for the object.
    var modelContext: ModelContext? {
        guard has(.attached), !has(.gone) else { return nil }
        return context?.userContext
    }
}

@available(
    *, unavailable,
    message: "A context belongs to one thread or actor at a time. Pass a ModelContainer or a PersistentIdentifier."
)
extension ModelContext: Sendable {}
