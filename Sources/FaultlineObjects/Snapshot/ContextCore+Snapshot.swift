internal import FaultlineDisk
package import FaultlineLog
internal import FaultlineStore

// The state of the store that a context reads, and how it moves on.
//
// Everything that reads the store does so between `beginReading` and `endReading`: in between the log may take the
// snapshot of a context that has nothing to save, and of one whose pin has outlived its limits.

extension ContextCore {
    /// The state that the context reads, between `beginReading` and `endReading`.
    @inline(__always)
    package var snapshot: Snapshot {
        if state.waitForOthers != nil { catchUp() }
        return hold.snapshot
    }

    /// The location of an object's record in that state; takes no reference to it.
    @inline(__always)
    func location(of number: RecordID, in table: TableID) throws(LogError) -> Location {
        if state.waitForOthers != nil { catchUp() }
        return try hold.location(of: number, in: table)
    }

    /// The same, without a look-up if the object was just found by its identifier.
    @inline(__always)
    func location(of number: RecordID, _ home: EntityHome, in table: TableID) throws(LogError) -> Location {
        if home.found.number == number, home.found.changeCount == hold.changeCount, state.waitForOthers == nil {
            return home.found.location
        }
        return try location(of: number, in: table)
    }

    /// Begins to read the store; may be nested, each needs its `endReading`.
    ///
    /// A context whose snapshot was taken continues at the newest state. Loaded rows stay until the context is next
    /// moved on: an object does not change between the reads of its properties.
    ///
    /// - Throws: `.expired` if the context is pinned to a state that has exceeded its limits; then `endReading` must
    ///   not be called.
    @inline(__always)
    package func beginReading() throws(LogError) {
        if hold.beginAtOnce() { return }
        if try !hold.begin() { replaceTakenSnapshot() }
    }

    /// Ends what `beginReading` began.
    @inline(__always)
    package func endReading() { hold.end() }

    @inline(never)
    private func replaceTakenSnapshot() {
        let newest = store.log.snapshot()
        // Rows were loaded at the state that was taken.
        if newest.sequence != hold.sequence {
            if hasNoObjects { forgetRows() } else { state.hasOlderRows = true }
        }
        put(newest)
        state.isOutdated = !store.canRead(newest)
    }

    /// Records that no row is older than the snapshot.
    func noteRowsForgotten() {
        state.hasOlderRows = false
        state.forgettingCount &+= 1
    }

    /// Notes that there is something to save, so that the context's snapshot stays.
    @inline(__always)
    func noteUnsaved() {
        state.gate.note(isUnsaved: true)
        if let autosave = owner.autosave { autosave.noteUnsaved() }
        if !owner.watchers.isEmpty { owner.watchers.removeAll { !$0() } }
    }

    func noteSaved() { state.gate.note(isUnsaved: false) }

    /// Moves on to the newest state, as `moveOn`.
    ///
    /// - Throws: `outdated` if a migration has dropped tables or indexes that the container reads, and the context has
    ///   no state from before.
    func moveToNewest() throws(StoreError) {
        moveOn()
        if state.isOutdated { throw store.outdated(by: snapshot) }
    }

    /// Moves on to the newest state, unless the context is pinned, or a migration has dropped tables or indexes that the
    /// container reads.
    ///
    /// If there were other saves, loaded rows are released: all objects without unsaved changes show one state of the
    /// store.
    func moveOn() {
        if !state.hasOlderRows, state.waitForOthers == nil, store.log.isNewest(hold) { return }
        guard state.pinLabel == nil else { return }
        do throws(LogError) { try store.log.follow() } catch { report(error) }
        let newest = store.log.snapshot()
        guard store.canRead(newest) else { return }
        state.isOutdated = false
        let old = snapshot
        let isFromUnknown = state.hasOlderRows
        if isFromUnknown || newest.sequence != old.sequence { forgetRows() }
        put(newest)
        if isFromUnknown {
            observations.noteChangeOfAll()
        } else {
            noteMove(from: old, to: snapshot)
        }
    }

    /// Moves on to the state that a save of this context made.
    ///
    /// A save that had nothing to write made no state: then the newest one comes from another save.
    ///
    /// - Returns: A call that notifies observers, if more has changed since the state before than that save's own
    ///   changes.
    func moveToSaved(_ saved: Snapshot, _ sequence: UInt64) -> (() -> Void)? {
        let old = snapshot
        let isFromUnknown = state.hasOlderRows
        put(saved)
        if saved.sequence == old.sequence + 1, saved.sequence == sequence, !isFromUnknown { return nil }
        forgetRows()
        return { [self] in
            if isFromUnknown {
                observations.noteChangeOfAll()
            } else {
                noteMove(from: old, to: snapshot)
            }
        }
    }

    func moveTo(_ snapshot: Snapshot) { put(snapshot) }

    private func put(_ snapshot: Snapshot) {
        if snapshot.sequence != hold.sequence {
            memberArrays.removeAll()
            state.mayHaveDeletedFaults = state.mayHaveDeletedFaults || !hasNoObjects
            if state.hasGoneObjects { showRestored(from: hold.sequence, to: snapshot) }
        }
        hold.put(snapshot)
    }

    /// In a streamed stage: lets other contexts save the objects that come before the ones that this context is about
    /// to take.
    ///
    /// The context reads nothing from the store before they have saved; objects that it has returned then show the
    /// saved values.
    ///
    /// - Parameter waitForOthers: Returns when they have saved; called once, by the first read.
    package func fallBehind(_ waitForOthers: @escaping () -> Void) {
        forgetRows()
        state.waitForOthers = waitForOthers
    }

    /// Waits for those contexts, and moves on to the state that they saved; does nothing where none is waited for.
    @inline(never)
    package func catchUp() {
        guard let wait = state.waitForOthers else { return }
        state.waitForOthers = nil
        wait()
        do throws(LogError) { try beginReading() } catch { return report(error) }
        moveOn()
        endReading()
    }

    /// Stays at the state that the context reads, within limits.
    func pin(_ limits: PinLimits, _ label: String) throws(LogError) {
        try beginReading()
        defer { endReading() }
        state.pinLabel = label
        store.log.pin(hold, limits, label)
        forgetOlderRows()
    }

    /// Follows the store again: the next fetch moves to the newest state, and so does this call if the pin has expired.
    func unpin() {
        guard state.pinLabel != nil else { return }
        state.pinLabel = nil
        store.log.pin(hold, nil, "context")
        guard hold.forgetExpiry() else { return }
        // Objects are alive: the move must not wait for a getter.
        do throws(LogError) { try beginReading() } catch { return }
        forgetRows()
        endReading()
        observations.noteChangeOfAll()
    }

    /// Releases rows that are older than the snapshot, so that all objects without unsaved changes show its state.
    private func forgetOlderRows() {
        guard state.hasOlderRows else { return }
        forgetRows()
        observations.noteChangeOfAll()
    }

    /// Releases rows and the old snapshot, between two batches.
    package func forgetRows() {
        lock.lock()
        let freed = rows.evictAll() + shrinkRecentRows(whereRowsTake: 0)
        lock.unlock()
        noteRowsForgotten()
        if freed > 0 { store.log.budget.release(freed, for: .rows) }
    }
}
