package import FaultlineModel

extension EntityMapPlan {
    /// Assigns numbers to the indexes that an entity declares.
    ///
    /// An index keeps its number if existing rows have the same keys in it as before. An index over an encoded or a
    /// transient value is not built: such a value has no order.
    mutating func addSecondaryIndexes(
        of entity: Schema.Entity, to stored: inout StoredEntity, _ descriptions: [ColumnDescription],
        old: Schema.Entity?, _ oldStored: StoredEntity?, _ keepsTable: Bool
    ) throws(StoreError) {
        var indexes: [StoredSecondaryIndex] = []
        for group in entity.indices {
            let slots = group.compactMap { name in entity.properties.firstIndex { $0.name == name } }
            guard !slots.isEmpty, slots.count == group.count else { continue }
            let isMade = slots.allSatisfy { slot in
                descriptions[slot].kind.canBeIndexed && entity.properties[slot].asAttribute?.isTransient != true
            }
            let columns = slots.map { stored.columns[$0].number }
            guard isMade, !indexes.contains(where: { $0.columns == columns }) else { continue }
            let isKept = keepsTable && slots.allSatisfy { Self.hasSameKeys($0, stored, descriptions, old, oldStored) }
            if isKept, let index = oldStored?.secondaryIndexes?.first(where: { $0.columns == columns }) {
                indexes.append(index)
                continue
            }
            let index = try newIndex(of: entity.name, hasRows: oldStored != nil && keepsTable)
            indexes.append(StoredSecondaryIndex(index: index, columns: columns))
        }
        stored.secondaryIndexes = indexes.isEmpty ? nil : indexes
    }

    /// Whether existing rows have the same key of a column as under the previous schema.
    static func hasSameKeys(
        _ slot: Int, _ stored: StoredEntity, _ descriptions: [ColumnDescription], _ old: Schema.Entity?,
        _ oldStored: StoredEntity?
    ) -> Bool {
        let column = stored.columns[slot]
        guard let old, let oldStored, let place = oldStored.columns.firstIndex(where: { $0.number == column.number }),
            place < old.properties.count
        else { return false }
        let before = description(of: old.properties[place], number: column.number)
        return before.kind == descriptions[slot].kind && before.isOptional == descriptions[slot].isOptional
            && oldStored.columns[place].missing == column.missing
    }
}

extension EntityMap {
    /// The map without secondary indexes that have no entries yet.
    package func without(_ indexes: [EntityMapPlan.IndexToBuild]) -> EntityMap {
        guard !indexes.isEmpty else { return self }
        let numbers = Set(indexes.map(\.index))
        var map = self
        for place in map.entities.indices {
            let left = map.entities[place].secondaryIndexes?.filter { !numbers.contains($0.index) } ?? []
            map.entities[place].secondaryIndexes = left.isEmpty ? nil : left
            let texts = map.entities[place].textIndexes?.filter { !numbers.contains($0.index) } ?? []
            map.entities[place].textIndexes = texts.isEmpty ? nil : texts
        }
        return map
    }

    /// Whether there are secondary indexes: older releases must not write then.
    package var hasSecondaryIndexes: Bool { entities.contains { $0.secondaryIndexes != nil } }

    /// Whether a schema equal in meaning to the map's declares an index that the map does not have.
    package func lacksIndexes(of schema: Schema) -> Bool {
        if lacksTextIndexes(of: schema) { return true }
        return schema.entities.contains { entity in
            guard !entity.indices.isEmpty, let stored = self.entity(named: entity.name) else { return false }
            return entity.indices.contains { group in
                let columns = group.compactMap { name in stored.columns.first { $0.name == name }?.number }
                let isMade = group.allSatisfy { name in
                    guard let property = entity.properties.first(where: { $0.name == name }) else { return false }
                    return ColumnDescription(property: property, number: 0).kind.canBeIndexed
                        && property.asAttribute?.isTransient != true
                }
                return isMade && !group.isEmpty && stored.secondaryIndexes?.contains { $0.columns == columns } != true
            }
        }
    }
}
