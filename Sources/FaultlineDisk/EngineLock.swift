#if FAULTLINE_TSAN
public import Glibc
#else
public import Synchronization
#endif

/// A lock for short critical sections.
///
/// It is not recursive, and must not be held while waiting.
///
/// It is a `Synchronization.Mutex`, or a `pthread_mutex_t` when built with `FAULTLINE_TSAN`, because the thread
/// sanitizer does not see `Mutex` lock and would report false races. The value cannot be copied, so it lies inside the
/// object that it protects.
@usableFromInline
package struct EngineLock: ~Copyable, Sendable {
    #if FAULTLINE_TSAN
    // Safe because only this value uses the mutex from `init` to `deinit`, and a mutex may be shared by threads.
    @usableFromInline nonisolated(unsafe) let mutex: UnsafeMutablePointer<pthread_mutex_t>

    package init() {
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        let result = pthread_mutex_init(mutex, nil)
        precondition(result == 0, "The system refused to make a mutex (error \(result)).")
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Waits for the lock and acquires it.
    @inlinable package borrowing func lock() {
        let result = pthread_mutex_lock(mutex)
        precondition(result == 0, "A mutex could not be locked (error \(result)).")
    }

    /// Releases the lock; the caller must hold it.
    @inlinable package borrowing func unlock() {
        let result = pthread_mutex_unlock(mutex)
        precondition(result == 0, "A mutex was unlocked by a thread that does not hold it (error \(result)).")
    }
    #else
    @usableFromInline let mutex = Mutex<Void>(())

    @inlinable package init() {}

    /// Waits for the lock and acquires it.
    @inlinable @inline(__always) package borrowing func lock() {
        mutex._unsafeLock()
    }

    /// Releases the lock; the caller must hold it.
    @inlinable @inline(__always) package borrowing func unlock() {
        mutex._unsafeUnlock()
    }
    #endif

    /// Runs `body` with the lock held.
    @inlinable @inline(__always)
    package borrowing func withLock<R: ~Copyable, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
        lock()
        defer { unlock() }
        return try body()
    }
}
