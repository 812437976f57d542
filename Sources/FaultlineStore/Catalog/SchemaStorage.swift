package import FaultlineLog
package import FaultlineModel

/// A schema resolved against the tables of a store: entities in the order of the schema, and the layouts of old rows.
package final class SchemaStorage: Sendable {
    package let schema: Schema
    package let map: EntityMap
    package let entities: [EntityStorage]
    package let layouts: [UInt16: RowLayout]
    /// Whether any to-many relationship has a least or greatest number of members.
    package let hasBounds: Bool
    /// Whether any relationship is kept in a table of links.
    package let hasLinks: Bool
    private let ordinals: [String: Int]

    /// Resolves a catalog.
    package init(_ catalog: StoredCatalog) throws(StoreError) {
        schema = catalog.schema
        map = catalog.map
        layouts = catalog.layouts
        var ordinals: [String: Int] = [:]
        for (ordinal, entity) in catalog.schema.entities.enumerated() { ordinals[entity.name] = ordinal }
        self.ordinals = ordinals
        var entities: [EntityStorage] = []
        for ordinal in catalog.schema.entities.indices {
            entities.append(try Self.resolve(ordinal, catalog, ordinals))
        }
        self.entities = entities
        hasBounds = entities.contains { !$0.boundedSlots.isEmpty }
        hasLinks = !catalog.map.links.isEmpty
    }

    package func entity(named name: String) -> EntityStorage? {
        ordinals[name].map { entities[$0] }
    }

    /// Definitions of every index, with those of links, and their tables.
    package func indexes() -> [(table: TableID, definition: IndexDefinition)] {
        var all: [(TableID, IndexDefinition)] = []
        for entity in entities {
            for index in entity.uniqueIndexes { all.append((entity.table, index.definition)) }
            for index in entity.secondaryIndexes { all.append((entity.table, index.definition)) }
            for index in entity.textIndexes { all.append((entity.table, index.definition)) }
            for index in entity.memberIndexes { all.append((entity.table, index.definition)) }
        }
        for link in map.links {
            all.append((TableID(rawValue: link.table), Self.memberDefinition(link.leftIndex)))
            all.append((TableID(rawValue: link.table), Self.memberDefinition(link.rightIndex)))
        }
        return all
    }

    static func memberDefinition(_ number: UInt32) -> IndexDefinition {
        IndexDefinition(id: IndexID(rawValue: number), isUnique: false, searchPrefix: .bytes(8))
    }

    static func uniqueDefinition(_ number: UInt32) -> IndexDefinition {
        IndexDefinition(id: IndexID(rawValue: number), isUnique: true, searchPrefix: .wholeKey)
    }

    static func secondaryDefinition(_ number: UInt32) -> IndexDefinition {
        IndexDefinition(id: IndexID(rawValue: number), isUnique: false, searchPrefix: .bytes(9), isSecondary: true)
    }

    private static func malformed(_ entity: String, _ what: String) -> StoreError {
        StoreError(
            .malformed,
            "The catalog's entry for \(entity) does not agree with its schema: \(what). Restore a backup, or open the store with the release that wrote it."
        )
    }

    private static func resolve(
        _ ordinal: Int, _ catalog: StoredCatalog, _ ordinals: [String: Int]
    ) throws(StoreError) -> EntityStorage {
        let entity = catalog.schema.entities[ordinal]
        let properties = entity.properties
        guard let stored = catalog.map.entity(named: entity.name) else {
            throw malformed(entity.name, "it has no table")
        }
        guard let layout = catalog.layouts[stored.layout] else {
            throw malformed(entity.name, "its layout \(stored.layout) is not registered")
        }
        guard stored.columns.count == properties.count, layout.columns.count == properties.count,
            zip(stored.columns, layout.columns).allSatisfy({ $0.number == $1.number })
        else { throw malformed(entity.name, "columns and properties differ") }

        var slots: [SlotStorage] = []
        var members: [MemberIndex] = []
        for (slot, property) in properties.enumerated() {
            guard let relationship = property.asRelationship else {
                slots.append(.attribute)
                continue
            }
            let index = stored.columns[slot].relationshipIndex
            if relationship.isToOneRelationship, index != 0 {
                members.append(MemberIndex(definition: memberDefinition(index), slot: slot))
            }
            slots.append(try resolve(relationship, stored.columns[slot], of: entity, catalog, ordinals))
        }
        do throws(SchemaError) { try entity.checkHeirs() } catch { throw malformed(entity.name, error.message) }
        let hierarchy = EntityHierarchy(entity)
        guard entity.hasHeirs == (hierarchy != nil) else {
            throw malformed(entity.name, "a class of it has no mark, or a property without a column")
        }
        var unique: [UniqueIndex] = []
        for index in stored.uniqueIndexes {
            let slots = index.columns.compactMap { layout.slot(ofColumn: $0) }
            guard slots.count == index.columns.count else {
                throw malformed(entity.name, "a uniqueness constraint names a column that is not there")
            }
            unique.append(
                UniqueIndex(
                    definition: uniqueDefinition(index.index), slots: slots, marks: hierarchy?.marks ?? []))
        }
        let indexes = EntityIndexes(
            unique: unique, secondary: try resolveSecondary(stored, layout),
            texts: try resolveTexts(stored, layout, entity), members: members)
        return EntityStorage(
            entity, ordinal: ordinal, table: TableID(rawValue: stored.table), layout: layout, slots: slots,
            indexes: indexes, hierarchy: hierarchy)
    }

    /// Resolves a relationship, whose column is given.
    private static func resolve(
        _ relationship: Schema.Relationship, _ column: StoredColumn, of entity: Schema.Entity,
        _ catalog: StoredCatalog, _ ordinals: [String: Int]
    ) throws(StoreError) -> SlotStorage {
        guard let destination = ordinals[relationship.destination] else {
            throw malformed(entity.name, "the destination of \(relationship.name) is not an entity")
        }
        let properties = catalog.schema.entities[destination].properties
        let inverseSlot = relationship.inverseName.flatMap { name in properties.firstIndex { $0.name == name } }
        let inverse = inverseSlot.flatMap { slot in properties[slot].asRelationship.map { (slot, $0) } }
        if relationship.isToOneRelationship {
            let kind: ToOneStorage.Inverse =
                switch inverse {
                case (let slot, let inverse)?: inverse.isToOneRelationship ? .toOne(slot: slot) : .toMany(slot: slot)
                case nil: .none
                }
            return .toOne(
                ToOneStorage(
                    destination: destination, inverse: kind, deleteRule: relationship.deleteRule,
                    isOptional: relationship.isOptional))
        }
        let members: ToManyStorage.Members
        if let (slot, inverse) = inverse, inverse.isToOneRelationship {
            guard let target = catalog.map.entity(named: relationship.destination),
                slot < target.columns.count, target.columns[slot].relationshipIndex != 0
            else { throw malformed(entity.name, "the inverse of \(relationship.name) has no index") }
            members = .inverse(slot: slot, index: memberDefinition(target.columns[slot].relationshipIndex))
        } else {
            let number = column.number
            guard let link = catalog.map.links.first(where: { $0.leftColumn == number || $0.rightColumn == number })
            else { throw malformed(entity.name, "\(relationship.name) has no link table") }
            members = .link(LinkSide(link, isLeft: link.leftColumn == number), inverseSlot: inverseSlot ?? -1)
        }
        return .toMany(
            ToManyStorage(
                destination: destination, deleteRule: relationship.deleteRule, bounds: MemberBounds(relationship),
                members: members))
    }

    private static func resolveSecondary(
        _ stored: StoredEntity, _ layout: RowLayout
    ) throws(StoreError) -> [SecondaryIndex] {
        var indexes: [SecondaryIndex] = []
        for index in stored.secondaryIndexes ?? [] {
            let slots = index.columns.compactMap { layout.slot(ofColumn: $0) }
            guard slots.count == index.columns.count, !slots.isEmpty,
                slots.allSatisfy({ layout.columns[$0].kind.canBeIndexed })
            else { throw malformed(stored.name, "an index names a column that is not there, or cannot be indexed") }
            indexes.append(
                SecondaryIndex(
                    definition: secondaryDefinition(index.index), slots: slots, columns: stored.columns,
                    layout: layout))
        }
        return indexes
    }

    /// Resolves the text indexes, without those whose terms this release cannot make: they are built anew.
    private static func resolveTexts(
        _ stored: StoredEntity, _ layout: RowLayout, _ entity: Schema.Entity
    ) throws(StoreError) -> [TextIndex] {
        var indexes: [TextIndex] = []
        for index in stored.textIndexes ?? [] {
            let slots = index.columns.compactMap { layout.slot(ofColumn: $0) }
            guard slots.count == index.columns.count, !slots.isEmpty,
                slots.count <= Schema.IndexedText.propertyCountMax,
                slots.allSatisfy({ layout.columns[$0].kind == .attribute(.string) })
            else { throw malformed(stored.name, "a text index names a column that is not there, or is no text") }
            guard index.isKnown else { continue }
            let names = slots.map { entity.properties[$0].name }
            let weights = entity.textIndexes.first { $0.properties == names }?.weights ?? []
            guard weights.allSatisfy({ $0 >= 0 && $0.isFinite }) else {
                throw malformed(stored.name, "a text index has a weight that is no number from 0 on")
            }
            indexes.append(
                TextIndex(
                    number: index.index, entityName: stored.name, slots: slots, names: names, weights: weights,
                    columns: stored.columns))
        }
        return indexes
    }
}
