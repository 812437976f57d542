import FaultlineDisk
import FaultlineLog
import Synchronization

/// Keeps the events of a log.
final class EventRecorder: LogObserver {
    let timesCommits: Bool
    private let kept = Guarded<(events: [LogEvent], commits: [UInt64], syncs: [UInt64])>(([], [], []))
    private let answer: @Sendable (LogEvent) -> Void

    init(timesCommits: Bool = false, answer: @escaping @Sendable (LogEvent) -> Void = { _ in }) {
        self.timesCommits = timesCommits
        self.answer = answer
    }

    func observe(_ event: LogEvent) {
        kept.withLock { $0.events.append(event) }
        answer(event)
    }

    func committed(nanoseconds: UInt64, syncs: [UInt64]) {
        kept.withLock {
            $0.commits.append(nanoseconds)
            $0.syncs += syncs
        }
    }

    var events: [LogEvent] { kept.withLock { $0.events } }
    var commits: [UInt64] { kept.withLock { $0.commits } }
    var syncs: [UInt64] { kept.withLock { $0.syncs } }

    /// The events by the names of their cases.
    var names: [String] { events.map { "\($0)".prefix { $0 != "(" }.description } }
}

/// A clock that advances by a microsecond at each reading, and counts the readings.
final class CountedClock: Sendable {
    private let count = Atomic<UInt64>(0)

    var readCount: UInt64 { count.load(ordering: .relaxed) }

    var clock: Clock {
        Clock(
            wallNanoseconds: { 5 },
            monotonicNanoseconds: { self.count.wrappingAdd(1, ordering: .relaxed).newValue * 1_000 })
    }
}
