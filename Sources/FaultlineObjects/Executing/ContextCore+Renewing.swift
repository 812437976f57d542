internal import FaultlineDisk
internal import FaultlineLog
internal import FaultlineStore

// A context that a call of a pool has used becomes one that another call can use: that saves the memory of its rows, its
// tables, and three entries in lists of the engine.

extension ContextCore {
    /// Makes the context as good as new, and lets go of its snapshot; `begin` must follow before it is used again.
    ///
    /// To be called when nothing but the caller refers to it, so that no object of it is alive.
    ///
    /// - Parameter keepsMemory: Whether it keeps the memory of one block of rows.
    /// - Returns: False if it was used in a way that it cannot forget.
    func renew(keepsMemory: Bool) -> Bool {
        // Its changes hold objects.
        undo?.leave()
        undo = nil
        guard stage == nil, link == nil, state.pinLabel == nil, state.waitForOthers == nil,
            !homes.haveSetLifecycles, hasNoObjects, hold.drop()
        else { return false }
        pending = PendingChanges()
        memberArrays = MemberArrays()
        observations = ObservationList()
        rules = SaveRules(isReadOnly: rules.isReadOnly)
        saving = SavingState()
        owner = ContextOwner()
        errors = ContextErrors()
        conflicts = nil
        history.renew()
        homes.all.forEach { $0.renew() }
        noteSaved()
        forgetRows(keepingBlock: keepsMemory)
        state.mayHaveDeletedFaults = false
        state.hasGoneObjects = false
        reports = ReadReports(countedBefore: tally.counters)
        return true
    }

    /// Begins another use of a renewed context, at the newest state of the store.
    func begin() throws(LogError) {
        _ = try hold.begin()
        let newest = store.log.snapshot()
        hold.put(newest)
        state.isOutdated = !store.canRead(newest)
        hold.end()
    }

    private func forgetRows(keepingBlock: Bool) {
        lock.lock()
        let freed = (keepingBlock ? rows.empty() : rows.evictAll()) + shrinkRecentRows(whereRowsTake: 0)
        lock.unlock()
        noteRowsForgotten()
        if freed > 0 { store.log.budget.release(freed, for: .rows) }
    }
}
