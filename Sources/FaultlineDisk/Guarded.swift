#if !FAULTLINE_TSAN
package import Synchronization
#endif

#if FAULTLINE_TSAN
/// A value protected by a lock: a `Synchronization.Mutex`, or an equivalent with an `EngineLock` when built with
/// `FAULTLINE_TSAN`.
///
/// The thread sanitizer does not see a `Mutex` lock and would report false races.
// Safe because only `withLock` accesses the value's memory, which is freed when it can no longer be called.
package struct Guarded<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    private let lock = EngineLock()
    private let value: UnsafeMutablePointer<Value>

    /// Creates a protected value.
    package init(_ value: consuming sending Value) {
        self.value = .allocate(capacity: 1)
        self.value.initialize(to: value)
    }

    deinit {
        value.deinitialize(count: 1)
        value.deallocate()
    }

    /// Calls `body` with the value while the lock is held.
    ///
    /// The lock is not recursive.
    package borrowing func withLock<R: ~Copyable, E: Error>(
        _ body: (inout sending Value) throws(E) -> sending R
    ) throws(E) -> sending R {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value.pointee)
    }
}
#else
/// A value protected by a lock: a `Synchronization.Mutex`, or an equivalent with an `EngineLock` when built with
/// `FAULTLINE_TSAN`.
package typealias Guarded = Mutex
#endif
