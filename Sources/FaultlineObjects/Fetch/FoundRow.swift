internal import FaultlineDisk
internal import FaultlineLog
internal import FaultlineStore

/// A row that a query checks: of a record that was just read, or already in the context's memory.
struct FoundRow {
    let number: RecordID
    let view: RowView
    /// The layout that the row was written in.
    let layout: UInt16
    let location: Location
    /// The row in the context's memory; `.none` for a row that is not.
    let reference: RowReference
    /// Whether it was looked up by its number: then its place in memory is worth recording.
    let isSingle: Bool

    /// A record that was read, with a view by its layout.
    @inline(__always)
    init(_ record: RecordView, _ view: RowView, isSingle: Bool) {
        number = record.id
        self.view = view
        layout = record.layout
        location = record.location
        reference = .none
        self.isSingle = isSingle
    }

    /// A row in memory.
    init(_ number: RecordID, _ row: UnsafeRawPointer, _ reference: RowReference) {
        self.number = number
        view = RowArena.view(row)
        layout = view.layoutNumber
        location = RowArena.location(row)
        self.reference = reference
        isSingle = true
    }
}

extension ContextCore {
    /// The newest row of an object: from memory if a look-up has left it there, else read into a buffer; nil if there
    /// is none.
    ///
    /// If objects are evaluated, which may load other rows, it must be read: a row in memory is certain to stay only
    /// until the next is loaded.
    func foundRow(
        _ number: RecordID, _ home: EntityHome, _ entity: EntityStorage, asksObjects: Bool,
        into buffer: inout RecordBuffer
    ) throws -> FoundRow? {
        let reference = asksObjects ? .none : home.recentRows.row(of: number)
        if reference != .none, let row = loadedRow(reference),
            RowArena.location(row) == (try snapshot.location(of: number, in: entity.table))
        {
            return FoundRow(number, row, reference)
        }
        guard let record = try snapshot.read(number, in: entity.table, into: &buffer) else { return nil }
        tally.addRow()
        return FoundRow(record, try store.view(record, of: entity), isSingle: true)
    }

    /// Keeps a row in memory and returns its place; a row that was looked up by its number is recorded.
    func keep(_ found: FoundRow, _ home: EntityHome) -> RowReference {
        if found.reference != .none { return found.reference }
        let reference = keep(found.view, at: found.location)
        if found.isSingle { home.recentRows.note(found.number, reference) }
        return reference
    }
}
