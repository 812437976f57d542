package import FaultlineDisk

extension EntityMap {
    /// Checks the invariants that the type's comment lists.
    ///
    /// - Parameter layouts: All layouts that rows may have.
    /// - Throws: The first broken rule.
    package func checkInvariants(of layouts: [RowLayout]) throws(BrokenInvariant) {
        let columns = entities.flatMap(\.columns)
        try checkUnique("table", tables.map { UInt32($0) }, below: UInt32(counters.table))
        try checkUnique("layout", entities.map { UInt32($0.layout) }, below: UInt32(counters.layout))
        try checkUnique("column", columns.map(\.number), below: counters.column)
        let unique = entities.flatMap(\.uniqueIndexes).map(\.index)
        let secondary = entities.flatMap { $0.secondaryIndexes ?? [] }.map(\.index)
        let texts = entities.flatMap { $0.textIndexes ?? [] }.map(\.index)
        let members = columns.map(\.relationshipIndex).filter { $0 != 0 }
        let ends = links.flatMap { [$0.leftIndex, $0.rightIndex] }
        try checkUnique("index", unique + secondary + texts + members + ends, below: counters.index)
        try checkColumns(of: layouts)
    }

    /// Checks that no number is used twice, nor will be given again.
    private func checkUnique(_ kind: String, _ numbers: [UInt32], below next: UInt32) throws(BrokenInvariant) {
        var known: Set<UInt32> = []
        guard let wrong = numbers.first(where: { !known.insert($0).inserted || $0 >= next }) else { return }
        throw BrokenInvariant(
            "EntityMap",
            "a table, column, layout, link or index number is never used twice in a store, except for tables and "
                + "layouts of a dropped dry run, migration or stage",
            "\(kind) \(wrong) is used twice, or is not below the next number \(next)")
    }

    /// Checks that a column number stands for one property: an attribute, a reference or a collection in all layouts,
    /// and a column of its entity in the layout in force.
    private func checkColumns(of layouts: [RowLayout]) throws(BrokenInvariant) {
        func broken(_ column: UInt32, _ detail: String) -> BrokenInvariant {
            BrokenInvariant(
                "EntityMap", "a property that keeps its meaning keeps its column number, under any name",
                "column \(column) \(detail)")
        }
        var kinds: [UInt32: ColumnKind] = [:]
        // The two columns of links have the same numbers in every link.
        for column in layouts.flatMap(\.columns) where column.kind != .link {
            guard let other = kinds.updateValue(column.kind, forKey: column.number) else { continue }
            // An attribute may get a kind that holds every value of the old one.
            guard column.kind.relationship == other.relationship else {
                throw broken(column.number, "is \(column.kind) in one layout, and \(other) in another")
            }
        }
        let byNumber = Dictionary(layouts.map { ($0.number, $0) }) { first, _ in first }
        for entity in entities {
            guard let layout = byNumber[entity.layout] else { continue }
            let numbers = layout.columns.map(\.number)
            for (place, column) in entity.columns.enumerated()
            where !numbers.indices.contains(place) || numbers[place] != column.number {
                throw broken(column.number, "of \(entity.name).\(column.name) is not in its layout")
            }
        }
    }
}

extension ColumnKind {
    /// The kind of a relationship; nil for an attribute.
    fileprivate var relationship: ColumnKind? { self == .toOne || self == .toMany ? self : nil }
}
