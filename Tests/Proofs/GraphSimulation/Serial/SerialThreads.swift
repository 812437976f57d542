internal import Dispatch
internal import Foundation
internal import FaultlineDisk
internal import Synchronization

/// A life's workers, each on its own thread, and their results.
///
/// `DispatchQueue.concurrentPerform` cannot be used: inside another call of it, as when many lives run side by side,
/// its iterations run one after another.
final class SerialThreads: Sendable {
    private let results: Guarded<(events: [[SerialEvent]], failure: SerialFailure?)>

    /// - Parameter events: The events before the threads began.
    init(_ events: [SerialEvent]) { results = Guarded(([events], nil)) }

    var events: [[SerialEvent]] { results.withLock { $0.events } }

    /// The first error on any thread.
    var failure: SerialFailure? { results.withLock { $0.failure } }

    /// Runs `body` on the given number of threads at once, numbered from 1, and waits for them.
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
