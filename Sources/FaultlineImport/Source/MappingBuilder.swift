#if Import
internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

/// Finds the tables and columns of a model's entities and relationships in a store.
struct MappingBuilder {
    let database: SQLiteDatabase
    private(set) var catalog: SourceCatalog
    let schema: Schema
    private var tables: [StoreMapping.Table] = []
    var links: [StoreMapping.Links] = []
    private var notes: [String] = []
    var missing: [(entity: String, property: String, reason: String)] = []
    /// By root entity: the table's name, and the columns of properties.
    private(set) var places: [String: (table: String, columns: [String: String])] = [:]
    /// Columns and tables of the store that the model has no property for.
    private(set) var unclaimed: [UnclaimedPlace] = []
    /// Relationships without a place, and columns of another type than their attributes.
    private(set) var weakClaimCount = 0

    init(_ database: SQLiteDatabase, _ catalog: SourceCatalog, _ schema: Schema) {
        self.database = database
        self.catalog = catalog
        self.schema = schema
    }

    /// Checks that model and store have the same entities with the same properties.
    ///
    /// - Throws: `modelMismatch` with the entity and its version hash.
    mutating func check() throws(ImportError) {
        catalog.settleNames(schema)
        for entity in schema.entities where catalog.entities[entity.name] == nil {
            throw mismatch(entity.name, "the model has the entity \(entity.name), which the store lacks")
        }
        for name in catalog.entities.keys.sorted() where schema.entitiesByName[name] == nil {
            throw mismatch(name, "the store has the entity \(name), which the model lacks")
        }
        for entity in schema.entities {
            guard let stored = catalog.entities[entity.name] else { continue }
            let parent = catalog.entities.values.first { $0.number == stored.parent }?.name
            guard parent == entity.superentityName else {
                throw mismatch(
                    entity.name,
                    "\(entity.name) inherits from \(parent ?? "no entity") in the store, and from \(entity.superentityName ?? "no entity") in the model"
                )
            }
        }
        try findColumns()
        try findUnclaimed()
    }

    private mutating func findUnclaimed() throws(ImportError) {
        var columns: [String: Set<String>] = [:]
        var joinTables: Set<String> = []
        for place in places.values { columns[place.table, default: []].formUnion(place.columns.values) }
        for model in schema.entities {
            guard let entity = catalog.entities[model.name] else { continue }
            for property in model.storedProperties {
                guard let relationship = property.asRelationship, !relationship.isToOneRelationship,
                    schema.inverse(of: relationship)?.isToOneRelationship != true
                else { continue }
                if let join = joinTable(of: relationship, entity) {
                    joinTables.insert(join.table)
                } else if let owned = try ownedColumn(of: relationship, entity) {
                    columns[owned.table, default: []].insert(owned.column)
                } else {
                    weakClaimCount += 1
                }
            }
        }
        unclaimed = UnclaimedPlace.find(in: catalog, besides: columns, joinTables)
    }

    /// Makes the mapping, after `check`.
    ///
    /// - Parameter storage: The entities and links of the new store.
    /// - Returns: The places of all objects and relationships.
    /// - Throws: `ImportError` if the source cannot be read.
    mutating func mapping(to storage: SchemaStorage) throws(ImportError) -> StoreMapping {
        for root in roots() {
            guard let place = places[root.name], let rows = storage.entity(named: root.name) else { continue }
            let members = try members(of: root)
            var query = RowQuery(table: place.table)
            var entities: [Int64: StoreMapping.Entity] = [:]
            for member in members {
                guard let model = schema.entitiesByName[member.name] else { continue }
                entities[member.number] = try map(model, member, rows, place.columns, &query)
            }
            tables.append(
                StoreMapping.Table(
                    name: place.table, columns: catalog.tables[place.table]?.map(\.name) ?? [], entities: entities,
                    sql: query.sql))
        }
        try mapLinks(to: storage)
        return StoreMapping(tables: tables, links: links, notes: notes, missing: missing)
    }

    // MARK: Entities

    private func mismatch(_ entity: String, _ what: String) -> ImportError {
        ImportError(
            .modelMismatch,
            "The model does not fit \(database.path): \(what). \(entity) has \(catalog.hashText(of: entity)) in the store. Give the version of the model that the store was last opened with.",
            path: database.path, entity: entity)
    }

