/// One version of all location tables.
// Safe because only the working version is changed, by the thread that holds the writer lock. Captured versions are
// immutable.
package final class TableSet: @unchecked Sendable {
    let version: UInt64
    @exclusivity(unchecked) private(set) var tables: [TableRoot?]

    init(version: UInt64) {
        self.version = version
        tables = []
    }

    init(copying other: TableSet, version: UInt64) {
        self.version = version
        tables = other.tables
    }

    @inline(__always)
    package subscript(_ table: UInt16) -> TableRoot? {
        Int(table) < tables.count ? tables[Int(table)] : nil
    }

    /// Inserts, replaces or removes a table.
    func set(_ root: TableRoot?, for table: UInt16) {
        while tables.count <= Int(table) { tables.append(nil) }
        tables[Int(table)] = root
    }

    /// All tables, in ascending order.
    package var all: [TableRoot] { tables.compactMap { $0 } }
}
