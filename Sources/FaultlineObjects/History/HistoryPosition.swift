package import FaultlineLog
internal import FaultlineStore

/// A position in the history of one store: after one transaction.
struct HistoryPosition: Equatable {
    /// The number of the transaction; 0 before the first one.
    let number: RecordID
    /// When it was written, in microseconds since 1970.
    let microseconds: UInt64

    /// - Throws: `SwiftDataError.historyTokenExpired` if the history no longer has the transaction.
    func check(in snapshot: Snapshot) throws {
        guard number != 0, try snapshot.historyTime(of: number) != microseconds else { return }
        throw SwiftDataError.historyTokenExpired.explained(
            "The history no longer has transaction \(number), which the token names: it was deleted, a migration let the history begin anew, or the store is another state of itself. Read the stored objects, and begin with the newest token."
        )
    }

    /// The position after the newest transaction of a state; nil if the history no longer has that.
    static func newest(in snapshot: Snapshot) throws -> HistoryPosition? {
        let number = snapshot.nextID(of: .history) - 1
        guard number > 0 else { return HistoryPosition(number: 0, microseconds: 0) }
        return try snapshot.historyTime(of: number).map { HistoryPosition(number: number, microseconds: $0) }
    }
}

extension DefaultHistoryToken {
    /// The position in a store; the beginning if the token names another store.
    func position(in store: String) -> HistoryPosition {
        HistoryPosition(number: RecordID(clamping: tokenValue?[store] ?? 0), microseconds: times[store] ?? 0)
    }
}

extension DefaultHistoryToken {
    /// The sequence number in the log of the transaction that the token names.
    ///
    /// - Throws: `SwiftDataError.historyTokenExpired` if it names none, or the history no longer has it.
    package func sequence(in log: Log) throws -> UInt64 {
        let position = position(in: log)
        let snapshot = log.snapshot()
        guard position.number > 0 else {
            throw SwiftDataError.historyTokenExpired.explained(
                "The token names no save of this store: it is one of another store, or of a store without a recorded save."
            )
        }
        try position.check(in: snapshot)
        guard let moment = try snapshot.historyMoment(of: position.number) else {
            throw SwiftDataError.historyTokenExpired.explained("The history no longer has the save of the token.")
        }
        return moment.sequence
    }

    /// Refuses a state whose newest save is not that of the token: after a salvage or a rollback, the log has another
    /// transaction with its number.
    ///
    /// - Throws: `SwiftDataError.historyTokenExpired`.
    package func checkIsNewest(in log: Log) throws {
        guard try HistoryPosition.newest(in: log.snapshot()) == position(in: log) else {
            throw SwiftDataError.historyTokenExpired.explained(
                "The log has another transaction with the number of the token's: the store is another state of itself.")
        }
    }

    private func position(in log: Log) -> HistoryPosition {
        let (high, low) = log.storeID
        return position(in: IdentifierText.text(high: high, low: low))
    }
}
