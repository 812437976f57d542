internal import Dispatch
internal import Faultline
internal import FaultlineDisk
internal import Synchronization

/// Reads a stream from a thread that waits for it.
///
/// The waiting thread runs the jobs of the stream's task itself: tests that block may hold all threads of a shared pool.
final class StreamReader: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        /// Resumes the task, which waits to be asked for a batch.
        var question: CheckedContinuation<Void, Never>?
        var answer: Result<[ValueCopy]?, any Error>?
        var isEnding = false
        var hasEnded = false
    }

    private let state = Guarded(State())
    private let jobCount = DispatchSemaphore(value: 0)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.jobs.append(job) }
        jobCount.signal()
    }

    /// Begins; no batch is read before it is asked for.
    func begin(_ stream: ValueStream) {
        Task(executorPreference: self) { [self] in
            await read(stream)
            state.withLock { $0.hasEnded = true }
        }
    }

    /// The next batch; nil behind the last, however often it is asked for.
    func next() throws -> [ValueCopy]? {
        while true {
            let (answer, hasEnded) = state.withLock { ($0.answer.take(), $0.hasEnded) }
            if let answer { return try answer.get() }
            if hasEnded { return nil }
            runJob()
        }
    }

    /// Lets go of a stream that is not read to its end.
    func end() {
        state.withLock { $0.isEnding = true }
        while !state.withLock({ $0.hasEnded }) { runJob() }
    }

    private func read(_ stream: ValueStream) async {
        do {
            guard await isAsked() else { return }
            for try await batch in stream {
                answer(.success(batch))
                guard await isAsked() else { return }
            }
            answer(.success(nil))
        } catch { answer(.failure(error)) }
    }

    /// Waits to be asked for a batch; false if the stream is let go of.
    private func isAsked() async -> Bool {
        await withCheckedContinuation { question in state.withLock { $0.question = question } }
        return state.withLock { !$0.isEnding }
    }

    private func answer(_ result: Result<[ValueCopy]?, any Error>) { state.withLock { $0.answer = result } }

    /// Resumes the task if it waits to be asked, and runs its next job.
    private func runJob() {
        state.withLock { $0.question.take() }?.resume()
        jobCount.wait()
        state.withLock { $0.jobs.removeFirst() }.runSynchronously(on: asUnownedTaskExecutor())
    }
}
