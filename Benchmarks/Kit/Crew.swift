import Glibc
import Synchronization

/// Threads that get ready separately and then start together.
package enum Crew {
    /// Runs a body on each of some threads, and waits for all of them.
    ///
    /// - Parameters:
    ///   - count: The number of threads.
    ///   - start: Called when all are ready, just before they start.
    ///   - body: Gets the number of its thread, from 0 up, and a closure to call when it is ready, which returns when
    ///     all are.
    /// - Returns: The results of the bodies, in the order of the threads.
    /// - Throws: The first error, in the order of the threads; no thread waits for one that failed before it was ready.
    package static func run<Result: Sendable>(
        _ count: Int,
        start: () -> Void,
        body: @escaping @Sendable (_ thread: Int, _ ready: () -> Void) throws -> Result
    ) throws -> [Result] {
        let gate = Gate(count)
        let outcomes = (0..<count).map { _ in Outcome<Result>() }
        var handles: [pthread_t] = []
        for (thread, outcome) in outcomes.enumerated() {
            let work = Work {
                var isReady = false
                let result = Swift.Result {
                    try body(thread) {
                        isReady = true
                        gate.pass()
                    }
                }
                outcome.value.withLock { $0 = result }
                if !isReady { gate.giveUp() }
            }
            if let handle = work.start() {
                handles.append(handle)
            } else {
                gate.giveUp()
            }
        }
        gate.waitForAll()
        start()
        gate.open()
        for handle in handles { pthread_join(handle, nil) }
        return try outcomes.map { outcome in
            guard let result = outcome.value.withLock({ $0 }) else {
                throw BenchmarkError(.storage, "there is no thread to be had")
            }
            return try result.get()
        }
    }
}

/// The result of one thread's work.
private final class Outcome<Result: Sendable>: Sendable {
    let value = Mutex<Swift.Result<Result, any Error>?>(nil)
}

/// The work of a thread.
private final class Work: Sendable {
    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    /// Starts the thread; nil if the system refuses one.
    func start() -> pthread_t? {
        // The thread owns one reference and releases it when it ends.
        let context = Unmanaged.passRetained(self).toOpaque()
        var handle = pthread_t()
        let status = pthread_create(
            &handle,
            nil,
            { context in
                if let context { Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body() }
                return nil
            },
            context
        )
        guard status != 0 else { return handle }
        Unmanaged<Work>.fromOpaque(context).release()
        return nil
    }
}

/// A gate that opens after all threads have arrived and `open` was called.
private final class Gate: Sendable {
    private let missingCount: Atomic<Int>
    private let isOpen = Atomic<Bool>(false)

    init(_ count: Int) { missingCount = Atomic(count) }

    func pass() {
        missingCount.subtract(1, ordering: .acquiringAndReleasing)
        while !isOpen.load(ordering: .acquiring) { usleep(100) }
    }

    func giveUp() { missingCount.subtract(1, ordering: .acquiringAndReleasing) }

    func waitForAll() {
        while missingCount.load(ordering: .acquiring) > 0 { usleep(100) }
    }

    func open() { isOpen.store(true, ordering: .releasing) }
}
