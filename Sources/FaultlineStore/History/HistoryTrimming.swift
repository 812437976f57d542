package import FaultlineLog

/// Deletes transactions from the history, in transactions of bounded size.
package struct HistoryTrimming {
    /// The number of records deleted in one transaction.
    private static let batchCount = 4_096

    private let log: Log
    private var waiting: [ClosedRange<RecordID>] = []
    private var waitingCount = 0

    package init(log: Log) { self.log = log }

    /// Deletes the records of a transaction, now or by `finish`.
    package mutating func delete(_ transaction: StoredTransaction) throws {
        waiting.append(transaction.firstNumber...transaction.number)
        waitingCount += Int(clamping: transaction.number - transaction.firstNumber) + 1
        if waitingCount >= Self.batchCount { try finish() }
    }

    /// Deletes the waiting records.
    package mutating func finish() throws {
        guard !waiting.isEmpty else { return }
        let ranges = waiting
        _ = try log.write(author: nil) { transaction in
            for number in ranges.joined() where try !transaction.location(of: number, in: .history).isAbsent {
                try transaction.delete(number, in: .history)
            }
        }
        waiting.removeAll()
        waitingCount = 0
    }

    /// Deletes transactions older than a time, and those before the history's restart.
    ///
    /// The newest transaction stays, so that the token of an up-to-date reader does not expire.
    ///
    /// - Parameters:
    ///   - microseconds: Since 1970; nil for no time.
    ///   - shouldStop: Whether to leave the rest to a later call.
    /// - Throws: `LogError` if the history cannot be read, or the store cannot be written.
    package mutating func trim(before microseconds: UInt64?, shouldStop: () -> Bool = { false }) throws {
        let snapshot = log.snapshot()
        let newest = snapshot.nextID(of: .history) - 1
        guard newest > 0, snapshot.recordCount(of: .history) > 0 else { return }
        try dropForgotten(below: try HistoryStart.first(in: snapshot), snapshot, shouldStop)
        guard let microseconds else { return }
        try snapshot.forEachTransaction(after: 0) { transaction in
            guard transaction.microseconds < microseconds, transaction.number < newest else { return false }
            try delete(transaction)
            return !shouldStop()
        }
        try finish()
    }

    /// Deletes records that are no longer valid.
    private mutating func dropForgotten(
        below first: RecordID, _ snapshot: Snapshot, _ shouldStop: () -> Bool
    ) throws {
        guard first > 1 else { return }
        var numbers: [RecordID] = []
        func drop() throws {
            _ = try log.write(author: nil) { transaction in
                for number in numbers where try !transaction.location(of: number, in: .history).isAbsent {
                    try transaction.delete(number, in: .history)
                }
            }
            numbers.removeAll()
        }
        try snapshot.forEachPage(of: .history, from: 1) { firstID, entries in
            for entry in 0..<TablePage.entryCount {
                let number = firstID + RecordID(entry)
                if number >= first { break }
                if !Location(reading: entries + entry * Location.byteCount).isAbsent { numbers.append(number) }
            }
            if numbers.count >= Self.batchCount {
                try drop()
                if shouldStop() { return false }
            }
            return firstID < first
        }
        if !numbers.isEmpty { try drop() }
    }
}
