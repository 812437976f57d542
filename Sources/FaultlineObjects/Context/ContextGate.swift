internal import FaultlineDisk
internal import Synchronization

/// Stands between the engine, which any thread may have ask a context something or take memory back from it, and the
/// context, which may go away meanwhile.
///
/// A weak reference would do the same, and make every retain of the context by one of its objects several times as
/// dear: it gives the context a side table.
// Safe because `context` is read and changed under the lock.
final class ContextGate: @unchecked Sendable {
    private let lock = EngineLock()
    private var context: Unmanaged<ContextCore>?

    func attach(_ context: ContextCore) { lock.withLock { self.context = .passUnretained(context) } }

    /// Called as the context goes away: waits for a call that is under way.
    func detach() { lock.withLock { context = nil } }

    func reclaim(_ byteCount: Int) -> Int {
        lock.withLock { context?._withUnsafeGuaranteedRef { $0.reclaimRows(byteCount) } ?? 0 }
    }

    private let isUnsaved = Atomic<Bool>(false)

    /// Notes whether the context has unsaved changes; by its thread.
    @inline(__always)
    func note(isUnsaved: Bool) { self.isUnsaved.store(isUnsaved, ordering: .relaxed) }

    /// Whether nothing in the context has to go on at the state that it reads: it has nothing to save, or no stored
    /// object is alive.
    var isFree: Bool {
        guard isUnsaved.load(ordering: .relaxed) else { return true }
        return lock.withLock { context?._withUnsafeGuaranteedRef { $0.hasNoObjects } ?? true }
    }
}
