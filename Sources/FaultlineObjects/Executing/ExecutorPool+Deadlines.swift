internal import Dispatch
internal import FaultlineDisk
internal import Synchronization

// Calls that have waited too long.

extension ExecutorPool {
    /// The least time between two searches for calls that have waited too long.
    private static let alarmGap = Duration.milliseconds(5)

    func setAlarm(_ alarm: ContinuousClock.Instant) {
        let (seconds, attoseconds) = max(alarm - .now, .zero).components
        let delay = Double(seconds) + Double(attoseconds) / 1e18
        DispatchQueue.global().asyncAfter(deadline: .now() + delay) { [weak self] in
            self?.refuseLate(alarm)
        }
    }

    /// Refuses the calls that have waited too long; does nothing if another alarm was set since.
    private func refuseLate(_ alarm: ContinuousClock.Instant) {
        let (next, jobs) = state.withLock { state -> (ContinuousClock.Instant?, [CallJob]) in
            guard state.alarm == alarm else { return (nil, []) }
            let now = ContinuousClock.now
            var late: [PoolCall] = []
            var next: ContinuousClock.Instant?
            state.queue.forEach { call in
                guard let deadline = call.deadline else { return }
                if deadline <= now { late.append(call) } else { next = min(next ?? deadline, deadline) }
            }
            let jobs = late.compactMap { Self.refuse($0, Self.busy($0, state), &state) }
            state.alarm = next.map { max($0, now + Self.alarmGap) }
            return (state.alarm, jobs)
        }
        Self.runRefused(jobs)
        if let next { setAlarm(next) }
    }

    static func busy(_ call: PoolCall, _ state: borrowing State) -> StorageError {
        StorageError(
            busy: call.longestWait ?? .zero, underWay: state.underWay, waiting: state.queue.count - 1)
    }
}
