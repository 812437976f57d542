import CrashSimulation

/// The newest acknowledged and begun transaction of each writer of a process.
struct WriterNumbers {
    private(set) var acknowledged = [UInt64](repeating: 0, count: KillModel.writerCount)
    /// The newest transaction of each writer that may have begun.
    private(set) var begun = [UInt64](repeating: 0, count: KillModel.writerCount)

    /// A process is about to start: each of its writers may begin one more transaction before the first message.
    mutating func willStart() {
        for writer in begun.indices { begun[writer] += 1 }
    }

    /// Takes the acknowledgement of a transaction of a store with the seed.
    mutating func acknowledge(writer: Int, _ number: UInt64, digest: UInt64, seed: UInt64) throws {
        guard number > acknowledged[writer] else {
            throw CrashViolation(
                "writer \(writer) went on with transaction \(number), \(acknowledged[writer]) was there")
        }
        guard number <= begun[writer] else {
            throw CrashViolation("writer \(writer) had not begun transaction \(number)")
        }
        let changes = KillChange.all(seed: seed, writer: writer, number: number)
        guard KillChange.digest(changes) == digest else {
            throw CrashViolation("writer \(writer) wrote something else as transaction \(number)")
        }
        acknowledged[writer] = number
        begun[writer] = number + 1
    }

    /// The store of an ended process has these transactions: writers go on behind them.
    mutating func settle(_ found: [UInt64]) {
        acknowledged = found
        begun = found
    }

    /// Refuses a store that lacks an acknowledged transaction, or has one that was never begun.
    func check(_ found: [UInt64], begun: [UInt64]) throws {
        for (writer, number) in found.enumerated() {
            guard number >= acknowledged[writer] else {
                throw CrashViolation(
                    "of writer \(writer) \(acknowledged[writer]) transactions were acknowledged, \(number) are found")
            }
            guard number <= begun[writer] else {
                throw CrashViolation("of writer \(writer) transaction \(number) was never begun")
            }
        }
    }
}
