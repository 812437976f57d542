package import Dispatch

/// Saves a context a moment after its first unsaved change, where the context's code runs.
package final class Autosave {
    /// How long after the first unsaved change.
    static let delay = DispatchTimeInterval.milliseconds(100)

    var isEnabled = false
    /// Where the context's code runs.
    private let queue: DispatchQueue
    private weak var context: ModelContext?
    private var isScheduled = false

    /// - Parameters:
    ///   - context: Whose changes are saved.
    ///   - queue: The serial queue on which all of its code runs.
    init(_ context: ModelContext, on queue: DispatchQueue) {
        self.context = context
        self.queue = queue
    }

    /// Notes an unsaved change; by the context's code.
    func noteUnsaved() {
        guard isEnabled, !isScheduled else { return }
        isScheduled = true
        // Safe because the closure runs where the context's code does: it goes from there to there.
        nonisolated(unsafe) let autosave = self
        queue.asyncAfter(deadline: .now() + Self.delay) { autosave.run() }
    }

    private func run() {
        isScheduled = false
        guard isEnabled, let context, context.hasChanges else { return }
        do { try context.save() } catch {
            // The changes are still there; the next one tries again.
            context.core.report(error)
        }
    }
}

extension ModelContext {
    /// Whether unsaved changes are saved by themselves, a tenth of a second after the first of them.
    ///
    /// True for a container's `mainContext`, which is saved between two jobs of the main actor, and false for every other
    /// context. For the context of a model actor it may be set. A context of no actor is saved by its own code alone: there
    /// it has no effect. Errors go to `errorHandler`, and the changes stay.
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
    }
}
