internal import FaultlineLog
package import FaultlineModel

/// Plans the entity map that a schema needs, over an existing one.
///
/// A pure function: nothing is written. Tables, columns, layouts and indexes that can be kept keep their numbers; new
/// ones get new numbers. `SchemaDifference` decides whether the change may be made without a stage.
package struct EntityMapPlan: Sendable {
    /// The map for the new schema.
    package internal(set) var map: EntityMap
    /// Layouts that are not registered yet.
    package internal(set) var newLayouts: [RowLayout] = []
    /// Indexes that need entries for existing rows, by the new entity's name.
    package internal(set) var indexesToBuild: [IndexToBuild] = []
    /// Hidden tables of links that replace references in rows.
    package internal(set) var linksToBuild: [LinkToBuild] = []
    /// To-one relationships that are required now, and were not before.
    package private(set) var requiredReferences: [RequiredReference] = []
    /// Tables whose entity or relationship is gone.
    package private(set) var tablesToDrop: [UInt16] = []

    /// Whether existing rows must be read before the schema is in force.
    package var readsRows: Bool { !indexesToBuild.isEmpty || !linksToBuild.isEmpty || !requiredReferences.isEmpty }

    /// An index over existing rows.
    package struct IndexToBuild: Sendable, Equatable {
        package let entity: String
        package let index: UInt32
        package let isUnique: Bool
    }

    /// Links that replace the to-one references of existing rows.
    package struct LinkToBuild: Sendable, Equatable {
        /// Raw value of the links' table.
        package let table: UInt16
        /// New name of the entity whose rows have the references.
        package let entity: String
        /// Number of the column with the references; layouts of older rows have it.
        package let column: UInt32
        /// New name of the entity that the references refer to.
        package let destination: String
        /// Whether the objects with the references are the links' left sides.
        package let isLeft: Bool
    }

    /// A to-one relationship through which every object must refer to another.
    package struct RequiredReference: Sendable, Equatable {
        /// New names of the entity, the relationship, and its destination.
        package let entity: String
        package let relationship: String
        package let destination: String
    }

    /// Plans the map of `schema` over an empty store.
    package init(for schema: Schema) throws(StoreError) {
        try self.init(for: schema, over: nil, in: EntityMap(), layouts: [:], rewriting: [])
    }

    /// Plans the map of `schema` over the rows of `previous`.
    ///
    /// - Parameters:
    ///   - schema: The schema that the map is for.
    ///   - previous: The schema of the existing rows; nil if there are none.
    ///   - map: The map of `previous`, whose counters continue.
    ///   - layouts: The layouts that rows may have.
    ///   - rewriting: Names of entities of the new schema that get new tables and indexes, because a migration rewrites
    ///     their objects.
    /// - Throws: `.malformed` if a uniqueness constraint names an unknown property; `.exhausted` if the store has no
    ///   numbers left.
    package init(
        for schema: Schema, over previous: Schema?, in map: EntityMap, layouts: [UInt16: RowLayout],
        rewriting: Set<String>
    ) throws(StoreError) {
        self.map = EntityMap(counters: map.counters)
        let difference = previous.map { SchemaDifference(from: $0, to: schema) }
        for entity in schema.entities {
            try addEntity(
                entity, previous: previous, difference, old: map, layouts,
                keepingTables: !rewriting.contains(entity.name))
        }
        try addRelationships(schema, previous, difference, old: map, rewriting)

        let kept = Set(self.map.entities.map(\.table) + self.map.links.map(\.table))
        tablesToDrop = (map.entities.map(\.table) + map.links.map(\.table)).filter { !kept.contains($0) }
    }

    /// Adds tables that relate objects during a migration: links that belong to no relationship.
    ///
    /// - Throws: `.exhausted` if the store has no numbers left.
    package mutating func addPassingLinks(_ count: Int) throws(StoreError) {
        guard count > 0 else { return }
        let layout = try Self.next(&map.counters.layout, "layouts")
        newLayouts.append(LinkRow.makeLayout(number: layout))
        for _ in 0..<count {
            map.links.append(
                StoredLink(
                    table: try Self.next(&map.counters.table, "tables"), layout: layout, leftColumn: 0, rightColumn: 0,
                    leftIndex: try Self.next(&map.counters.index, "indexes"),
                    rightIndex: try Self.next(&map.counters.index, "indexes")))
        }
    }

    /// An entity of the new schema, with the one that it continues.
    private struct Continued {
        let entity: Schema.Entity
        let old: Schema.Entity?
        let oldStored: StoredEntity?
        /// The names that its properties had.
        let oldPropertyNames: [String: String]
        let keepsTable: Bool
    }

    private mutating func addEntity(
        _ entity: Schema.Entity, previous: Schema?, _ difference: SchemaDifference?, old: EntityMap,
        _ layouts: [UInt16: RowLayout], keepingTables: Bool
    ) throws(StoreError) {
        let oldEntity = difference?.oldEntityNames[entity.name].flatMap { previous?.entitiesByName[$0] }
        let continued = Continued(
            entity: entity, old: oldEntity, oldStored: oldEntity.flatMap { old.entity(named: $0.name) },
            oldPropertyNames: difference?.oldPropertyNames[entity.name] ?? [:], keepsTable: keepingTables)
        var (columns, descriptions) = try columns(of: continued)
        let layout = try layout(of: continued, descriptions)
        let missing = MissingValues(
            layout: layout, old: oldEntity.flatMap { old in continued.oldStored.map { (old, $0) } }, layouts: layouts)
        for (slot, property) in entity.properties.enumerated() {
            columns[slot].missing = missing.list(of: property, column: columns[slot].number)
        }
        if let root = difference?.hierarchyChanges[entity.name]?.formerRoot, oldEntity != nil {
            columns.markOlderRows(as: root, layout)
        }

        let table: UInt16
        if let oldStored = continued.oldStored, keepingTables {
            table = oldStored.table
        } else {
            table = try Self.next(&map.counters.table, "tables")
        }
        var stored = StoredEntity(name: entity.name, table: table, layout: layout, columns: columns, uniqueIndexes: [])
        try addUniqueIndexes(of: continued, to: &stored, descriptions)
        try addSecondaryIndexes(
            of: entity, to: &stored, descriptions, old: oldEntity, continued.oldStored, keepingTables)
        try addTextIndexes(
            of: entity, to: &stored, descriptions, old: oldEntity, continued.oldStored, keepingTables)
        map.entities.append(stored)
    }

    /// Columns keep the number of the property that they continue.
    private mutating func columns(
        of continued: Continued
    ) throws(StoreError) -> ([StoredColumn], [ColumnDescription]) {
        var columns: [StoredColumn] = []
        var descriptions: [ColumnDescription] = []
        var claimed: Set<UInt32> = []
        for property in continued.entity.properties {
            var number: UInt32?
            if let old = continued.old, let oldStored = continued.oldStored,
                let oldName = continued.oldPropertyNames[property.name],
                let match = Self.match(property, oldName, in: old, stored: oldStored)
            {
                if claimed.insert(match).inserted { number = match }
            }
            let final: UInt32
            if let number { final = number } else { final = try Self.next(&map.counters.column, "columns") }
            claimed.insert(final)
            columns.append(StoredColumn(name: property.name, number: final, relationshipIndex: 0))
            descriptions.append(Self.description(of: property, number: final))
        }
        return (columns, descriptions)
    }

    /// The old layout, if it has the same columns; else a new one.
    private mutating func layout(
        of continued: Continued, _ descriptions: [ColumnDescription]
    ) throws(StoreError) -> UInt16 {
        let name = continued.entity.name
        if let old = continued.old, let oldStored = continued.oldStored, old.name == name {
            let oldDescriptions = zip(old.properties, oldStored.columns).map {
                Self.description(of: $0, number: $1.number)
            }
            if oldDescriptions == descriptions { return oldStored.layout }
        }
        let layout = try Self.next(&map.counters.layout, "layouts")
        newLayouts.append(RowLayout(number: layout, entityName: name, columns: descriptions))
        return layout
    }

    private mutating func addUniqueIndexes(
        of continued: Continued, to stored: inout StoredEntity, _ descriptions: [ColumnDescription]
    ) throws(StoreError) {
        let (entity, oldStored) = (continued.entity, continued.oldStored)
        for constraint in entity.allUniquenessConstraints {
            let columns = stored.columns
            let numbers = constraint.compactMap { name in columns.first { $0.name == name }?.number }
            guard numbers.count == constraint.count else {
                throw StoreError(
                    .malformed,
                    "A uniqueness constraint of \(entity.name) names a property that is not there: \(constraint).")
            }
            let oldIndex = oldStored?.uniqueIndexes.first { $0.columns == numbers }
            // Rows without a value have no entry; if a default replaces it, all rows are checked again.
            let isStricter = numbers.contains { number in
                continued.old.map { Self.isOptional(number, $0, oldStored) } == true
                    && descriptions.contains { $0.number == number && !$0.isOptional }
            }
            if let oldIndex, continued.keepsTable, !isStricter {
                stored.uniqueIndexes.append(oldIndex)
                continue
            }
            let index = try newIndex(
                of: entity.name, isUnique: true, hasRows: oldStored != nil && continued.keepsTable)
            stored.uniqueIndexes.append(StoredUniqueIndex(index: index, columns: numbers))
        }
    }

    private static func isOptional(_ column: UInt32, _ entity: Schema.Entity, _ stored: StoredEntity?) -> Bool {
        guard let slot = stored?.columns.firstIndex(where: { $0.number == column }), slot < entity.properties.count
        else { return false }
        return entity.properties[slot].asAttribute?.isOptional ?? false
    }

    private mutating func addRelationships(
        _ schema: Schema, _ previous: Schema?, _ difference: SchemaDifference?, old: EntityMap, _ rewriting: Set<String>
    ) throws(StoreError) {
        let forerunners = RelationshipForerunners(schema: schema, previous: previous, difference: difference, map: old)
        for (ordinal, entity) in schema.entities.enumerated() {
            for (slot, property) in entity.properties.enumerated() {
                guard let relationship = property.asRelationship else { continue }
                let column = map.entities[ordinal].columns[slot].number
                let inverse = relationship.inverseName.flatMap { name in
                    schema.entitiesByName[relationship.destination]?.properties.first { $0.name == name }
                        as? Schema.Relationship
                }
                if relationship.isToOneRelationship {
                    if !relationship.isOptional, forerunners.wasOptional(relationship, of: entity.name) {
                        requiredReferences.append(
                            RequiredReference(
                                entity: entity.name, relationship: relationship.name,
                                destination: relationship.destination))
                    }
                    guard let inverse, !inverse.isToOneRelationship else { continue }
                    let oldColumn = old.entities.lazy.flatMap(\.columns).first { $0.number == column }
                    let keepsTable = !rewriting.contains(entity.name)
                    if let oldColumn, oldColumn.relationshipIndex != 0, keepsTable {
                        map.entities[ordinal].columns[slot].relationshipIndex = oldColumn.relationshipIndex
                    } else {
                        map.entities[ordinal].columns[slot].relationshipIndex = try newIndex(
                            of: entity.name, hasRows: oldColumn != nil && keepsTable)
                    }
                } else if inverse.map({ !$0.isToOneRelationship }) ?? true {
                    try addLink(relationship, of: entity.name, column: column, old: old, forerunners, rewriting)
                }
            }
        }
    }

    // MARK: Matching

    /// The column of the old property that a property continues, if its values can be read as the new one's.
    private static func match(
        _ property: any SchemaProperty, _ oldName: String, in old: Schema.Entity, stored: StoredEntity
    ) -> UInt32? {
        guard let slot = old.properties.firstIndex(where: { $0.name == oldName }), slot < stored.columns.count else {
            return nil
        }
        return isCompatible(old.properties[slot], property) ? stored.columns[slot].number : nil
    }

    /// Whether values of the old property can be read as values of the new one.
    private static func isCompatible(_ old: any SchemaProperty, _ new: any SchemaProperty) -> Bool {
        switch (old, new) {
        case (let old as Schema.Attribute, let new as Schema.Attribute):
            return new.kind.holdsEveryValue(of: old.kind) && old.isTransient == new.isTransient
        case (let old as Schema.Relationship, let new as Schema.Relationship):
            return old.isToOneRelationship == new.isToOneRelationship
        default:
            return false
        }
    }

    static func description(of property: any SchemaProperty, number: UInt32) -> ColumnDescription {
        ColumnDescription(property: property, number: number)
    }

    static func next<N: FixedWidthInteger>(_ counter: inout N, _ what: String) throws(StoreError) -> N {
        let value = counter
        let (next, overflow) = counter.addingReportingOverflow(1)
        guard !overflow else {
            throw StoreError(
                .exhausted, "The store has used up its numbers for \(what). Copy its objects into a new store.")
        }
        counter = next
        return value
    }

    /// Gives a new index its number.
    ///
    /// - Parameters:
    ///   - name: The entity.
    ///   - isUnique: Whether it is a unique index.
    ///   - hasRows: Whether rows of the entity stay where they are: the index is built over them.
    /// - Returns: The number.
    /// - Throws: `exhausted` if the numbers are used up.
    mutating func newIndex(of name: String, isUnique: Bool = false, hasRows: Bool) throws(StoreError) -> UInt32 {
        let index = try Self.next(&map.counters.index, "indexes")
        if hasRows { indexesToBuild.append(IndexToBuild(entity: name, index: index, isUnique: isUnique)) }
        return index
    }
}
