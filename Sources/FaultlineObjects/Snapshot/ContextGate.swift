internal import FaultlineDisk
internal import FaultlineLog
internal import FaultlineStore
internal import Synchronization

/// Guards calls from the engine into a context that may be deallocated: any thread may ask it something or reclaim its
/// memory.
///
/// A weak reference would do the same, but would make every retain of the context by one of its objects several times
/// as expensive: it gives the context a side table.
// Safe because `context` is read and changed under the lock.
final class ContextGate: @unchecked Sendable {
    private let lock = EngineLock()
    private var context: Unmanaged<ContextCore>?

    func attach(_ context: ContextCore) { lock.withLock { self.context = .passUnretained(context) } }

    /// Called when the context is deallocated: waits for a call that is under way.
    func detach() { lock.withLock { context = nil } }

    func reclaim(_ byteCount: Int) -> Int {
        lock.withLock { context?._withUnsafeGuaranteedRef { $0.reclaimRows(byteCount) } ?? 0 }
    }

    private let isUnsaved = Atomic<Bool>(false)

    /// Records whether the context has unsaved changes; called on its thread.
    @inline(__always)
    func note(isUnsaved: Bool) { self.isUnsaved.store(isUnsaved, ordering: .relaxed) }

    /// Whether the context can leave the state that it reads: it has nothing to save, or no stored object is alive.
    var isFree: Bool {
        guard isUnsaved.load(ordering: .relaxed) else { return true }
        return lock.withLock { context?._withUnsafeGuaranteedRef { $0.hasNoObjects } ?? true }
    }
}

// Calls through the gate. They retain nothing: a last release here would end the context under the gate's lock.
extension ContextCore {
    /// Frees memory of loaded rows; called on any thread that needs memory.
    func reclaimRows(_ byteCount: Int) -> Int {
        lock.lock()
        let freed = rows.evict(byteCount) + shrinkRecentRows(whereRowsTake: rows.byteCount)
        lock.unlock()
        if freed > 0 { store.log.budget.release(freed, for: .rows) }
        return freed
    }

    /// Forgets tables of recent rows that are large beside the rows in memory; called under the lock.
    ///
    /// - Returns: The bytes that no longer count in the budget.
    func shrinkRecentRows(whereRowsTake byteCount: Int) -> Int {
        homes.all.reduce(0) { $0 + $1.recentRows.shrink(whereRowsTake: byteCount) }
    }

    /// Whether no stored object is alive; called on any thread.
    var hasNoObjects: Bool {
        lock.lock()
        defer { lock.unlock() }
        return homes.all.allSatisfy { $0.identities.count == 0 }
    }
}
