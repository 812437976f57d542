import FaultlineDisk
import Glibc

/// Runs one of two threads at a time, and switches between them at disk calls, in a given order.
///
/// If the running thread waits for a lock of the other thread, the other thread continues instead, and the step of the
/// first one ends when it gets the lock. The kernel reports which thread sleeps, so no decision depends on timing.
// Safe because a lock guards all mutable properties.
final class StepSchedule: @unchecked Sendable {
    /// The nanoseconds that a thread waits before it checks whether the other one sleeps.
    private static let patience = 300_000

    private let guardian = EngineLock()
    /// The thread of each step.
    private let order: [UInt8]
    /// The number of disk calls in a step, for each thread.
    private let strides: [Int]
    private let threads: [SteppedThread]
    private var position = 1
    /// The index of the running thread.
    private var token: Int
    private var isParked = [false, false]
    private var isDone = [false, false]
    private var calls = [0, 0]
    private var waits = 0

    init(_ order: [UInt8], strides: [Int]) {
        self.order = order
        self.strides = strides
        token = Int(order.first ?? 0)
        threads = [SteppedThread(), SteppedThread()]
    }

    /// The number of times that a step waited for a lock of the other thread.
    var waitCount: Int { guardian.withLock { waits } }

    /// The number of disk calls that each thread made.
    var callCounts: [Int] { guardian.withLock { calls } }

    /// Runs `body` as one of the two threads.
    func run(_ thread: Int, _ body: () -> Void) {
        threads[thread].begin()
        pass(thread, isStart: true)
        body()
        threads[thread].end()
        guardian.withLock {
            isDone[thread] = true
            token = 1 - thread
        }
        threads[1 - thread].wake()
    }

    /// Ends the step if it is complete.
    ///
    /// Called before each disk call.
    func meet() {
        guard let thread = threads.firstIndex(where: { $0.isCurrent }) else { return }
        let isStep = guardian.withLock {
            calls[thread] += 1
            return calls[thread] % strides[thread] == 0
        }
        if isStep { pass(thread, isStart: false) }
    }

    /// Ends a step, and waits until the order reaches this thread again.
    private func pass(_ thread: Int, isStart: Bool) {
        let other = 1 - thread
        guardian.lock()
        isParked[thread] = true
        if token == thread, !isStart { choose(after: thread) }
        while token != thread {
            let mayWait = !isParked[other] && !isDone[other]
            guardian.unlock()
            if mayWait, threads[other].isAsleep { take(thread) } else { threads[thread].wait(Self.patience) }
            guardian.lock()
        }
        isParked[thread] = false
        guardian.unlock()
    }

    /// Continues instead of a sleeping thread.
    private func take(_ thread: Int) {
        let other = 1 - thread
        guardian.withLock {
            guard token == other, !isParked[other], !isDone[other] else { return }
            token = thread
            waits += 1
        }
    }

    private func choose(after thread: Int) {
        while position < order.count {
            let owner = Int(order[position])
            position += 1
            if isDone[owner] { continue }
            token = owner
            if owner != thread { threads[owner].wake() }
            return
        }
        // The remaining calls belong to its last step.
        token = thread
    }
}

/// One of the threads, which can be woken and can be checked for sleeping.
// Safe because only the thread itself calls begin and end, and an outdated result only causes another check.
private final class SteppedThread: @unchecked Sendable {
    private let semaphore: UnsafeMutablePointer<sem_t>
    private let guardian = EngineLock()
    private var identity: pthread_t?
    private var status: Int32 = -1

    init() {
        semaphore = .allocate(capacity: 1)
        semaphore.initialize(to: sem_t())
        sem_init(semaphore, 0, 0)
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    func begin() {
        let opened = open("/proc/thread-self/stat", O_RDONLY | O_CLOEXEC)
        guardian.withLock {
            identity = pthread_self()
            status = opened
        }
    }

    func end() {
        let opened = guardian.withLock {
            defer { (identity, status) = (nil, -1) }
            return status
        }
        if opened >= 0 { close(opened) }
    }

    var isCurrent: Bool {
        guardian.withLock { identity.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
    }

    func wake() { sem_post(semaphore) }

    func wait(_ nanoseconds: Int) {
        var end = timespec()
        clock_gettime(CLOCK_REALTIME, &end)
        end.tv_nsec += nanoseconds
        if end.tv_nsec >= 1_000_000_000 {
            end.tv_nsec -= 1_000_000_000
            end.tv_sec += 1
        }
        sem_timedwait(semaphore, &end)
    }

    /// Whether the thread waits for something.
    ///
    /// The state is read twice, because it is briefly wrong after waking.
    var isAsleep: Bool {
        guard stateSaysAsleep else { return false }
        sched_yield()
        return stateSaysAsleep
    }

    private var stateSaysAsleep: Bool {
        guardian.withLock {
            guard status >= 0 else { return false }
            return withUnsafeTemporaryAllocation(byteCount: 128, alignment: 1) { buffer in
                let count = pread(status, buffer.baseAddress, buffer.count, 0)
                guard count > 0, let end = buffer[..<count].lastIndex(of: UInt8(ascii: ")")), end + 2 < count else {
                    return false
                }
                return buffer[end + 2] == UInt8(ascii: "S")
            }
        }
    }
}
