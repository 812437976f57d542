package import Dispatch

/// Saves a context a moment after its first unsaved change, where the context's code runs.
///
/// What could not be saved is tried again, after twice as long each time: the change that mends it need not be one that the
/// context is told of.
package final class Autosave {
    /// How long after the first unsaved change.
    static let delay = 0.1
    /// How long at most after a save that failed, in seconds.
    static let delayMax = 30.0

    var isEnabled = false
    /// Where the context's code runs.
    private let queue: DispatchQueue
    private weak var core: ContextCore?
    /// How often it has failed since it last succeeded.
    private var failureCount = 0
    /// Whether an error of a setter was told, which the next `save()` throws.
    private var hasToldPending = false
    /// The number of the attempt that is to come; what comes with another number is out of date.
    private var attempt = 0
    private var isScheduled = false

    /// - Parameters:
    ///   - context: Whose changes are saved.
    ///   - queue: The serial queue on which all of its code runs.
    init(_ context: ModelContext, on queue: DispatchQueue) {
        core = context.core
        self.queue = queue
    }

    /// Notes an unsaved change; by the context's code.
    func noteUnsaved() {
        guard isEnabled, !isScheduled || failureCount > 0 else { return }
        schedule(after: Self.delay)
    }

    private func schedule(after seconds: Double) {
        isScheduled = true
        attempt += 1
        let number = attempt
        // Safe because the closure runs where the context's code does: it goes from there to there.
        nonisolated(unsafe) let autosave = self
        queue.asyncAfter(deadline: .now() + seconds) { autosave.run(number) }
    }

    private func run(_ number: Int) {
        guard number == attempt else { return }
        isScheduled = false
        guard isEnabled, let context = core?.userContext, context.hasChanges else {
            failureCount = 0
            return
        }
        if let pending = context.core.pendingError {
            // An explicit `save()` throws it, or `rollback()` settles it.
            if !hasToldPending { context.core.report(pending) }
            hasToldPending = true
            failureCount += 1
        } else {
            hasToldPending = false
            do {
                try context.save()
                failureCount = 0
            } catch {
                context.core.report(error)
                failureCount += 1
            }
        }
        if context.hasChanges {
            schedule(after: min(Self.delay * Double(1 << min(failureCount, 16)), Self.delayMax))
        }
    }
}

extension ModelContext {
    /// Whether unsaved changes are saved by themselves, a tenth of a second after the first of them.
    ///
    /// True for a container's `mainContext`, which is saved between two jobs of the main actor, and false for every other
    /// context. For the context of a model actor it may be set. A context of no actor is saved by its own code alone: there
    /// it has no effect. Errors go to `errorHandler`, the changes stay, and are tried again after 0.2 s, 0.4 s, and so on
    /// up to every 30 s. After an error that a setter has met nothing is saved before `save()` has thrown it.
    ///
    /// A process that ends before that has to call `save()`.
    public var autosaveEnabled: Bool {
        get { core.autosave?.isEnabled ?? wantsAutosave }
        set {
            wantsAutosave = newValue
            core.autosave?.isEnabled = newValue
            if newValue, hasChanges { core.autosave?.noteUnsaved() }
        }
    }

    /// Says on which serial queue all of the context's code runs, so that it can be saved there.
    package func runs(on queue: DispatchQueue) {
        let autosave = Autosave(self, on: queue)
        autosave.isEnabled = wantsAutosave
        core.autosave = autosave
        if hasChanges { autosave.noteUnsaved() }
    }
}
