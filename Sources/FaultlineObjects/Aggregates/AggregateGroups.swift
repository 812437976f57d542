internal import FaultlineStore

/// Objects with equal values in some columns, and the aggregates over them.
struct AggregateGroup {
    /// One for each column by which objects are grouped.
    let keyValues: [RowValue]
    let states: [AggregateState]
}

/// The groups that were met, found by the bytes of their keys.
///
/// A look-up allocates nothing. Complexity: O(1) on average, with a hash whose seed is random.
struct AggregateGroups: ~Copyable {
    private struct Entry {
        /// Bytes whose order is the order of the groups.
        let key: [UInt8]
        let hash: Int
        let values: [RowValue]
    }

    private let plan: AggregatePlan
    private var entries: [Entry] = []
    /// Those of all groups, one group after the other.
    private var states: [AggregateState] = []
    /// The places of groups by hash, with linear probing, and -1 for none; at most half are used.
    private var buckets = [Int](repeating: -1, count: 16)
    /// The group of the object before, which is often that of the next one.
    private var last = 0
    private var key = KeyWriter()

    /// - Parameter plan: Without columns to group by there is one group, also without objects.
    init(_ plan: AggregatePlan) {
        self.plan = plan
        if plan.groupedCount == 0 { states = plan.states }
    }

    /// Adds an object, by its row or draft.
    mutating func add(_ row: some SlotValues, _ load: AggregateColumn.Load) throws {
        let first = plan.groupedCount == 0 ? 0 : try place(of: row, load) * plan.states.count
        for state in plan.states.indices { try states[first + state].add(row, plan.columns, &key, load) }
    }

    /// The groups in the order of their keys.
    func sorted() -> [AggregateGroup] {
        if plan.groupedCount == 0 { return [AggregateGroup(keyValues: [], states: states)] }
        let order = entries.indices.sorted { left, right in
            entries[left].key.withUnsafeBytes { left in
                entries[right].key.withUnsafeBytes { KeyOrder.compare(left, $0) < 0 }
            }
        }
        return order.map { place in
            let first = place * plan.states.count
            return AggregateGroup(
                keyValues: entries[place].values, states: Array(states[first..<first + plan.states.count]))
        }
    }

    // MARK: Look-up

    /// The place of a row's group, which is made if it is new.
    private mutating func place(of row: some SlotValues, _ load: AggregateColumn.Load) throws -> Int {
        key.removeAll()
        for column in plan.columns[..<plan.groupedCount] { try column.appendKey(of: row, to: &key, load) }
        if last < entries.count, isKey(of: entries[last]) { return last }
        let hash = key.withBytes { KeyHasher.hash(of: $0) }
        let bucket = bucket(of: hash) { entries[$0].hash == hash && isKey(of: entries[$0]) }
        if buckets[bucket] >= 0 {
            last = buckets[bucket]
            return last
        }
        let values = try plan.columns[..<plan.groupedCount].map { try $0.value(of: row, load) }
        last = entries.count
        buckets[bucket] = last
        entries.append(Entry(key: key.withBytes { [UInt8]($0) }, hash: hash, values: values))
        states.append(contentsOf: plan.states)
        if entries.count * 2 > buckets.count { grow() }
        return last
    }

    private func isKey(of entry: Entry) -> Bool {
        key.withBytes { bytes in entry.key.withUnsafeBytes { KeyOrder.compare(bytes, $0) == 0 } }
    }

    /// The bucket of the group that is wanted, or the free one for it.
    private func bucket(of hash: Int, isWanted: (_ place: Int) -> Bool) -> Int {
        var bucket = hash & (buckets.count - 1)
        while buckets[bucket] >= 0, !isWanted(buckets[bucket]) { bucket = (bucket + 1) & (buckets.count - 1) }
        return bucket
    }

    private mutating func grow() {
        buckets = [Int](repeating: -1, count: buckets.count * 2)
        for (place, entry) in entries.enumerated() {
            let free = bucket(of: entry.hash) { _ in false }
            buckets[free] = place
        }
    }
}
