internal import FaultlineDisk
internal import FaultlineLog
internal import FaultlineStore

/// A row that a query looks at: of a record that was just read, or in the context's memory already.
struct FoundRow {
    let number: RecordID
    let view: RowView
    /// The layout that the row was written in.
    let layout: UInt16
    let location: Location
    /// Where the row is in the context's memory; `.none` for one that is not.
    let reference: RowReference
    /// Whether it was looked up by its number: then it is worth remembering where it is kept.
    let isSingle: Bool

    /// A record that was read, viewed by its layout.
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
    /// The newest row of an object: from memory if a look-up has left it there, else read into a buffer; nil if there is
    /// none.
    ///
    /// Where objects are asked about it, which may load other rows, it must be read: one in memory is certain to stay
    /// only until the next is loaded.
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

    /// Where a row is in memory, once it is there; one that was looked up by its number is remembered.
    func keep(_ found: FoundRow, _ home: EntityHome) -> RowReference {
        if found.reference != .none { return found.reference }
        let reference = keep(found.view, at: found.location)
        if found.isSingle { home.recentRows.note(found.number, reference) }
        return reference
    }
}
