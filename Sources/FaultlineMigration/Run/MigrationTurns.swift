internal import FaultlineDisk
internal import FaultlineLog
internal import Synchronization

/// Lets those who open one store in this process migrate it one after the other: the second finds what the first has
/// done.
final class MigrationTurns: Sendable {
    static let shared = MigrationTurns()

    /// Held while a store is brought to a schema.
    final class Turn: Sendable {
        private let lock = EngineLock()

        func take() { lock.lock() }
        func giveUp() { lock.unlock() }
    }

    private struct WeakTurn {
        weak var turn: Turn?
    }

    private let turns = Mutex<[ObjectIdentifier: WeakTurn]>([:])

    /// The turn of a log; it lasts as long as somebody holds it.
    func turn(of log: Log) -> Turn {
        turns.withLock { turns in
            turns = turns.filter { $0.value.turn != nil }
            if let turn = turns[ObjectIdentifier(log)]?.turn { return turn }
            let turn = Turn()
            turns[ObjectIdentifier(log)] = WeakTurn(turn: turn)
            return turn
        }
    }
}
