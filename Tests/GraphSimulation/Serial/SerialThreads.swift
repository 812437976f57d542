internal import Dispatch
internal import Foundation
internal import Synchronization

/// Threads of their own for the workers of a life, and their results.
///
/// `DispatchQueue.concurrentPerform` is no way to have them: inside of another one, as where many lives run side by side,
/// it does one iteration after the other.
final class SerialThreads: Sendable {
    private let results: Mutex<(events: [[SerialEvent]], failure: SerialFailure?)>

    /// - Parameter events: Those from before the threads.
    init(_ events: [SerialEvent]) { results = Mutex(([events], nil)) }

    var events: [[SerialEvent]] { results.withLock { $0.events } }

    /// The first error that a thread met.
    var failure: SerialFailure? { results.withLock { $0.failure } }

    /// Runs `body` on as many threads at once, numbered from 1 on, and waits for them.
    func run(_ count: Int, _ body: @escaping @Sendable (Int) -> ([SerialEvent], SerialFailure?)) {
        let group = DispatchGroup()
        for thread in 1...count {
            group.enter()
            Thread { [self] in
                let (events, failure) = body(thread)
                results.withLock {
                    $0.events.append(events)
                    $0.failure = $0.failure ?? failure
                }
                group.leave()
            }.start()
        }
        group.wait()
    }
}
