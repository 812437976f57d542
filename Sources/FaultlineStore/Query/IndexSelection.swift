package import FaultlineLog
internal import FaultlineModel

/// The part of a secondary index that a query reads: docs/Queries.md.
///
/// The filter and the order alone determine it, never the stored data. The ranges contain every object that may satisfy
/// the filter, except those that are set aside.
package struct IndexSelection: Sendable, Equatable {
    /// Keys from one up to another.
    package struct KeyRange: Sendable, Equatable {
        /// The common prefix of all keys of the range.
        package let prefix: [UInt8]
        package let first: [UInt8]
        /// The first key behind the range.
        package let end: [UInt8]

        /// All keys with a prefix.
        init(prefix: [UInt8]) {
            self.init(prefix: prefix, first: prefix, end: Self.successor(of: prefix))
        }

        init(prefix: [UInt8], first: [UInt8], end: [UInt8]) {
            self.prefix = prefix
            self.first = first
            self.end = end
        }

        /// Returns the smallest key above all keys with a prefix.
        ///
        /// The prefix must have a byte other than FF.
        static func successor(of bytes: [UInt8]) -> [UInt8] {
            var next = bytes
            while next.last == .max { next.removeLast() }
            if let last = next.last { next[next.count - 1] = last + 1 }
            return next
        }
    }

    package enum Order: Sendable {
        case ascending, descending
    }

    /// A position behind an object in the order of an index.
    package struct Place: Sendable {
        let key: [UInt8]
        let id: RecordID

        package init(key: [UInt8], id: RecordID) {
            self.key = key
            self.id = id
        }
    }

    /// The keys of objects that are set aside.
    package static let aside = KeyRange(prefix: [SecondaryIndex.asideMark])

    package let index: SecondaryIndex
    /// Ranges in ascending order, none of which overlap.
    package let ranges: [KeyRange]
    /// The number of attributes at the beginning of the key with one value each.
    package let equalCount: Int
    /// Whether the next attribute is narrowed too.
    package let isNarrowed: Bool
    /// The direction in which the entries of the only range are in the query's order; nil if they are not.
    package let order: Order?
    /// Whether the ranges contain exactly the objects that satisfy the filter.
    package let isExact: Bool

    /// Whether the filter narrows the search.
    package var isSelective: Bool { equalCount > 0 || isNarrowed }

    /// Chooses the index for a query.
    ///
    /// Prefers the index with the most leading equal attributes, then one with a range behind them, then one in the
    /// query's order, then the one declared first.
    ///
    /// - Parameters:
    ///   - conditions: Conditions that must all hold for a row.
    ///   - order: The slots by which objects are ordered.
    ///   - isLimited: Whether only the first few are wanted: otherwise the order is ignored.
    ///   - entity: The entity.
    /// - Returns: Nil if no index helps.
    package static func choose(
        _ conditions: [RowFilter], order: [(slot: Int, isAscending: Bool)], isLimited: Bool, _ entity: EntityStorage
    ) -> IndexSelection? {
        var best: IndexSelection?
        for index in entity.secondaryIndexes {
            let selection = IndexSelection(index, conditions, isLimited ? order : [], entity.layout)
            guard selection.isSelective || selection.order != nil else { continue }
            if let best, !(best.rank < selection.rank) { continue }
            best = selection
        }
        return best
    }

    private var rank: (Int, Int, Int) { (equalCount, isNarrowed ? 1 : 0, order == nil ? 0 : 1) }

    private init(
        _ index: SecondaryIndex, _ conditions: [RowFilter], _ order: [(slot: Int, isAscending: Bool)],
        _ layout: RowLayout
    ) {
        self.index = index
        var prefix: [UInt8] = []
        var usedCount = 0
        var equalCount = 0
        var ranges: [KeyRange]?
        var isExact = true
        for slot in index.slots {
            let bounds = KeyBounds(conditions, slot, layout.columns[slot].kind)
            if let key = bounds.equal {
                prefix += key
                equalCount += 1
                usedCount += bounds.equalCount
                continue
            }
            guard let narrowed = bounds.ranges(behind: prefix) else { break }
            ranges = narrowed
            usedCount += bounds.narrowingCount
            isExact = bounds.isExact
            break
        }
        self.equalCount = equalCount
        isNarrowed = ranges != nil
        let whole =
            prefix.isEmpty ? KeyRange(prefix: [], first: [0], end: Self.aside.first) : KeyRange(prefix: prefix)
        self.ranges = ranges ?? [whole]
        self.isExact = isExact && usedCount == conditions.count { $0 != .always }
        self.order = self.ranges.count == 1 ? Self.order(order, of: index, behind: equalCount) : nil
    }

    /// The direction in which an order by slots visits all attributes of an index behind the first few, which are
    /// equal.
    private static func order(
        _ order: [(slot: Int, isAscending: Bool)], of index: SecondaryIndex, behind equalCount: Int
    ) -> Order? {
        let equal = index.slots[..<equalCount]
        let wanted = order.filter { !equal.contains($0.slot) }
        guard let first = wanted.first, wanted.allSatisfy({ $0.isAscending == first.isAscending }),
            wanted.map(\.slot) == Array(index.slots[equalCount...])
        else { return nil }
        return first.isAscending ? .ascending : .descending
    }
}
