import FaultlineDisk
import Glibc

/// Lets one of two threads run at a time, and hands over between them at the disk's calls as an order says.
///
/// A thread that is to run may find a lock that the other one holds: it sleeps, the other goes on in its place, and its
/// own step ends when it gets the lock. The kernel knows who sleeps, so nothing is decided by how long something takes.
// Safe because what varies is guarded by the lock.
final class StepSchedule: @unchecked Sendable {
    /// How long a thread waits before it looks whether the other one sleeps, in nanoseconds.
    private static let patience = 300_000

    private let guardian = EngineLock()
    /// Whose step comes next, one entry a step.
    private let order: [UInt8]
    /// How many calls of each thread make a step.
    private let strides: [Int]
    private let threads: [SteppedThread]
    private var position = 1
    /// Who runs.
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

    /// How often a step had to wait for a lock that the other thread held.
    var waitCount: Int { guardian.withLock { waits } }

    /// Calls of the disk that each thread made.
    var callCounts: [Int] { guardian.withLock { calls } }

    /// Runs `body` as one of the two.
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

    /// To be called before each call of the disk.
    func meet() {
        guard let thread = threads.firstIndex(where: { $0.isCurrent }) else { return }
        let isStep = guardian.withLock {
            calls[thread] += 1
            return calls[thread] % strides[thread] == 0
        }
        if isStep { pass(thread, isStart: false) }
    }

    /// Ends a step, and waits for the turn of the next one.
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

    /// Goes on in the place of a thread that sleeps.
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
        // What is left of its calls belongs to its last step.
        token = thread
    }
}

/// One of the threads: wakes it, and knows whether it sleeps.
// Safe because it is begun and ended by the thread itself, and a stale answer costs a look more.
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

    /// Whether the thread waits for something; looked at twice, because one that was just woken says so for a moment.
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
