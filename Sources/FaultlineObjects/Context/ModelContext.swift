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
///
/// A context of a container over several stores has the objects of all of them, and saves each in one transaction.
public class ModelContext: Equatable, SendableMetatype {
    /// The state of its store; of a context over several, a state without objects, which has the settings.
    package let core: ContextCore
    /// The states of several stores; nil for a context of one.
    package let parts: ContextParts?
    /// An object that the context keeps alive: its container.
    package let owner: AnyObject?
    /// Whether the user wants automatic saves of unsaved changes.
    var wantsAutosave = false

    /// Abandons the unsaved changes of the core, when the context ends before it.
    private let abandon: (ContextCore) -> Void

    init(
        _ core: ContextCore, _ parts: ContextParts?, owner: AnyObject?, abandon: @escaping (ContextCore) -> Void
    ) {
        self.core = core
        self.parts = parts
        self.owner = owner
        self.abandon = abandon
        core.setUserContext(self)
        parts?.known.forEach { $0.setUserContext(self) }
    }

    deinit {
        // Unsaved changes of a main context belong to its container: the next handle shows them.
        guard !core.owner.isRemade else { return }
        if let parts { parts.known.forEach(abandon) } else { abandon(core) }
    }

    /// Whether both are the same context: two contexts of one container are not equal.
    public static func == (left: ModelContext, right: ModelContext) -> Bool { left === right }

    /// Whether a save would write anything.
    public var hasChanges: Bool {
        guard let parts else { return core.hasChanges }
        return parts.cores.contains(where: \.hasChanges)
    }

    /// The author that each transaction of this context records; at most 1,024 bytes of UTF-8.
    public var author: String? {
        get { core.history.author }
        set {
            core.history.author = newValue
            parts?.cores.forEach { $0.history.author = newValue }
        }
    }

    /// Whether the context belongs to a dry run of a migration: its changes are dropped, so a closure should skip
    /// effects outside of the store.
    public var isDryRun: Bool { core.stage?.isDryRun ?? false }

    /// The reads of this context so far.
    public var counters: FaultCounters {
        guard let parts else { return core.countersWithCache }
        return parts.cores.reduce(FaultCounters()) { $0 + $1.countersWithCache }
    }

    /// Called with errors of getters and setters, which cannot throw.
    public var errorHandler: (@Sendable (any Error) -> Void)? {
        get { core.errors.handler }
        set {
            core.errors.handler = newValue
            parts?.cores.forEach { $0.errors.handler = newValue }
        }
    }
}

extension ContextCore {
    /// The reads of this context so far, and the memory that its store's engine holds.
    fileprivate var countersWithCache: FaultCounters {
        var counters = counters
        counters.cacheBytes = store.log.budget.used
        return counters
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
