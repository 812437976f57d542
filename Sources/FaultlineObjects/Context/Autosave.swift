package import Dispatch

/// Saves a context a moment after its first unsaved change, on the queue of the context's code.
///
/// A failed save is tried again, after twice as long each time: the context may not be notified of the change that
/// removes the cause.
package final class Autosave {
    /// The delay after the first unsaved change, in seconds.
    static let delay = 0.1
    /// The longest delay after a failed save, in seconds.
    static let delayMax = 30.0

    var isEnabled = false
    /// The queue that runs the context's code.
    private let queue: DispatchQueue
    private weak var core: ContextCore?
    /// How many saves have failed since the last success.
    private var failureCount = 0
    /// Whether a setter's error was reported, which the next `save()` throws.
    private var hasToldPending = false
    /// The number of the next attempt; an attempt with another number is out of date.
    private var attempt = 0
    private var isScheduled = false

    /// - Parameters:
    ///   - context: The context to save.
    ///   - queue: The serial queue on which all of its code runs.
    init(_ context: ModelContext, on queue: DispatchQueue) {
        core = context.core
        self.queue = queue
    }

    /// Handles an unsaved change; called by the context's code.
    func noteUnsaved() {
        guard isEnabled, !isScheduled || failureCount > 0 else { return }
        schedule(after: Self.delay)
    }

    private func schedule(after seconds: Double) {
        isScheduled = true
        attempt += 1
        let number = attempt
        // Safe because the closure runs on the queue of the context's code, and nowhere else.
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
        if let pending = context.refusal {
            // An explicit `save()` throws it, or `rollback()` drops it.
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
    /// Whether unsaved changes are saved automatically, a tenth of a second after the first of them.
    ///
    /// True for a container's `mainContext`, which is saved between two jobs of the main actor, and false for every
    /// other context. It may be set for the context of a model actor. A context of no actor is saved by its own code
    /// alone: there it has no effect. Errors go to `errorHandler`; the changes stay, and are tried again after 0.2 s,
    /// 0.4 s, and so on up to every 30 s. After an error of a setter, nothing is saved before `save()` has thrown it.
    ///
    /// A process that ends before the automatic save must call `save()`.
    public var autosaveEnabled: Bool {
        get { core.owner.autosave?.isEnabled ?? wantsAutosave }
        set {
            wantsAutosave = newValue
            // One for all stores of the context.
            core.owner.autosave?.isEnabled = newValue
            if newValue, hasChanges { core.owner.autosave?.noteUnsaved() }
        }
    }

    /// Sets the serial queue that runs all of the context's code, so that autosave can run there.
    package func runs(on queue: DispatchQueue) {
        let autosave = Autosave(self, on: queue)
        autosave.isEnabled = wantsAutosave
        core.owner.autosave = autosave
        parts?.cores.forEach { $0.owner.autosave = autosave }
        if hasChanges { autosave.noteUnsaved() }
    }

    /// The error that the next save throws before it begins; nil if there is none.
    fileprivate var refusal: (any Error)? {
        core.errors.refusals.first ?? parts?.cores.lazy.compactMap(\.errors.refusals.first).first
    }
}
