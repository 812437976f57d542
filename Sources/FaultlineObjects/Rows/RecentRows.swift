internal import FaultlineLog

/// The rows that single faults of one entity's objects loaded last, by number.
///
/// An object without references is freed at once, its row only when the memory is needed: code that goes from many
/// objects to few, `employee.department?.name`, would otherwise read the same few rows again and again. The table has
/// 256 entries; each holds the last number that maps to it, so that consecutive numbers do not replace each other. The
/// caller checks that a row found here is still in memory and still the newest.
struct RecentRows {
    private static let count = 256
    private var entries: [(number: RecordID, row: RowReference)] = []
    private var isWanted = false

    /// The row of an object; `.none` if it is not known.
    @inline(__always)
    func row(of number: RecordID) -> RowReference {
        guard !entries.isEmpty else { return .none }
        let entry = entries[Self.place(of: number)]
        return entry.number == number ? entry.row : .none
    }

    /// Records a row that a fault has loaded.
    ///
    /// The first is not recorded: a context that loads one object of an entity needs no table.
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
