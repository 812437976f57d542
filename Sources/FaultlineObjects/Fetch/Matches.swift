internal import FaultlineLog
internal import FaultlineStore

/// The matches of a query: numbers, or objects if they were made anyway, with their sort keys.
///
/// If the window has an end, at most twice its reach is held: when that many have come, they are sorted, and those
/// outside the window are dropped. From then on each new match is first compared with the last one kept. That takes at
/// most n·log(reach) comparisons, and one for each row outside the window, which are most of them if rows come in no
/// order.
struct Matches<T: PersistentModel> {
    private struct Match {
        var number: RecordID
        var row: RowReference
        /// The index in `made`, −1 for none.
        var object: Int
        /// The first eight bytes of the key, with zeros after a shorter one.
        var prefix: UInt64
        var keyStart: Int
        var keyEnd: Int
    }

    /// Makes the keys, and decides which of them the window reaches.
    let window: SortWindow
    private var matches: [Match] = []
    private var made: [T] = []
    /// Sort keys, one after the other; those for descending order are complemented.
    private var keys: [UInt8] = []

    /// Prepares for matches ordered by some slots, as far as a window reaches.
    init(order: [(slot: Int, isAscending: Bool)], reach: Int? = nil) {
        window = SortWindow(order: order, reach: reach)
    }

    var count: Int { matches.count }

    /// Whether no further match can be in the window.
    var isComplete: Bool { window.order.isEmpty && matches.count >= window.reach ?? .max }

    /// The numbers of the objects in their order, 0 for one that is not stored.
    var numbers: [RecordID] { matches.map(\.number) }

    /// Adds an object with unsaved values, if the window may reach it.
    mutating func append(_ object: T, _ draft: Draft, load: (BlobReference) throws -> [UInt8]) throws {
        if try window.reaches(draft, load: load) { append(0, .none, object) }
    }

    /// Adds the row that was last passed to the window, or the object that was made of it.
    mutating func append(_ number: RecordID, _ row: RowReference, _ object: T?) {
        let start = keys.count
        let prefix = window.withKey { bytes in
            keys.append(contentsOf: bytes)
            return KeyOrder.prefix(bytes)
        }
        if let object { made.append(object) }
        matches.append(
            Match(
                number: number, row: row, object: object == nil ? -1 : made.count - 1, prefix: prefix, keyStart: start,
                keyEnd: keys.count))
        if let reach = window.reach, !window.order.isEmpty, matches.count >= 256, matches.count / 2 >= reach {
            giveUpRest(reach)
        }
    }

    /// Keeps the first `reach` matches.
    private mutating func giveUpRest(_ reach: Int) {
        sort()
        matches.removeLast(matches.count - reach)
        var kept: [UInt8] = []
        kept.reserveCapacity(matches.last.map { matches.count * ($0.keyEnd - $0.keyStart) * 2 } ?? 0)
        var objects: [T] = []
        for place in matches.indices {
            let start = kept.count
            kept.append(contentsOf: keys[matches[place].keyStart..<matches[place].keyEnd])
            if place == matches.count - 1 { window.end(before: kept[start...]) }
            matches[place].keyStart = start
            matches[place].keyEnd = kept.count
            guard matches[place].object >= 0 else { continue }
            objects.append(made[matches[place].object])
            matches[place].object = objects.count - 1
        }
        keys = kept
        made = objects
    }

    /// Orders by the sort keys; equal ones stay in the order of creation.
    mutating func sort() {
        guard !window.order.isEmpty else { return }
        keys.withUnsafeBytes { keys in
            matches.withUnsafeMutableBufferPointer { $0.sort { Self.isBefore($0, $1, keys) } }
        }
    }

    /// Drops the matches before and after the window, and orders the rest by the sort keys.
    ///
    /// - Complexity: Linear, plus the sorting of those in the window.
    mutating func sortWindow(offset: Int?, limit: Int?) {
        let start = min(max(0, offset ?? 0), matches.count)
        var end = matches.count
        if let limit, limit > 0, limit < end - start { end = start + limit }
        if !window.order.isEmpty {
            keys.withUnsafeBytes { keys in
                matches.withUnsafeMutableBufferPointer { matches in
                    Selection.partition(matches, at: start) { Self.isBefore($0, $1, keys) }
                    let rest = UnsafeMutableBufferPointer(rebasing: matches[start...])
                    Selection.partition(rest, at: end - start) { Self.isBefore($0, $1, keys) }
                    var shown = UnsafeMutableBufferPointer(rebasing: matches[start..<end])
                    shown.sort { Self.isBefore($0, $1, keys) }
                }
            }
        }
        matches.removeLast(matches.count - end)
        matches.removeFirst(start)
    }

    @inline(__always)
    private static func isBefore(_ left: Match, _ right: Match, _ keys: UnsafeRawBufferPointer) -> Bool {
        if left.prefix != right.prefix { return left.prefix < right.prefix }
        let first = UnsafeRawBufferPointer(rebasing: keys[left.keyStart..<left.keyEnd])
        let second = UnsafeRawBufferPointer(rebasing: keys[right.keyStart..<right.keyEnd])
        let difference = KeyOrder.compare(first, second)
        return difference == 0 ? left.keyStart < right.keyStart : difference < 0
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
                        ObjectRegistry(context).appendObjects(
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
