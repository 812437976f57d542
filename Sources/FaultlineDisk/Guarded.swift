#if !FAULTLINE_TSAN
package import Synchronization
#endif

#if FAULTLINE_TSAN
/// A value under a lock: `Synchronization.Mutex`, or the same by an `EngineLock` when built with `FAULTLINE_TSAN`.
///
/// The thread sanitizer does not see a `Mutex` lock and would report races that are none.
// Safe because the value's memory is touched by `withLock` alone, and is freed when nothing can call that any more.
package struct Guarded<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    private let lock = EngineLock()
    private let value: UnsafeMutablePointer<Value>

    /// Puts a value under a lock.
    package init(_ value: consuming sending Value) {
        self.value = .allocate(capacity: 1)
        self.value.initialize(to: value)
    }

    deinit {
        value.deinitialize(count: 1)
        value.deallocate()
    }

    /// Calls `body` with the value while the lock is held; not recursive.
    package borrowing func withLock<R: ~Copyable, E: Error>(
        _ body: (inout sending Value) throws(E) -> sending R
    ) throws(E) -> sending R {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value.pointee)
    }
}
#else
/// A value under a lock: `Synchronization.Mutex`, or the same by an `EngineLock` when built with `FAULTLINE_TSAN`.
package typealias Guarded = Mutex
#endif
