import Glibc
import Synchronization

/// The event that a queueing thread waits for: it has its own semaphore, so that waking one thread wakes no other.
// Safe because the outcome is written before the state is released and read after it is acquired.
final class Completion: @unchecked Sendable {
    enum State: UInt8, AtomicRepresentable {
        case waiting, leading, done
    }

    private let semaphore: UnsafeMutablePointer<sem_t>
    private let state = Atomic<State>(.waiting)
    /// The error of the work; valid once done.
    private(set) var failure: LogError?
    /// The newest readable state; valid once done.
    private(set) var snapshot: Snapshot?
    /// The offset of the next frame, and headCRC of the frame before; valid once done.
    var position: (segment: ManagedFile, offset: UInt64, previousHead: UInt32)?

    init() {
        semaphore = .allocate(capacity: 1)
        semaphore.initialize(to: sem_t())
        sem_init(semaphore, 0, 0)
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    var isDone: Bool { state.load(ordering: .acquiring) == .done }

    /// Waits until the work is done or this thread is to lead.
    ///
    /// - Returns: True if this thread is to lead.
    func wait() -> Bool {
        while true {
            // A signal interrupts the wait; then the state has not changed.
            sem_wait(semaphore)
            switch state.load(ordering: .acquiring) {
            case .waiting: continue
            case .leading: return true
            case .done: return false
            }
        }
    }

    /// Returns the snapshot and releases it.
    func takeSnapshot() -> Snapshot? {
        defer { snapshot = nil }
        return snapshot
    }

    func finish(snapshot: Snapshot?, failure: LogError?, isWaited: Bool) {
        self.snapshot = snapshot
        self.failure = failure
        state.store(.done, ordering: .releasing)
        if isWaited { sem_post(semaphore) }
    }

    func lead() {
        state.store(.leading, ordering: .releasing)
        sem_post(semaphore)
    }
}
