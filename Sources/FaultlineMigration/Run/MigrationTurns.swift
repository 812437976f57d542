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
        /// The threads that work for whoever has it, its own first.
        private let threads = Guarded<[UInt]>([])

        /// Waits for it.
        ///
        /// - Throws: `stageFailed` if this thread has it, or works for the one that does: it would wait for itself.
        func take() throws {
            let own = UInt(pthread_self())
            guard threads.withLock({ !$0.contains(own) }) else {
                throw MigrationError(
                    .stageFailed,
                    "A closure of a migration stage opens the store that is being migrated. Use context.container there, or open the store when the migration is done."
                )
            }
            lock.lock()
            threads.withLock { $0 = [own] }
        }

        func giveUp() {
            threads.withLock { $0 = [] }
            lock.unlock()
        }

        /// Calls `body` on another thread than the one that took the turn, and for it.
        func share(_ body: () -> Void) {
            let own = UInt(pthread_self())
            threads.withLock { $0.append(own) }
            defer { threads.withLock { threads in threads.removeAll { $0 == own } } }
            body()
        }
    }

    private struct WeakTurn {
        weak var turn: Turn?
    }

    private let turns = Guarded<[ObjectIdentifier: WeakTurn]>([:])

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
