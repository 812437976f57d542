internal import FaultlineLog
internal import FaultlineStore

/// The share of one store in a save over several: its steps, which `SaveOfParts` calls in their order.
final class PartSave {
    /// The name of the store's configuration.
    let name: String
    let core: ContextCore
    /// Why the store is not saved.
    private(set) var error: (any Error)?
    /// The number of its transaction, once it is saved.
    private(set) var transaction: UInt64?
    private var told: [ObjectHandle] = []
    private var holdsErrors = false
    private var calls: [() -> Void] = []
    private var prepared: Save?
    private var queued: QueuedSave?
    /// Whether a watched object was changed by another save while this one was prepared.
    var isOutrun: Bool { error is ChangedMeanwhile }

    init(_ name: String, _ core: ContextCore) {
        self.name = name
        self.core = core
    }

    /// Whether its store is one of the user's, which has no transaction that can be undone.
    var isOfDataStore: Bool { core.link != nil }

    /// Tells the objects that are not told yet that they are about to be saved.
    ///
    /// - Returns: Whether there were any.
    func tellWillSave() throws -> Bool {
        guard try core.checkSave(), core.homes.haveLifecycles else { return false }
        let count = told.count
        told = try LifecycleCalls(core).tellWillSave(after: told)
        return told.count > count
    }

    /// Begins to keep errors from the error handler, which may save.
    func begin() {
        core.undo?.endEvent()
        holdsErrors = core.errors.hold()
        core.saving.later = []
    }

    /// Deals with conflicts with other saves, by the context's policy; an error is kept, and an earlier one forgotten.
    func settleConflicts() {
        error = nil
        guard !isOfDataStore else { return }
        keepingError { try ConflictResolver(core).settle() }
    }

    /// Does all that needs no writer's turn; an error is kept.
    func prepare() {
        guard !isOfDataStore, error == nil else { return }
        guard core.hasChanges else { return core.noteSaved() }
        // Here, because no turn of another store may wait for this one's disk.
        keepingError { try core.store.log.makeReady() }
        guard error == nil else { return }
        keepingError { prepared = try core.prepareCommit() }
    }

    /// Waits until the state can be read in which a watched object was found changed.
    func waitForNewerState() { keepingError { try ConflictResolver(core).waitForNewerState() } }

    private func keepingError(_ body: () throws -> Void) {
        do { try body() } catch { self.error = error }
    }

    /// Drops a save that was prepared, and not queued.
    func cancel() {
        guard prepared.take() != nil else { return }
        core.endReading()
    }

    /// Checks all rules in the writer's turn, calls `rest` within it, and queues the transaction.
    ///
    /// - Throws: The errors of the store and of `rest`; nothing is queued then.
    func queue(_ rest: @escaping () throws -> Void) throws {
        guard var save = prepared.take() else { return try rest() }
        do {
            let commit = try save.queue(adding: { _, _ in try rest() }, isSuspending: false, isReady: true)
            core.saving.isQueued = true
            queued = QueuedSave(save, commit, [], holdsErrors: false)
        } catch {
            core.endReading()
            throw error
        }
    }

    /// Saves into the user's data store, and queues the transaction of the local copy.
    func queueDataStore(_ link: any DataStoreLink) throws {
        queued = try ConflictResolver(core).dealingWithConflicts {
            try link.save { try core.queueCommit(adding: nil, false, of: [], holdsErrors: false) }
        }
    }

    /// Notes why the store is not saved.
    func fail(_ error: any Error) { self.error = error }

    /// Waits until the transaction is on the disk, and shows it in the context.
    func end() {
        guard let queued = queued.take() else { return }
        let sequence = queued.sequence
        do {
            try queued.end()
            transaction = sequence
        } catch {
            self.error = error
        }
    }

    /// Takes the calls that wait for the end of the save: code that they run may save the context again.
    func takeCalls() {
        calls = core.saving.later ?? []
        core.saving.later = nil
    }

    /// Calls the observers that wait for the end of the save, which may use the context again.
    func tellObservers() {
        tell(calls)
        calls = []
        if holdsErrors { core.tellHeldErrors() }
    }

    /// Calls the objects that were saved.
    func tellDidSave() {
        guard transaction != nil else { return }
        // Changes in `didSave` are for the next save.
        for handle in told where handle.core.pointee.has(.attached) { handle.lifecycle?.didSave(handle.object) }
    }

    /// Makes calls that read the state of the store.
    private func tell(_ calls: [() -> Void]) {
        guard !calls.isEmpty else { return }
        do throws(LogError) { try core.beginReading() } catch { return core.report(error) }
        defer { core.endReading() }
        for call in calls { call() }
    }
}
