internal import FaultlineLog
internal import FaultlineStore

/// One save of a context over several stores.
///
/// The turns of the stores' writers are nested: the first store's rules are checked in its turn, within it those of the
/// second, and so on. The transactions are queued from the innermost out, once all rules hold, and only then does the
/// save wait for the disks. So a broken rule leaves every store as it was; only a disk that fails can part them, and no
/// writer's turn waits for a disk. The turns are taken in the order of the stores' identifiers: two saves over the same
/// stores never wait for each other.
struct SaveOfParts {
    /// Ends the turns that are open, because a store is not saved.
    private struct Stopped: Error {}

    private let parts: ContextParts
    private let all: [PartSave]

    init(_ parts: ContextParts) {
        self.parts = parts
        all = parts.named.map { PartSave($0.name, $0.core) }
    }

    /// Saves each store that has changes.
    ///
    /// - Throws: The error of the store that has refused its changes; if it is not the only one, the findings of all, or
    ///   `StoresNotSavedError`.
    func run() throws {
        for save in all { try LifecycleCalls(save.core).checkIsNotSaving() }
        if let error = parts.settings.errors.refusals.next() { throw error }
        try tellWillSave()
        let saves = all.filter { $0.core.hasChanges }
        guard !saves.isEmpty else { return }
        parts.isSaving = true
        for save in saves { save.begin() }
        queue(saves)
        for save in saves { save.end() }
        for save in saves { save.takeCalls() }
        parts.isSaving = false
        let failed = saves.filter { $0.error != nil }
        let failure = failed.isEmpty ? nil : error(of: saves, failed)
        // Only now: each of these calls may save the context again.
        for save in saves { save.tellObservers() }
        for save in saves { save.tellDidSave() }
        if let failure { throw failure }
    }

    /// Tells the objects of all stores, until none is left that another's `willSave` has changed.
    private func tellWillSave() throws {
        var roundCount = 0
        var isOneTold = true
        while isOneTold {
            isOneTold = false
            for save in all where try save.tellWillSave() { isOneTold = true }
            roundCount += 1
            guard roundCount <= SavePhase.roundMax else {
                throw SwiftDataError.modelValidationFailure.explained(
                    "willSave methods of objects in several stores have changed or inserted others \(SavePhase.roundMax) times in a row: each of them is told too, so this would not end."
                )
            }
        }
    }

    /// Queues the transactions of all stores, or of none; errors are noted at their stores.
    private func queue(_ saves: [PartSave]) {
        let inOrder = saves.sorted {
            guard $0.isOfDataStore == $1.isOfDataStore else { return $1.isOfDataStore }
            return $0.core.store.log.storeID < $1.core.store.log.storeID
        }
        while true {
            for save in saves { save.settleConflicts() }
            // The validation of one store's object may change no object of another store.
            for core in parts.known { core.saving.phase = .validating }
            for save in saves { save.prepare() }
            for core in parts.known { core.saving.phase = .none }
            noteRefusals(at: saves)
            if saves.allSatisfy({ $0.error == nil }) { try? queue(inOrder[...], of: saves) }
            for save in saves { save.cancel() }
            let outrun = saves.filter(\.isOutrun)
            if outrun.isEmpty { return }
            for save in outrun { save.waitForNewerState() }
        }
    }

    /// Notes a change of a store without other changes that a validation has tried, and that was refused.
    private func noteRefusals(at saves: [PartSave]) {
        guard let first = saves.first, first.error == nil else { return }
        for core in parts.known where !saves.contains(where: { $0.core === core }) {
            if let refusal = core.errors.refusals.next() { return first.fail(refusal) }
        }
    }

    /// Queues the transactions of some stores within the turns of those before them.
    private func queue(_ rest: ArraySlice<PartSave>, of saves: [PartSave]) throws {
        guard let save = rest.first else {
            // A rule was broken further out, and this walk was to find the others that are.
            if saves.contains(where: { $0.error != nil }) { throw Stopped() }
            return
        }
        if let link = save.core.link {
            if saves.contains(where: { $0.error != nil }) { throw Stopped() }
            do { try save.queueDataStore(link) } catch {
                save.fail(error)
                throw Stopped()
            }
            return try queue(rest.dropFirst(), of: saves)
        }
        var isRestQueued = false
        do {
            try save.queue {
                try queue(rest.dropFirst(), of: saves)
                isRestQueued = true
            }
        } catch is Stopped {
            throw Stopped()
        } catch {
            save.fail(error)
            // The stores behind it are saved, and those before it can be: each is atomic by itself.
            if isRestQueued { return }
            try queue(rest.dropFirst(), of: saves)
        }
    }

    private func error(of saves: [PartSave], _ failed: [PartSave]) -> any Error {
        let errors = failed.compactMap(\.error).map(StorageError.translating)
        let saved = saves.compactMap { save in
            save.transaction.map { StoresNotSavedError.Saved(name: save.name, transaction: $0) }
        }
        if saved.isEmpty {
            if errors.count == 1 { return errors[0] }
            let broken = errors.compactMap { $0 as? SwiftDataError }.filter { !$0.findings.isEmpty }
            if broken.count == errors.count {
                var findings = FindingList()
                for finding in broken.flatMap(\.findings) { findings.add(finding) }
                return SwiftDataError.refused(findings)
            }
        }
        return StoresNotSavedError(
            saved: saved,
            unsaved: saves.filter { $0.error != nil || $0.transaction == nil }.map {
                StoresNotSavedError.Unsaved(name: $0.name, error: $0.error.map(StorageError.translating))
            })
    }
}
