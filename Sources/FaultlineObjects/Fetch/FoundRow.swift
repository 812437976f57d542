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
