internal import FaultlineLog

/// The rows that single faults of one entity's objects loaded last, by number.
///
/// An object without references is freed at once, its row only when the memory is needed: code that goes from many
/// objects to few, `employee.department?.name`, would otherwise read the same few rows again and again. The table has
/// 256 entries; each holds the last number that maps to it, so that consecutive numbers do not replace each other. The
/// caller checks that a row found here is still in memory and still the newest.
struct RecentRows: ~Copyable {
    private typealias Entry = (number: RecordID, row: RowReference)

    private static let count = 256
    private var entries: UnsafeMutablePointer<Entry>?
    private var isWanted = false

    deinit { entries?.deallocate() }

    /// The row of an object; `.none` if it is not known.
    @inline(__always)
    func row(of number: RecordID) -> RowReference {
        guard let entries else { return .none }
        let entry = entries[Self.place(of: number)]
        return entry.number == number ? entry.row : .none
    }

    /// Records a row that a fault has loaded.
    ///
    /// The first is not recorded: a context that loads one object of an entity needs no table.
    @inline(__always)
    mutating func note(_ number: RecordID, _ row: RowReference) {
        guard let entries else { return noteFirst(number, row) }
        entries[Self.place(of: number)] = (number, row)
    }

    @inline(never)
    private mutating func noteFirst(_ number: RecordID, _ row: RowReference) {
        guard isWanted else { return isWanted = true }
        let made = UnsafeMutablePointer<Entry>.allocate(capacity: Self.count)
        made.initialize(repeating: (0, .none), count: Self.count)
        made[Self.place(of: number)] = (number, row)
        entries = made
    }

    @inline(__always)
    private static func place(of number: RecordID) -> Int { Int(truncatingIfNeeded: number) & (count - 1) }
}