    private func roots() -> [SourceCatalog.Entity] {
        catalog.entities.values.filter { $0.parent == 0 }.sorted { $0.number < $1.number }
    }

    private func members(of root: SourceCatalog.Entity) throws(ImportError) -> [SourceCatalog.Entity] {
        let numbers = catalog.descendants(of: root.number)
        return catalog.entities.values.filter { $0.number == root.number || numbers.contains($0.number) }
            .sorted { $0.number < $1.number }
    }

    private mutating func findColumns() throws(ImportError) {
        for entity in catalog.entities.values { _ = try catalog.root(of: entity) }
        for root in roots() {
            let names = [root.name, root.tableName].map { "Z" + $0.uppercased() }
            guard let base = names.first(where: { catalog.tables[$0]?.contains { $0.name == "Z_ENT" } == true }),
                let columns = catalog.tables[base]
            else { throw mismatch(root.name, "the store has no table \(names[0]) for \(root.name)") }
            var claims: [ColumnClaim] = []
            for member in try members(of: root) {
                for property in schema.entitiesByName[member.name]?.storedProperties ?? [] {
                    if let attribute = property.asAttribute {
                        if !attribute.isTransient { Self.claim(attribute, member, "", &claims) }
                    } else if let relationship = property.asRelationship, relationship.isToOneRelationship {
                        claims.append(ColumnClaim(member, path: relationship.name, kind: nil))
                    }
                }
            }
            let (database, known) = (database, catalog)
            let assignment = try ColumnAssignment(claims, columns) { (entity, column) throws(ImportError) in
                let (table, column) = (SourceCatalog.quoted(base), SourceCatalog.quoted(column))
                // Objects have the number of their own entity, which may inherit the property.
                let numbers = known.descendants(of: entity).union([entity]).map(String.init).joined(separator: ", ")
                return try database.query(
                    "SELECT 1 FROM \(table) WHERE Z_ENT IN (\(numbers)) AND \(column) IS NOT NULL LIMIT 1"
                ).next()
            }
            weakClaimCount += assignment.otherTypeCount
            if let claim = assignment.missing.first {
                throw mismatch(
                    claim.entityName, "the store has no column \(claim.base) for \(claim.entityName).\(claim.path)")
            }
            notes += assignment.notes
            places[root.name] = (base, assignment.columns)
        }
    }

    private static func claim(
        _ attribute: Schema.Attribute, _ entity: SourceCatalog.Entity, _ prefix: String, _ claims: inout [ColumnClaim]
    ) {
        let path = prefix + attribute.name
        guard let composite = attribute as? Schema.CompositeAttribute else {
            claims.append(ColumnClaim(entity, path: path, kind: attribute.kind))
            return
        }
        for part in composite.properties { claim(part, entity, path + ".", &claims) }
    }

    private func map(
        _ model: Schema.Entity, _ entity: SourceCatalog.Entity, _ rows: EntityStorage, _ columns: [String: String],
        _ query: inout RowQuery
    ) throws(ImportError) -> StoreMapping.Entity {
        var attributes: [StoreMapping.Attribute] = []
        var toOnes: [StoreMapping.ToOne] = []
        let slots = try slots(of: model, rows)
        for (slot, property) in zip(slots, model.properties) {
            let owner = declaring(property.name, of: entity)
            if let attribute = property.asAttribute {
                guard !attribute.isTransient else { continue }
                let source = source(of: attribute, owner.number, "", columns, &query)
                attributes.append(
                    StoreMapping.Attribute(
                        slot: slot, name: attribute.name, kind: attribute.kind, isOptional: attribute.isOptional,
                        isExternal: attribute.isStoredExternally, source: source))
            } else if let relationship = property.asRelationship, relationship.isToOneRelationship {
                toOnes.append(try toOne(relationship, slot, owner, columns, &query))
            }
        }
        return StoreMapping.Entity(
            model, number: entity.number, ordinal: schema.entities.firstIndex { $0 === model } ?? 0, storage: rows,
            slots: slots, attributes: attributes, toOnes: toOnes)
    }

