internal import FaultlineLog
internal import FaultlineStore

/// What a query found: numbers, or objects where one was made anyway, with the keys to sort them by.
struct Matches<T: PersistentModel> {
    private struct Match {
        var number: RecordID
        var row: RowReference
        /// Place in `made`, −1 for none.
        var object: Int
        var keyStart: Int
        var keyEnd: Int
    }

    private let order: [(slot: Int, isAscending: Bool)]
    private var matches: [Match] = []
    private var made: [T] = []
    /// Sort keys, one after the other: those of descending order are complemented.
    private var keys: [UInt8] = []

    init(order: [(slot: Int, isAscending: Bool)]) { self.order = order }

    var count: Int { matches.count }

    /// The numbers of the objects in their order, 0 for one that is not stored.
    var numbers: [RecordID] { matches.map(\.number) }

    /// Adds a row that matches, with its sort key; `load` gives a value that lies out of the row.
    mutating func append(
        _ number: RecordID, _ row: RowReference, _ object: T?, _ view: RowView, load: (BlobReference) throws -> [UInt8]
    ) throws {
        let start = keys.count
        for (slot, isAscending) in order {
            var key = KeyWriter()
            if !key.append(row: view, slot: slot), let reference = view.blobReference(slot) {
                try load(reference).withUnsafeBytes { key.appendText($0, flags: view.variableFlags(slot)) }
            }
            addKey(key, isAscending)
        }
        add(number, row, object, start)
    }

    mutating func append(_ object: T, _ draft: Draft, load: (BlobReference) throws -> [UInt8]) throws {
        let start = keys.count
        for (slot, isAscending) in order {
            var key = KeyWriter()
            if !key.append(draft: draft, slot: slot), let reference = draft.blobReference(slot) {
                try load(reference).withUnsafeBytes { key.appendText($0, flags: draft.variableFlags(slot)) }
            }
            addKey(key, isAscending)
        }
        add(0, .none, object, start)
    }

    private mutating func addKey(_ key: borrowing KeyWriter, _ isAscending: Bool) {
        key.withBytes { bytes in
            if isAscending { keys.append(contentsOf: bytes) } else { keys.append(contentsOf: bytes.lazy.map { ~$0 }) }
        }
    }

    private mutating func add(_ number: RecordID, _ row: RowReference, _ object: T?, _ start: Int) {
        if let object { made.append(object) }
        matches.append(
            Match(
                number: number, row: row, object: object == nil ? -1 : made.count - 1, keyStart: start,
                keyEnd: keys.count))
    }

    /// Orders by the sort keys; equal ones stay in the order of creation.
    mutating func sort() {
        guard !order.isEmpty else { return }
        keys.withUnsafeBytes { bytes in
            matches.sort { left, right in
                let first = UnsafeRawBufferPointer(rebasing: bytes[left.keyStart..<left.keyEnd])
                let second = UnsafeRawBufferPointer(rebasing: bytes[right.keyStart..<right.keyEnd])
                let difference = KeyOrder.compare(first, second)
                return difference == 0 ? left.keyStart < right.keyStart : difference < 0
            }
        }
    }

    /// Leaves out what the window leaves out.
    mutating func cut(offset: Int?, limit: Int?) {
        if let offset, offset > 0 { matches.removeFirst(min(offset, matches.count)) }
        if let limit, limit > 0, limit < matches.count { matches.removeLast(matches.count - limit) }
    }

    func slice(_ range: Range<Int>) -> Matches<T> {
        var part = self
        part.matches = Array(matches[range])
        return part
    }

    func objects(_ query: Query<T>, _ context: ContextCore) -> [T] {
        Array(unsafeUninitializedCapacity: matches.count) { buffer, initialized in
            guard let target = buffer.baseAddress else { return }
            withUnsafeTemporaryAllocation(of: RecordID.self, capacity: 336) { numbers in
                withUnsafeTemporaryAllocation(of: RowReference.self, capacity: 336) { rows in
                    var place = 0
                    while place < matches.count {
                        if matches[place].object >= 0 {
                            (target + initialized).initialize(to: made[matches[place].object])
                            initialized += 1
                            place += 1
                            continue
                        }
                        var count = 0
                        while place < matches.count, count < 336, matches[place].object < 0 {
                            numbers[count] = matches[place].number
                            rows[count] = matches[place].row
                            count += 1
                            place += 1
                        }
                        context.appendObjects(
                            UnsafeBufferPointer(rebasing: numbers[..<count]), rows: rows.baseAddress, query.home,
                            to: target + initialized)
                        initialized += count
                    }
                }
            }
        }
    }

    func identifiers(_ query: Query<T>, _ context: ContextCore) -> [PersistentIdentifier] {
        let storeID = context.store.log.storeID
        return matches.map { match in
            match.object >= 0 && match.number == 0
                ? made[match.object].persistentModelID
                : PersistentIdentifier(storeID: storeID, entityName: query.entity.name, number: match.number)
        }
    }
}

/// Compares keys as bytes.
enum KeyOrder {
    static func compare(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
        let common = min(left.count, right.count)
        for place in 0..<common where left[place] != right[place] {
            return left[place] < right[place] ? -1 : 1
        }
        return left.count - right.count
    }
}
