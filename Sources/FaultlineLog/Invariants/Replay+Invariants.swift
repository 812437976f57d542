import FaultlineDisk

/// Checks a replay's invariants after each transaction, if the options ask for it.
struct ReplayWatch {
    private let tell: @Sendable (BrokenInvariant) -> Void
    /// The transaction that was begun last; nil before the first.
    private(set) var record: TransactionRecord?
    /// Objects of all tables before it.
    private(set) var objectCount = 0
    /// Whether it dropped a table, whose objects its record does not count.
    var dropsTable = false
    /// The end of the log that a sync is known to have covered.
    var settledEnd: UInt64 = 0

    /// Nil if the options ask for no checks.
    init?(_ options: LogOptions) {
        guard let tell = options.invariantWatch else { return nil }
        self.tell = tell
    }

    /// Records the state before a transaction.
    mutating func begin(_ record: TransactionRecord, _ tables: WorkingTables) {
        self.record = record
        objectCount = Self.objectCount(of: tables)
        dropsTable = false
    }

    func check(_ replay: borrowing Replay) {
        do throws(BrokenInvariant) { try replay.checkInvariants() } catch { tell(error) }
    }

    fileprivate static func objectCount(of tables: WorkingTables) -> Int {
        tables.set.all.reduce(0) { $0 + $1.recordCount }
    }
}

extension Replay {
    /// Checks the invariants that the type's comment lists, where no transaction is being applied.
    ///
    /// - Complexity: O(tables + indexes + unsettled transactions).
    func checkInvariants() throws(BrokenInvariant) {
        let ends = zip(unsettled, unsettled.dropFirst()).allSatisfy {
            $0.end < $1.end && $0.record.sequence + 1 == $1.record.sequence
        }
        let isNewest = unsettled.last.map { $0.record.sequence == sequence } ?? true
        guard ends, isNewest, unsettled.allSatisfy({ $0.end > watch?.settledEnd ?? 0 }) else {
            throw broken(
                "`unsettled` names the transactions of the last segment that no sync is known to have covered",
                "it names \(unsettled.map(\.record.sequence)), and a sync has covered the bytes up to "
                    + "\(watch?.settledEnd ?? 0)")
        }
        // Without the log before them, only the versions of objects are compared.
        guard newest == nil, let record = watch?.record else { return }
        guard tables.sequence == sequence, record.sequence == sequence,
            memtables.states.values.allSatisfy({ $0.active.lastSequence <= sequence })
        else {
            throw broken(
                "tables and memtables hold whole transactions only, in the order of their sequence numbers",
                "tables are at \(tables.sequence), the last record is of \(record.sequence)")
        }
        let count = ReplayWatch.objectCount(of: tables)
        let expected = (watch?.objectCount ?? 0) + Int(record.firstVersionCount) - Int(record.deleteCount)
        guard watch?.dropsTable == true || count == expected else {
            throw broken(
                "tables and memtables hold whole transactions only, in the order of their sequence numbers",
                "\(count) objects are there, and \(expected) were written")
        }
    }

    private func broken(_ rule: String, _ detail: String) -> BrokenInvariant {
        BrokenInvariant("Replay", rule, "behind transaction \(sequence): \(detail)")
    }
}
