internal import FaultlineDisk
internal import FaultlineLog
internal import Glibc
internal import Synchronization

/// Lets those who open one store in this process migrate it one after the other: the second finds what the first has
/// done.
final class MigrationTurns: Sendable {
    static let shared = MigrationTurns()

    /// Held while a store is brought to a schema.
    final class Turn: Sendable {
        private let lock = EngineLock()
        /// The thread that has it; 0 for none.
        private let thread = Atomic<UInt>(0)

        /// Waits for it.
        ///
        /// - Throws: `stageFailed` if this very thread has it: it would wait for itself.
        func take() throws {
            let own = UInt(pthread_self())
            guard thread.load(ordering: .relaxed) != own else {
                throw MigrationError(
                    .stageFailed,
                    "A closure of a migration stage opens the store that is being migrated. Use context.container there, or open the store when the migration is done."
                )
            }
            lock.lock()
            thread.store(own, ordering: .relaxed)
        }

        func giveUp() {
            thread.store(0, ordering: .relaxed)
            lock.unlock()
        }
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