    /// The slots that the properties of an entity have in the table of its hierarchy, in the order of the entity.
    ///
    /// - Throws: If the table has no entity of that name.
    func slots(of model: Schema.Entity, _ rows: EntityStorage) throws(ImportError) -> [Int] {
        var slots = Array(model.properties.indices)
        var isKnown = model.name == rows.name
        if let hierarchy = rows.hierarchy, let place = hierarchy.place(of: model.name) {
            let entry = hierarchy.classes[place]
            let places = Dictionary(zip(entry.names, entry.slots)) { first, _ in first }
            slots = model.properties.compactMap { places[$0.name] }
            isKnown = true
        }
        guard isKnown, slots.count == model.properties.count else {
            throw mismatch(model.name, "\(model.name) is no entity of the table of \(rows.name)")
        }
        return slots
    }

    /// The entity that declares a property of an entity: itself or an ancestor.
    private func declaring(_ property: String, of entity: SourceCatalog.Entity) -> SourceCatalog.Entity {
        var owner = entity
        while schema.entitiesByName[owner.name]?.storedPropertiesByName[property] == nil,
            let parent = catalog.entities.values.first(where: { $0.number == owner.parent })
        { owner = parent }
        return owner
    }

    private func source(
        of attribute: Schema.Attribute, _ owner: Int64, _ prefix: String, _ columns: [String: String],
        _ query: inout RowQuery
    ) -> StoreMapping.Attribute.Source {
        let path = prefix + attribute.name
        guard let composite = attribute as? Schema.CompositeAttribute else {
            let column = columns[ColumnAssignment.key(owner, path)] ?? ColumnClaim.column(of: path)
            return .column(query.value(column, isLarge: prefix.isEmpty && attribute.kind == .data))
        }
        return .composite(
            composite.properties.map { part in
                StoreMapping.Part(
                    name: part.name, kind: part.kind, isOptional: part.isOptional,
                    substitute: CompositeValue(insteadOf: part),
                    source: source(of: part, owner, path + ".", columns, &query))
            })
    }

    private func toOne(
        _ relationship: Schema.Relationship, _ slot: Int, _ owner: SourceCatalog.Entity, _ columns: [String: String],
        _ query: inout RowQuery
    ) throws(ImportError) -> StoreMapping.ToOne {
        guard let destination = catalog.entities[relationship.destination],
            let place = places[try catalog.root(of: destination).name]
        else { throw mismatch(owner.name, "\(relationship.name) leads to \(relationship.destination), which it lacks") }
        let column =
            columns[ColumnAssignment.key(owner.number, relationship.name)] ?? ColumnClaim.column(of: relationship.name)
        let inverse = schema.inverse(of: relationship)
        var inverseIndex: Int?
        var order: StoreMapping.Order?
        if let inverse, inverse.isToOneRelationship {
            let back = declaring(inverse.name, of: destination)
            let key = ColumnAssignment.key(back.number, inverse.name)
            inverseIndex = query.lookUp(
                place.columns[key] ?? ColumnClaim.column(of: inverse.name), in: place.table, by: column)
        } else if inverse != nil {
            let positions = "Z_FOK_" + column.dropFirst()
            if catalog.tables[query.table]?.contains(where: { $0.name == positions }) == true {
                order = StoreMapping.Order(
                    column: positions, index: query.value(positions, isLarge: false).index,
                    scale: try scale(of: positions, in: query.table, last: "Z_PK"))
            }
        }
        return StoreMapping.ToOne(
            slot: slot, name: relationship.name, isOptional: relationship.isOptional,
            value: query.value(column, isLarge: false),
            targetIndex: query.lookUp("Z_ENT", in: place.table, by: column),
            destinations: catalog.family(of: destination), inverseIndex: inverseIndex, order: order)
    }

    func scale(of column: String, in table: String, last: String) throws(ImportError) -> OrderScale {
        let (column, table) = (SourceCatalog.quoted(column), SourceCatalog.quoted(table))
        let query = try database.query(
            "SELECT min(\(column)), max(\(column)), (SELECT max(\(last)) FROM \(table)) FROM \(table) WHERE typeof(\(column)) = 'integer'"
        )
        guard try query.next() else { return OrderScale(least: nil, greatest: nil, last: 1) }
        return OrderScale(least: query.integer(0), greatest: query.integer(1), last: query.integer(2) ?? 1)
    }
}
#endif
