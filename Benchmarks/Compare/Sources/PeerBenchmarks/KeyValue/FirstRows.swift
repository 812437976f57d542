/// The first employees by name of all that a walk visits, in order.
struct FirstRows {
    private let count: Int
    private(set) var rows: [EmployeeRow] = []

    init(_ count: Int) { self.count = count }

    /// Adds an employee if it is among the first; each of the others costs one comparison of bytes in place.
    @inline(__always)
    mutating func add(_ employee: EmployeeBytes, _ id: Int64) {
        if rows.count == count, let last = rows.last, !employee.nameBytes.lexicographicallyPrecedes(last.name.utf8) {
            return
        }
        insert(employee.row(id))
    }

    private mutating func insert(_ row: EmployeeRow) {
        let place = rows.firstIndex { row.name < $0.name } ?? rows.endIndex
        rows.insert(row, at: place)
        if rows.count > count { rows.removeLast() }
    }
}
