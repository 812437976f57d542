import FaultlineDisk
import Synchronization

/// The text on the store's health, which is made anew in the background when it is old.
// Safe because mutable state is guarded.
final class HealthText: @unchecked Sendable {
    private static let age = Duration.seconds(10)

    private struct State {
        var text: String?
        var made = ContinuousClock.now
        var isRunning = false
    }

    private let diagnose: @Sendable () -> String
    private let state = Guarded(State())

    init(_ diagnose: @escaping @Sendable () -> String) { self.diagnose = diagnose }

    /// The newest text; the first call waits for it.
    func current() -> String {
        let (text, begins) = state.withLock { state -> (String?, Bool) in
            let isOld = state.text != nil && state.made.duration(to: .now) > Self.age && !state.isRunning
            if isOld { state.isRunning = true }
            return (state.text, isOld)
        }
        if begins {
            // Without a thread the next call tries again.
            let thread = SystemThread { self.make() }
            if let thread { thread.detach() } else { state.withLock { $0.isRunning = false } }
        }
        return text ?? make()
    }

    @discardableResult
    private func make() -> String {
        let text = diagnose()
        state.withLock { $0 = State(text: text, made: .now, isRunning: false) }
        return text
    }
}
