internal import FaultlineDisk

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

    /// Whether no stored object of the context is alive.
    var hasNoObjects: Bool { lock.withLock { context?._withUnsafeGuaranteedRef { $0.hasNoObjects } ?? true } }
}
