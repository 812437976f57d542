internal import FaultlineLog
internal import FaultlineStore

// Searches that use a secondary index.

extension RowSearch {
    /// Beyond this share of all objects, and this many, reading all rows in order is faster than reading the indexed
    /// ones one by one.
    private static let shareMax = 16
    private static let countMin = 1_024

    /// How many objects an index may name before all rows are read instead.
    func indexedCountMax(_ entity: EntityStorage) -> Int {
        max(Self.countMin, context.snapshot.recordCount(of: entity.table) / Self.shareMax)
    }

    /// The part of an index that serves a query; nil also if the state that is read no longer has that index, because
    /// the store was opened under a schema without it.
    func usableSelection<T: PersistentModel>(of query: Query<T>) -> IndexSelection? {
        query.selection.flatMap { context.snapshot.has($0.index.definition) ? $0 : nil }
    }

    /// The objects that an index names for a query, and those that it has set aside, in the order of creation.
    ///
    /// - Returns: Nil if there is no such index, or if there are so many that reading all rows is faster.
    func indexedNumbers<T: PersistentModel>(_ query: Query<T>) throws -> [RecordID]? {
        guard let selection = usableSelection(of: query), selection.isSelective else { return nil }
        let countMax = indexedCountMax(query.entity)
        var numbers: [RecordID] = []
        for range in selection.ranges + [IndexSelection.aside] {
            try context.snapshot.forEachEntry(in: selection.index.definition, range) { _, number in
                numbers.append(number)
                return numbers.count <= countMax
            }
            if numbers.count > countMax { return nil }
        }
        context.reports.accessNote?.index = selection.index
        return numbers.sorted()
    }

    /// How many objects satisfy a query that the index answers alone; nil if the index is not enough.
    func countOnIndex<T: PersistentModel>(_ query: Query<T>) throws -> Int? {
        guard let selection = usableSelection(of: query), selection.isExact, try !hasSetAside(selection) else {
            return nil
        }
        var count = 0
        for range in selection.ranges {
            try context.snapshot.forEachEntry(in: selection.index.definition, range) { _, _ in
                count += 1
                return true
            }
        }
        return count
    }

    func hasSetAside(_ selection: IndexSelection) throws -> Bool {
        var isAnyAside = false
        try context.snapshot.forEachEntry(in: selection.index.definition, IndexSelection.aside) { _, _ in
            isAnyAside = true
            return false
        }
        return isAnyAside
    }

    /// The first objects that satisfy a query, by an index that has the query's order.
    ///
    /// Returns as many stored objects as the window reaches, and all unsaved ones, neither ordered nor cut.
    ///
    /// - Returns: Nil if no index has the order, if an object is set aside, or if so many objects do not satisfy the
    ///   query that reading all rows is faster.
    func matchesInOrder<T: PersistentModel>(_ query: Query<T>, keepingRows: Bool) throws -> Matches<T>? {
        let countMax = indexedCountMax(query.entity)
        guard let selection = usableSelection(of: query), let order = selection.order, let reach = query.reach,
            reach <= countMax, try !hasSetAside(selection)
        else { return nil }
        var found = Matches<T>(order: query.order ?? [])
        var isGivenUp = false
        let snapshot = context.snapshot
        try visitMatches(
            query, keepingObjects: keepingRows, within: found.window,
            from: { take in
                var window = RecordWindow(snapshot)
                var left = countMax
                try snapshot.walk(selection.ranges[0], of: selection.index, order) { number in
                    left -= 1
                    isGivenUp = left < 0
                    guard !isGivenUp else { return false }
                    let found = try rows.foundRow(
                        number, query.home, query.entity, asksObjects: !query.lowered.isExact, by: &window)
                    return try found.map(take) ?? true
                }
            },
            row: { row, object in
                found.append(row.number, keepingRows && object == nil ? rows.keep(row, query.home) : .none, object)
                return found.count < reach
            },
            draft: { object, draft in
                guard !isGivenUp else { return }
                try found.append(object, draft) { try rows.blobBytes($0, snapshot) }
            })
        if isGivenUp { return nil }
        context.reports.accessNote?.index = selection.index
        context.reports.accessNote?.isOrdered = true
        return found
    }
}

extension Query {
    /// How many objects the window reaches, from the first in the order; nil if it has no end.
    var reach: Int? {
        guard let limit = descriptor.fetchLimit, limit > 0 else { return nil }
        let (reach, isTooLarge) = limit.addingReportingOverflow(max(0, descriptor.fetchOffset ?? 0))
        return isTooLarge ? nil : reach
    }

    /// The part of a secondary index that serves the query, unless its filter has a better access: identifiers, a
    /// unique key, or one owner.
    static func selection(
        _ lowered: LoweredFilter, _ order: [(slot: Int, isAscending: Bool)]?, isLimited: Bool,
        _ entity: EntityStorage
    ) -> IndexSelection? {
        guard !entity.secondaryIndexes.isEmpty, lowered.candidates == nil else { return nil }
        let conditions = lowered.filter.conjuncts
        let selection = IndexSelection.choose(conditions, order: order ?? [], isLimited: isLimited, entity)
        guard let selection else { return nil }
        for case .compare(let slot, .equal, let value) in conditions {
            if entity.uniqueIndexes.contains(where: { $0.slots == [slot] }) { return nil }
            guard case .identifier = value, entity.memberIndexes.contains(where: { $0.slot == slot }) else { continue }
            // An owner mostly has few members; an index with more equalities, or with the order too, is still better.
            if selection.equalCount < 2, selection.order == nil || selection.equalCount == 0 { return nil }
        }
        return selection
    }
}
