import FaultlineDisk
import Glibc

/// Delivers events to an observer on a thread that exists while there are events.
///
/// Code that adds an event holds locks of the log, so the observer, which is foreign code, is never called there.
/// Events are rare (a checkpoint every 32 MiB of log), so a thread for each burst costs less than one that waits.
///
/// Concurrency: guarded by a mutex, which is not held while the observer is called.
// Safe because mutable state is guarded by the mutex.
final class EventQueue: @unchecked Sendable {
    private static let waitingCountMax = 1_024

    private let observer: any LogObserver
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let isIdle: UnsafeMutablePointer<pthread_cond_t>
    private var waiting: [LogEvent] = []
    private var lostCount = 0
    private var isDelivering = false
    /// The thread that now calls the observer.
    private var deliverer: pthread_t?

    init(_ observer: any LogObserver) {
        self.observer = observer
        mutex = .allocate(capacity: 1)
        isIdle = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(isIdle, nil)
    }

    deinit {
        pthread_cond_destroy(isIdle)
        pthread_mutex_destroy(mutex)
        isIdle.deallocate()
        mutex.deallocate()
    }

    /// Appends an event; returns at once.
    func add(_ event: LogEvent) {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        if waiting.count < Self.waitingCountMax { waiting.append(event) } else { lostCount += 1 }
        if !isDelivering { isDelivering = start() }
    }

    /// Waits until all events are delivered; returns at once if the observer itself calls it.
    func drain() {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        if let deliverer, pthread_equal(deliverer, pthread_self()) != 0 { return }
        while isDelivering { pthread_cond_wait(isIdle, mutex) }
    }

    /// Starts the thread; if that fails, the next event tries again.
    private func start() -> Bool {
        guard let thread = SystemThread({ self.deliver() }) else { return false }
        thread.detach()
        return true
    }

    private func deliver() {
        while let events = take() {
            for event in events { observer.observe(event) }
        }
    }

    /// Removes and returns the waiting events; if there are none, returns nil and ends the delivery.
    private func take() -> [LogEvent]? {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        var events = waiting
        if lostCount > 0 { events.append(.eventsLost(count: lostCount)) }
        waiting.removeAll()
        lostCount = 0
        isDelivering = !events.isEmpty
        deliverer = isDelivering ? pthread_self() : nil
        if !isDelivering { pthread_cond_broadcast(isIdle) }
        return isDelivering ? events : nil
    }
}
