/// One version of all location tables.
///
/// Each commit copies the set once, so it holds bare references: an array of optional references is copied and freed by
/// calls of the runtime for each place, also the empty ones.
// Safe because only the working version is changed, by the thread that holds the writer lock. Captured versions are
// immutable.
package final class TableSet: @unchecked Sendable {
    let version: UInt64
    /// The roots by table number, each retained; nil for no table.
    @exclusivity(unchecked) private var roots: UnsafeMutableBufferPointer<Unmanaged<TableRoot>?>

    init(version: UInt64) {
        self.version = version
        roots = .allocate(capacity: 0)
    }

    init(copying other: TableSet, version: UInt64) {
        self.version = version
        roots = .allocate(capacity: other.roots.count)
        _ = roots.initialize(from: other.roots)
        for root in roots { _ = root?.retain() }
    }

    deinit {
        for root in roots { root?.release() }
        roots.deallocate()
    }

    @inline(__always)
    package subscript(_ table: UInt16) -> TableRoot? {
        Int(table) < roots.count ? roots[Int(table)]?.takeUnretainedValue() : nil
    }

    /// The location of an object, if its page is in memory; takes no reference.
    ///
    /// - Returns: Nil if the page must be loaded first.
    @inline(__always)
    func residentLocation(of id: RecordID, in table: TableID) -> Location? {
        guard Int(table.rawValue) < roots.count, let root = roots[Int(table.rawValue)] else { return .absent }
        return root._withUnsafeGuaranteedRef { $0.residentLocation(of: id) }
    }

    /// Inserts, replaces or removes a table.
    func set(_ root: TableRoot?, for table: UInt16) {
        if roots.count <= Int(table) { grow(to: Int(table) + 1) }
        let old = roots[Int(table)]
        roots[Int(table)] = root.map { .passRetained($0) }
        old?.release()
    }

    private func grow(to count: Int) {
        let larger = UnsafeMutableBufferPointer<Unmanaged<TableRoot>?>.allocate(capacity: count)
        larger.initialize(repeating: nil)
        for place in roots.indices { larger[place] = roots[place] }
        roots.deallocate()
        roots = larger
    }

    /// All tables, in ascending order.
    package var all: [TableRoot] { roots.compactMap { $0?.takeUnretainedValue() } }
}
