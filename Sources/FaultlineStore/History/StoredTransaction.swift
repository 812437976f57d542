package import FaultlineLog

/// The changes of one transaction in the history: its bytes, checked.
package struct StoredTransaction: Sendable {
    /// The number of its last record in the history: ascending, never used twice.
    package let number: RecordID
    /// The number of its first record.
    package let firstNumber: RecordID
    package let sequence: UInt64
    /// Microseconds since 1970, never below those of an earlier transaction.
    package let microseconds: UInt64
    package let author: String?
    package let process: UInt64
    private let parts: [[UInt8]]

    /// Collects the records of one transaction.
    struct Collector {
        private(set) var head: HistoryPart?
        private var firstNumber: RecordID = 0
        private var lastNumber: RecordID = 0
        private var parts: [[UInt8]] = []

        /// Takes the next record.
        ///
        /// - Returns: The transaction, if the record was its last one.
        mutating func add(_ record: RecordView) throws -> StoredTransaction? {
            let part = try HistoryPart(record.row)
            if part.isFirst {
                guard head == nil else { throw HistoryPart.Fault(text: "comes within another transaction") }
                head = part
                firstNumber = record.id
                parts = []
            }
            // The rest of a transaction that is being deleted has no beginning.
            guard let head else { return nil }
            guard part.sequence == head.sequence, part.isFirst || record.id == lastNumber + 1 else {
                throw HistoryPart.Fault(text: "does not go on with its transaction")
            }
            lastNumber = record.id
            try part.forEachChange(record.row) { _ in }
            parts.append(Array(record.row))
            guard part.isLast else { return nil }
            self.head = nil
            return StoredTransaction(
                number: record.id, firstNumber: firstNumber, sequence: head.sequence, microseconds: head.microseconds,
                author: head.author, process: head.process, parts: parts)
        }
    }

    /// Calls `body` with each run of changed objects; an object may be in several.
    package func forEachChange(_ body: (HistoryPart.Change) throws -> Void) throws {
        for part in parts {
            try part.withUnsafeBytes { bytes in try HistoryPart(bytes).forEachChange(bytes, body) }
        }
    }
}

extension Snapshot {
    /// Calls `body` with the transactions of the history behind a number, in their order; it returns false to stop.
    ///
    /// - Parameters:
    ///   - number: The number of a transaction; 0 for all.
    ///   - body: Gets one transaction.
    /// - Returns: The number of records read.
    /// - Throws: `LogError` with file and offset for a record that does not verify, or does not decode; the error of
    ///   `body`.
    /// - Complexity: Reads no record before the first one.
    @discardableResult
    package func forEachTransaction(
        after number: RecordID, _ body: (StoredTransaction) throws -> Bool
    ) throws -> Int {
        guard number < Limits.recordIDMax else { return 0 }
        let start = max(number + 1, try HistoryStart.first(in: self))
        var collector = StoredTransaction.Collector()
        var count = 0
        try scan(.history, from: start, through: Limits.recordIDMax, readAhead: 64 << 10) { records in
            for record in records {
                count += 1
                let transaction: StoredTransaction?
                do { transaction = try collector.add(record) } catch let fault as HistoryPart.Fault {
                    throw damaged("Record \(record.id) of the history \(fault.text).", at: record.location)
                }
                if let transaction, try !body(transaction) { return false }
            }
            return true
        }
        return count
    }

    /// The fault of a record of the history by itself; nil if there is none.
    package func historyDamage(in record: RecordView) -> LogError? {
        do {
            try HistoryPart(record.row).forEachChange(record.row) { _ in }
            return nil
        } catch let fault as HistoryPart.Fault {
            return damaged("Record \(record.id) of the history \(fault.text).", at: record.location)
        } catch { return nil }
    }

    /// The time of a transaction, in microseconds since 1970; nil if the history no longer has it.
    package func historyTime(of number: RecordID) throws -> UInt64? { try historyMoment(of: number)?.microseconds }

    /// The sequence number of a transaction in the log, and its time, in microseconds since 1970; nil if the history no
    /// longer has it.
    package func historyMoment(of number: RecordID) throws -> (sequence: UInt64, microseconds: UInt64)? {
        guard number >= (try HistoryStart.first(in: self)), number <= Limits.recordIDMax else { return nil }
        var buffer = RecordBuffer()
        guard let record = try read(number, in: .history, into: &buffer) else { return nil }
        do {
            let part = try HistoryPart(record.row)
            return part.isLast ? (part.sequence, part.microseconds) : nil
        } catch { throw damaged("Record \(number) of the history \(error.text).", at: record.location) }
    }
}
