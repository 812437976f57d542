import Glibc
import Synchronization

/// Threads that get ready one by one and then start together.
package enum Crew {
    /// Runs a body on each of some threads, and waits for all of them.
    ///
    /// - Parameters:
    ///   - count: How many threads.
    ///   - start: Called when all are ready, just before they are let go.
    ///   - body: Gets the number of its thread, from 0 up, and what to call when it is ready: that returns when all are.
    /// - Returns: What the bodies returned, in the order of the threads.
    /// - Throws: The first error, in the order of the threads; one that failed before it was ready keeps nobody waiting.
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

/// What came of one thread's work.
private final class Outcome<Result: Sendable>: Sendable {
    let value = Mutex<Swift.Result<Result, any Error>?>(nil)
}

/// What a thread runs.
private final class Work: Sendable {
    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    /// Starts the thread; nil where the system has none.
    func start() -> pthread_t? {
        // The thread owns one reference and gives it back when it ends.
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

/// Lets nobody through before all are there and somebody opens it.
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
