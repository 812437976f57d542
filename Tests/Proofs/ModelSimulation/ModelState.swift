import FaultlineLog

/// The expected contents of a store after a transaction.
///
/// Copies share their storage until one of them changes.
struct ModelState: Equatable, Sendable {
    /// The tables, by number.
    var tables: [UInt16: ModelTable<ModelRow>]
    var blobs = ModelTable<[UInt8]>()
    /// The number of the next table.
    ///
    /// No number is used twice.
    var nextTable: UInt16

    private static let first: UInt16 = 16
    private static let firstCount: UInt16 = 4

    /// Creates a state with one empty table of each kind.
    init() {
        tables = [:]
        nextTable = Self.first + Self.firstCount
        for number in Self.first..<nextTable { tables[number] = ModelTable() }
    }

    /// The numbers of all tables, in ascending order.
    var tableNumbers: [UInt16] { tables.keys.sorted() }

    /// Objects of all tables, and blobs.
    var objectCount: Int { tables.values.reduce(blobs.count) { $0 + $1.count } }

    subscript(table: UInt16) -> ModelTable<ModelRow> {
        get { tables[table] ?? ModelTable() }
        set { tables[table] = newValue }
    }

    /// Returns the object with a key in a table, or `nil`.
    func holder(of key: [UInt8], in table: UInt16) -> RecordID? {
        self[table].entries.first { $0.value.key?.elementsEqual(key) == true }?.id
    }

    /// Returns the expected entries of an index, ordered by key and then by identifier.
    func entries(of index: IndexDefinition, prefix: [UInt8] = []) -> [(key: ArraySlice<UInt8>, id: RecordID)] {
        var entries: [(key: ArraySlice<UInt8>, id: RecordID)] = []
        for (id, row) in self[ModelTableKind.table(of: index.id)].entries {
            for key in row.keys(in: index, of: id) where key.starts(with: prefix) { entries.append((key, id)) }
        }
        return entries.sorted { left, right in
            if left.key.lexicographicallyPrecedes(right.key) { return true }
            return left.key.elementsEqual(right.key) && left.id < right.id
        }
    }
}

/// Objects in ascending order of their identifiers.
struct ModelTable<Value: Equatable & Sendable>: Equatable, Sendable {
    private(set) var ids: [RecordID] = []
    private var values: [Value] = []
    /// The identifier of the next object.
    private(set) var nextID: RecordID = 1

    var count: Int { ids.count }

    /// The objects with their values, in ascending order.
    var entries: LazyMapSequence<Range<Int>, (id: RecordID, value: Value)> {
        ids.indices.lazy.map { (ids[$0], values[$0]) }
    }

    /// Returns the index where an identifier is or would be inserted.
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
