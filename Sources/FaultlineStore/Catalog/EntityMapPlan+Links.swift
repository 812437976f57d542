internal import FaultlineModel

extension EntityMapPlan {
    /// Adds the links of a to-many relationship that no to-one stores: existing links, or new ones, which replace the
    /// references in the rows.
    mutating func addLink(
        _ relationship: Schema.Relationship, of owner: String, column: UInt32, old: EntityMap,
        _ forerunners: RelationshipForerunners, _ rewriting: Set<String>
    ) throws(StoreError) {
        var inverseColumn: UInt32 = 0
        if let name = relationship.inverseName, let destination = map.entity(named: relationship.destination) {
            inverseColumn = destination.columns.first { $0.name == name }?.number ?? 0
        }
        func isThis(_ link: StoredLink) -> Bool {
            link.has(column)
                && (inverseColumn == 0 ? link.leftColumn == 0 || link.rightColumn == 0 : link.has(inverseColumn))
        }
        // The other side may have created the table already.
        if map.links.contains(where: isThis) { return }
        // Links stay with a side whose rows are kept; the old state must not see links that a stage creates.
        let isRewritten =
            rewriting.contains(owner) && (inverseColumn == 0 || rewriting.contains(relationship.destination))
        if var kept = old.links.first(where: isThis) ?? freeLink(column, inverseColumn, old) {
            // The sides keep their positions, so that old rows can be copied.
            let isLeft = kept.leftColumn == column || (kept.leftColumn != inverseColumn && kept.rightColumn != column)
            kept.leftColumn = isLeft ? column : inverseColumn
            kept.rightColumn = isLeft ? inverseColumn : column
            if isRewritten {
                kept.table = try Self.next(&map.counters.table, "tables")
                kept.leftIndex = try Self.next(&map.counters.index, "indexes")
                kept.rightIndex = try Self.next(&map.counters.index, "indexes")
            }
            map.links.append(kept)
            return
        }
        let layout = try Self.next(&map.counters.layout, "layouts")
        newLayouts.append(LinkRow.makeLayout(number: layout))
        let table = try Self.next(&map.counters.table, "tables")
        map.links.append(
            StoredLink(
                table: table, layout: layout, leftColumn: column, rightColumn: inverseColumn,
                leftIndex: try Self.next(&map.counters.index, "indexes"),
                rightIndex: try Self.next(&map.counters.index, "indexes")))
        if let source = forerunners.reference(behind: relationship, of: owner) {
            linksToBuild.append(
                LinkToBuild(
                    table: table, entity: source.entity, column: source.column, destination: source.destination,
                    isLeft: source.isOwner))
        }
    }

    /// The links of one of two columns, if the other column of the links is gone.
    private func freeLink(_ column: UInt32, _ inverseColumn: UInt32, _ old: EntityMap) -> StoredLink? {
        let columns = Set(map.entities.flatMap(\.columns).map(\.number))
        return old.links.first { link in
            guard !map.links.contains(where: { $0.table == link.table }) else { return false }
            let sides = [link.leftColumn, link.rightColumn].filter { $0 != 0 }
            let isOne = sides.contains { $0 == column || $0 == inverseColumn }
            return isOne && sides.allSatisfy { $0 == column || $0 == inverseColumn || !columns.contains($0) }
        }
    }
}

extension StoredLink {
    /// Whether one of the sides is of a column.
    fileprivate func has(_ column: UInt32) -> Bool { leftColumn == column || rightColumn == column }
}
