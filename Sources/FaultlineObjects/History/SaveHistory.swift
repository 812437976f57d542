internal import FaultlineLog
internal import FaultlineStore
internal import Foundation

/// Writes the saves of a context into the store's history.
struct SaveHistory {
    /// Whether saves are recorded.
    let isRecorded: Bool
    /// The name under which they are recorded.
    var author: String?
    private var writer: HistoryWriter?
    private var knownEditor: UUID?

    /// The identity of the context; made when it is first asked for.
    var editorID: UUID {
        mutating get {
            let editor = knownEditor ?? UUID()
            knownEditor = editor
            return editor
        }
    }

    /// Becomes the history of another state of the same context.
    mutating func join(_ editor: UUID) { knownEditor = editor }

    init(isRecorded: Bool) { self.isRecorded = isRecorded }

    /// Forgets who has saved, for another user of the context.
    mutating func renew() {
        author = nil
        knownEditor = nil
    }

    /// Makes sure that the store records that it has a history, before the writer's turn.
    func prepare(_ store: RowStore) throws {
        if isRecorded { try store.noteHistory() }
    }

    /// Begins to collect the changes of a transaction; nil if they do not go into the history.
    @inline(__always)
    mutating func begin(_ store: RowStore, in transaction: borrowing Transaction) -> HistoryWriter? {
        guard isRecorded else { return nil }
        return beginRecord(store, in: transaction)
    }

    private mutating func beginRecord(_ store: RowStore, in transaction: borrowing Transaction) -> HistoryWriter {
        let writer = writer ?? HistoryWriter(store)
        self.writer = writer
        writer.begin(author: author, in: transaction)
        return writer
    }
}
