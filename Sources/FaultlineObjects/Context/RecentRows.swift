internal import FaultlineLog

/// Where the rows lie that single faults of one entity's objects loaded last, by number.
///
/// An object that nobody holds goes at once, its row only when the memory is needed: code that walks from many objects
/// to few, `employee.department?.name`, would read the same few rows again and again. A table of 256 places, each taken
/// by the last number that falls on it, so that numbers that follow each other do not drive each other out. Whoever
/// finds a row here checks that it is still in memory and still the newest.
struct RecentRows {
    private static let count = 256
    private var entries: [(number: RecordID, row: RowReference)] = []
    private var isWanted = false

    /// The place of an object's row; `.none` if it is not known.
    @inline(__always)
    func row(of number: RecordID) -> RowReference {
        guard !entries.isEmpty else { return .none }
        let entry = entries[Self.place(of: number)]
        return entry.number == number ? entry.row : .none
    }

    /// Notes a row that a fault has loaded.
    ///
    /// The first is not noted: a context that loads one object of an entity needs no table.
    mutating func note(_ number: RecordID, _ row: RowReference) {
        if entries.isEmpty {
            guard isWanted else { return isWanted = true }
            entries = Array(repeating: (0, .none), count: Self.count)
        }
        entries[Self.place(of: number)] = (number, row)
    }

    @inline(__always)
    private static func place(of number: RecordID) -> Int { Int(truncatingIfNeeded: number) & (count - 1) }
}
