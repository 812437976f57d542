/// One version of all location tables.
// Safe because only the working version is changed, by the thread that holds the writer lock. Captured versions are
// immutable.
package final class TableSet: @unchecked Sendable {
    let version: UInt64
    @exclusivity(unchecked) private(set) var tables: [TableRoot?]
    /// The same tables, for look-ups, which take no reference.
    @exclusivity(unchecked) private var roots: UnsafeMutableBufferPointer<Unmanaged<TableRoot>?>

    init(version: UInt64) {
        self.version = version
        tables = []
        roots = .allocate(capacity: 0)
    }

    init(copying other: TableSet, version: UInt64) {
        self.version = version
        tables = other.tables
        roots = .allocate(capacity: other.roots.count)
        _ = roots.initialize(from: other.roots)
    }

    deinit { roots.deallocate() }

    @inline(__always)
    package subscript(_ table: UInt16) -> TableRoot? {
        Int(table) < tables.count ? tables[Int(table)] : nil
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
        while tables.count <= Int(table) { tables.append(nil) }
        tables[Int(table)] = root
        if roots.count < tables.count {
            let larger = UnsafeMutableBufferPointer<Unmanaged<TableRoot>?>.allocate(capacity: tables.count)
            larger.initialize(repeating: nil)
            for place in roots.indices { larger[place] = roots[place] }
            roots.deallocate()
            roots = larger
        }
        roots[Int(table)] = root.map { .passUnretained($0) }
    }

    /// All tables, in ascending order.
    package var all: [TableRoot] { tables.compactMap { $0 } }
}
