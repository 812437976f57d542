internal import CFaultline
package import FaultlineLog

/// The rows that single faults of one entity's objects loaded last, by number.
///
/// An object without references is freed at once, its row only when the memory is needed: code that asks for objects by
/// their identifiers, or goes from many objects to few, `employee.department?.name`, would otherwise read the same rows
/// again and again. Each entry holds the last number that maps to it, so that consecutive numbers do not replace each
/// other. The caller checks that a row found here is still in memory and still the newest.
///
/// The table begins with 256 entries, and doubles with the rows in memory: it takes at most an eighth of their bytes.
/// The bytes beyond the first 256 entries count in the engine's memory budget.
///
/// Concurrency: used under the context's lock, because another thread that needs memory may take the table away.
package struct RecentRows: ~Copyable {
    private typealias Entry = (number: RecordID, row: RowReference)

    private static let countMin = 256
    private static let countMax = 1 << 22
    private var entries: UnsafeMutablePointer<Entry>?
    private var count = 0
    /// Rows recorded since the table has its size.
    private var notedCount = 0
    private var isWanted = false

    package init() {}

    deinit { entries?.deallocate() }

    /// The row of an object; `.none` if it is not known.
    @inline(__always)
    package func row(of number: RecordID) -> RowReference {
        guard let entries else { return .none }
        let entry = entries[Self.place(of: number, count)]
        return entry.number == number ? entry.row : .none
    }

    /// Begins to load the entry of an object that is asked for next.
    @inline(__always)
    package func prefetch(_ number: RecordID) {
        if let entries { fl_prefetch(entries + Self.place(of: number, count)) }
    }

    /// Records a row that a fault has loaded.
    ///
    /// The first is not recorded: a context that loads one object of an entity needs no table.
    ///
    /// - Returns: Whether more rows than the table has entries were recorded: it is time to ask for `growth`.
    @inline(__always)
    package mutating func note(_ number: RecordID, _ row: RowReference) -> Bool {
        guard let entries else {
            noteFirst(number, row)
            return false
        }
        entries[Self.place(of: number, count)] = (number, row)
        notedCount &+= 1
        return notedCount > count
    }

    @inline(never)
    private mutating func noteFirst(_ number: RecordID, _ row: RowReference) {
        guard isWanted else { return isWanted = true }
        let made = Self.makeEntries(Self.countMin)
        made[Self.place(of: number, Self.countMin)] = (number, row)
        entries = made
        count = Self.countMin
        notedCount = 1
    }

    /// The bytes that count in the budget.
    package var byteCount: Int { Self.byteCount(count) }

    /// The bytes that twice as many entries would count in the budget beyond those of now, if the rows in memory are
    /// enough for so many; else nil, and the question need not be asked again soon.
    package mutating func growth(whereRowsTake rowByteCount: Int) -> Int? {
        let larger = Self.byteCount(2 * count)
        guard count > 0, count < Self.countMax, larger <= rowByteCount / 8 else {
            notedCount = 0
            return nil
        }
        return larger - byteCount
    }

    /// Doubles the table.
    package mutating func grow() {
        guard let old = entries else { return }
        let made = Self.makeEntries(2 * count)
        for place in 0..<count where old[place].row != .none {
            made[Self.place(of: old[place].number, 2 * count)] = old[place]
        }
        old.deallocate()
        entries = made
        count *= 2
        notedCount = 0
    }

    /// Forgets the rows if the table is large beside the rows in memory.
    ///
    /// - Returns: The bytes that no longer count in the budget.
    package mutating func shrink(whereRowsTake rowByteCount: Int) -> Int {
        let freed = byteCount
        guard freed > rowByteCount / 4 else { return 0 }
        entries?.deallocate()
        entries = nil
        count = 0
        return freed
    }

    private static func byteCount(_ count: Int) -> Int {
        max(count - countMin, 0) * MemoryLayout<Entry>.stride
    }

    private static func makeEntries(_ count: Int) -> UnsafeMutablePointer<Entry> {
        let made = UnsafeMutablePointer<Entry>.allocate(capacity: count)
        made.initialize(repeating: (0, .none), count: count)
        return made
    }

    @inline(__always)
    private static func place(of number: RecordID, _ count: Int) -> Int {
        Int(truncatingIfNeeded: number) & (count &- 1)
    }
}
