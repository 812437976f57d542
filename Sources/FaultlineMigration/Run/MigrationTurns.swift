internal import FaultlineDisk
internal import FaultlineLog
internal import Glibc
internal import Synchronization

/// Serialises the migrations of one store by several threads of this process: the second finds the result of the first.
final class MigrationTurns: Sendable {
    static let shared = MigrationTurns()

    /// The lock of a store's migration.
    final class Turn: Sendable {
        private let lock = EngineLock()
        /// The threads that work for the holder, its own first.
        private let threads = Guarded<[UInt]>([])
        private let online = Atomic<Bool>(false)

        /// Whether the holder migrates online: the schema in force may be opened meanwhile.
        var isOnline: Bool {
            get { online.load(ordering: .acquiring) }
            set { online.store(newValue, ordering: .releasing) }
        }

        /// Waits for the turn.
        ///
        /// - Throws: `stageFailed` if this thread holds it, or works for its holder: it would wait for itself.
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

        /// Calls `body` for the holder on another thread.
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

    /// The turn of a log; it lives as long as it is referenced.
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
