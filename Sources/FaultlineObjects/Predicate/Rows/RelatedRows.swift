internal import FaultlineLog
internal import FaultlineStore

/// Reads the rows of objects that a relationship leads to, one at a time.
final class RelatedRows {
    let cursor: RowCursor
    private let scope: RowScope
    private var window: RecordWindow

    init(_ cursor: RowCursor, _ scope: RowScope) {
        self.cursor = cursor
        self.scope = scope
        window = RecordWindow(scope.snapshot)
    }

    /// The same rows, read with a cursor of their own.
    var withOwnCursor: RelatedRows { RelatedRows(RowCursor(cursor.home, cursor.entity), scope) }

    /// Moves the cursor to the row of an object; false if it is no longer in the store.
    func move(to number: RecordID) throws -> Bool {
        if cursor.holds(number) { return true }
        cursor.leave()
        guard let record = try window.read(number, in: cursor.entity.table) else { return false }
        scope.context.tally.addRow()
        cursor.move(to: number, try scope.context.store.view(record, of: cursor.entity), record.layout)
        return true
    }
}
