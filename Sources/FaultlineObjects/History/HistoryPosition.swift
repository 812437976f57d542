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
    /// The sequence number in the log of the transaction that the token names; 0 if it names none of this store.
    ///
    /// - Throws: `SwiftDataError.historyTokenExpired` if the history no longer has the transaction.
    package func sequence(in log: Log) throws -> UInt64 {
        let (high, low) = log.storeID
        let position = position(in: IdentifierText.text(high: high, low: low))
        let snapshot = log.snapshot()
        try position.check(in: snapshot)
        return try snapshot.historyMoment(of: position.number)?.sequence ?? 0
    }
}
