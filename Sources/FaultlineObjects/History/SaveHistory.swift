internal import FaultlineLog
internal import FaultlineStore

/// Writes the saves of a context into the store's history.
struct SaveHistory {
    /// Whether saves are recorded.
    let isRecorded: Bool
    /// The name under which they are recorded.
    var author: String?
    private var writer: HistoryWriter?

    init(isRecorded: Bool) { self.isRecorded = isRecorded }

    /// Begins the record of a save.
    mutating func begin(_ store: RowStore, in transaction: borrowing Transaction) -> HistoryWriter {
        let writer = writer ?? HistoryWriter(store)
        self.writer = writer
        writer.begin(author: author, in: transaction)
        return writer
    }
}
