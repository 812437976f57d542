package import Dispatch
import FaultlineDisk
import Synchronization

/// Results that take longer than a page may wait: each is made on a thread of its own.
///
/// A page whose result is not there yet says so, and loads itself again; the result is kept for it.
// Safe because mutable state is guarded.
package final class Searches<Value: Sendable>: @unchecked Sendable {
    /// The state of a search after the wait of a page.
    package enum Outcome {
        case done(Result<Value, any Error>)
        /// It goes on, and began so long ago.
        case running(Duration)
        /// As many others are running as may, or the system has no thread for it.
        case refused
    }

    /// One search.
    private final class Search: Sendable {
        /// A result, and the time at which it was there.
        struct Finished {
            let result: Result<Value, any Error>
            let time = ContinuousClock.now
        }

        let begin = ContinuousClock.now
        private let group = DispatchGroup()
        private let stored = Guarded<Finished?>(nil)

        init() { group.enter() }

        var finished: Finished? { stored.withLock { $0 } }

        func finish(_ result: Result<Value, any Error>) {
            stored.withLock { $0 = Finished(result: result) }
            group.leave()
        }

        func wait(for patience: DispatchTimeInterval) { _ = group.wait(timeout: .now() + patience) }
    }

    /// Searches that run at a time: a browser that is closed does not end its own.
    package let runningMax = 4
    /// A result that is not asked for again is dropped after this time, so that no later page gets it.
    private let age = Duration.seconds(5)
    private let patience: DispatchTimeInterval
    private let searches = Guarded<[String: Search]>([:])

    /// - Parameter patience: The time that a page waits for its result.
    package init(patience: DispatchTimeInterval) { self.patience = patience }

    /// Waits for the result of a search, which is begun if it is not running.
    ///
    /// - Parameters:
    ///   - key: The search: a page with the same key waits for the same one.
    ///   - make: Makes the result, on another thread.
    /// - Returns: The result, which is forgotten with that; or the state.
    package func outcome(_ key: String, _ make: @escaping @Sendable () throws -> Value) -> Outcome {
        let found = searches.withLock { searches -> (search: Search, begins: Bool)? in
            searches = searches.filter { isKept($0.value) }
            if let search = searches[key] { return (search, false) }
            guard searches.values.count(where: { $0.finished == nil }) < runningMax else { return nil }
            let search = Search()
            searches[key] = search
            return (search, true)
        }
        guard let (search, begins) = found else { return .refused }
        if begins {
            guard let thread = SystemThread({ search.finish(Result { try make() }) }) else {
                forget(search, key)
                return .refused
            }
            thread.detach()
        }
        search.wait(for: patience)
        guard let finished = search.finished else { return .running(search.begin.duration(to: .now)) }
        forget(search, key)
        return .done(finished.result)
    }

    private func isKept(_ search: Search) -> Bool {
        search.finished.map { $0.time.duration(to: .now) < age } ?? true
    }

    private func forget(_ search: Search, _ key: String) {
        searches.withLock { if $0[key] === search { $0[key] = nil } }
    }
}
