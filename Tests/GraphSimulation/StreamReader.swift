internal import Dispatch
internal import Faultline
internal import FaultlineDisk
internal import Synchronization

/// Reads a stream from a thread that waits for it.
///
/// Its task runs on a queue of its own: the threads that all tasks share may all be waiting.
final class StreamReader: TaskExecutor {
    private let queue = DispatchQueue(label: "graph.stream")
    private let asked = DispatchSemaphore(value: 0)
    private let done = DispatchSemaphore(value: 0)
    private let received = Guarded<Result<[ValueCopy]?, any Error>>(.success(nil))
    private let hasEnded = Atomic(false)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    /// Begins; no batch is read before it is asked for.
    func begin(_ stream: ValueStream) {
        Task(executorPreference: self) { [self] in
            waitForQuestion()
            do {
                for try await batch in stream {
                    answer(.success(batch))
                    waitForQuestion()
                    if hasEnded.load(ordering: .acquiring) { return }
                }
                answer(.success(nil))
            } catch { answer(.failure(error)) }
        }
    }

    private func waitForQuestion() { asked.wait() }

    private func answer(_ result: Result<[ValueCopy]?, any Error>) {
        received.withLock { $0 = result }
        done.signal()
    }

    /// The next batch; nil behind the last.
    func next() throws -> [ValueCopy]? {
        asked.signal()
        done.wait()
        return try received.withLock { $0 }.get()
    }

    /// Lets go of a stream that is not read to its end.
    func end() {
        hasEnded.store(true, ordering: .releasing)
        asked.signal()
    }
}
