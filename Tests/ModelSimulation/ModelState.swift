import FaultlineLog

/// What a store should hold after one transaction.
///
/// A value: a copy shares everything until one of the two changes.
struct ModelState: Equatable, Sendable {
    /// The tables that are there, by number.
    var tables: [UInt16: ModelTable<ModelRow>]
    var blobs = ModelTable<[UInt8]>()
    /// The number of the next table to be made: none is used twice.
    var nextTable: UInt16

    private static let first: UInt16 = 16
    private static let firstCount: UInt16 = 4

    /// A store with a table of each kind, all empty.
    init() {
        tables = [:]
        nextTable = Self.first + Self.firstCount
        for number in Self.first..<nextTable { tables[number] = ModelTable() }
    }

    /// The numbers of all tables, ascending.
    var tableNumbers: [UInt16] { tables.keys.sorted() }

    subscript(table: UInt16) -> ModelTable<ModelRow> {
        get { tables[table] ?? ModelTable() }
        set { tables[table] = newValue }
    }

    /// Who has a key in a table; nil if nobody has.
    func holder(of key: [UInt8], in table: UInt16) -> RecordID? {
        self[table].entries.first { $0.value.key?.elementsEqual(key) == true }?.id
    }

    /// The entries that an index of a table should have, ascending by key, then by identifier.
    func entries(of table: UInt16, prefix: [UInt8] = []) -> [(key: ArraySlice<UInt8>, id: RecordID)] {
        var entries: [(key: ArraySlice<UInt8>, id: RecordID)] = []
        for (id, row) in self[table].entries {
            if let key = row.key, key.starts(with: prefix) { entries.append((key, id)) }
        }
        return entries.sorted { left, right in
            if left.key.lexicographicallyPrecedes(right.key) { return true }
            return left.key.elementsEqual(right.key) && left.id < right.id
        }
    }
}

/// Objects by ascending identifier.
struct ModelTable<Value: Equatable & Sendable>: Equatable, Sendable {
    private(set) var ids: [RecordID] = []
    private var values: [Value] = []
    /// The identifier that the next object gets.
    private(set) var nextID: RecordID = 1

    var count: Int { ids.count }

    /// Objects with their values, ascending.
    var entries: LazyMapSequence<Range<Int>, (id: RecordID, value: Value)> {
        ids.indices.lazy.map { (ids[$0], values[$0]) }
    }

    /// Where an identifier is, or would be.
    private func place(of id: RecordID) -> (index: Int, isPresent: Bool) {
        var low = 0
        var high = ids.count
        while low < high {
            let middle = (low + high) / 2
            if ids[middle] < id { low = middle + 1 } else { high = middle }
        }
        return (low, low < ids.count && ids[low] == id)
    }

    subscript(id: RecordID) -> Value? {
        get {
            let (index, isPresent) = place(of: id)
            return isPresent ? values[index] : nil
        }
        set {
            let (index, isPresent) = place(of: id)
            switch (newValue, isPresent) {
            case (let value?, true): values[index] = value
            case (let value?, false):
                ids.insert(id, at: index)
                values.insert(value, at: index)
                nextID = Swift.max(nextID, id + 1)
            case (nil, true):
                ids.remove(at: index)
                values.remove(at: index)
            case (nil, false): break
            }
        }
    }
}
