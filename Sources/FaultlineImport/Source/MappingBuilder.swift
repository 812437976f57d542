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
    private var links: [StoreMapping.Links] = []
    private var notes: [String] = []
    private var missing: [(entity: String, property: String, reason: String)] = []
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
            guard let place = places[root.name] else { continue }
            let members = try members(of: root)
            var query = RowQuery(table: place.table)
            var entities: [Int64: StoreMapping.Entity] = [:]
            for member in members {
                guard let model = schema.entitiesByName[member.name], let rows = storage.entity(named: member.name)
                else { continue }
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
        for (slot, property) in model.properties.enumerated() {
            let owner = declaring(property.name, of: entity)
            if let attribute = property.asAttribute {
                guard !attribute.isTransient else { continue }
                let source = source(of: attribute, owner.number, "", columns, &query)
                attributes.append(
                    StoreMapping.Attribute(
                        slot: slot, name: attribute.name, kind: attribute.kind, isOptional: attribute.isOptional,
                        isExternal: attribute.isStoredExternally, source: source))
            } else if let relationship = property.asRelationship, relationship.isToOneRelationship {
                toOnes.append(try toOne(relationship, slot, (owner, entity), columns, &query))
            }
        }
        return StoreMapping.Entity(
            name: entity.name, number: entity.number, storage: rows, attributes: attributes, toOnes: toOnes)
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
        _ relationship: Schema.Relationship, _ slot: Int,
        _ entities: (owner: SourceCatalog.Entity, own: SourceCatalog.Entity), _ columns: [String: String],
        _ query: inout RowQuery
    ) throws(ImportError) -> StoreMapping.ToOne {
        let owner = entities.owner
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
            targetIndex: query.lookUp("Z_ENT", in: place.table, by: column), destination: destination.number,
            heirs: catalog.descendants(of: destination.number), inverseIndex: inverseIndex,
            isOutsideInverse: inverse.map { $0.destination != entities.own.name } ?? false, order: order)
    }

    private func scale(of column: String, in table: String, last: String) throws(ImportError) -> OrderScale {
        let (column, table) = (SourceCatalog.quoted(column), SourceCatalog.quoted(table))
        let query = try database.query(
            "SELECT min(\(column)), max(\(column)), (SELECT max(\(last)) FROM \(table)) FROM \(table) WHERE typeof(\(column)) = 'integer'"
        )
        guard try query.next() else { return OrderScale(least: nil, greatest: nil, last: 1) }
        return OrderScale(least: query.integer(0), greatest: query.integer(1), last: query.integer(2) ?? 1)
    }

    // MARK: Links

    private mutating func mapLinks(to storage: SchemaStorage) throws(ImportError) {
        var done: Set<UInt16> = []
        for entity in catalog.entities.values.sorted(by: { $0.number < $1.number }) {
            guard let model = schema.entitiesByName[entity.name], let rows = storage.entity(named: entity.name) else {
                continue
            }
            for (slot, property) in model.properties.enumerated() {
                guard let relationship = property.asRelationship, case .toMany(let kept) = rows.slots[slot],
                    case .link(let side, _) = kept.members, done.insert(side.table.rawValue).inserted
                else { continue }
                // An heir's own links of an inherited relationship: the join table is the declaring entity's.
                guard model.storedPropertiesByName[relationship.name] != nil else { continue }
                var found = try joined(relationship, entity, side)
                if found == nil { found = try owned(relationship, entity, side) }
                if let found {
                    links.append(found)
                } else {
                    missing.append(
                        (entity.name, relationship.name, "the store has no join table or column for the relationship"))
                }
            }
        }
    }

    /// The join table of a relationship, and its columns.
    private func joinTable(
        of relationship: Schema.Relationship, _ owner: SourceCatalog.Entity
    ) -> (table: String, owners: String, members: String)? {
        guard let inverse = schema.inverse(of: relationship), inverse !== relationship,
            let member = catalog.entities[relationship.destination]
        else { return nil }
        let names = [
            "Z_\(owner.number)\(relationship.name.uppercased())", "Z_\(member.number)\(inverse.name.uppercased())",
        ]
        for name in names {
            guard let columns = catalog.tables[name]?.map(\.name) else { continue }
            func column(_ base: String) -> String? {
                columns.first { $0 == base }
                    ?? columns.first { $0.hasPrefix(base) && $0.dropFirst(base.count).allSatisfy(\.isNumber) }
            }
            guard let members = column("Z_\(member.number)\(relationship.name.uppercased())"),
                let owners = column("Z_\(owner.number)\(inverse.name.uppercased())"), members != owners
            else { continue }
            return (name, owners, members)
        }
        return nil
    }

    /// The links of a join table.
    private func joined(
        _ relationship: Schema.Relationship, _ owner: SourceCatalog.Entity, _ side: LinkSide
    ) throws(ImportError) -> StoreMapping.Links? {
        guard let (table, owners, members) = joinTable(of: relationship, owner),
            let member = catalog.entities[relationship.destination]
        else { return nil }
        func order(_ column: String) throws(ImportError) -> (column: String, scale: OrderScale)? {
            let positions = "Z_FOK_" + column.dropFirst(2)
            guard catalog.tables[table]?.contains(where: { $0.name == positions }) == true else { return nil }
            return (positions, try scale(of: positions, in: table, last: "rowid"))
        }
        let place = LinkPlace(
            table: table, number: "rowid", owners: owners, members: members, memberOrder: try order(members),
            ownerOrder: try order(owners))
        return try links(relationship, side, owner, member, place)
    }

    /// The column for the owner in the table of the members, for a relationship without an inverse.
    private func ownedColumn(
        of relationship: Schema.Relationship, _ owner: SourceCatalog.Entity
    ) throws(ImportError) -> (table: String, column: String)? {
        guard relationship.inverseName == nil, let member = catalog.entities[relationship.destination],
            let place = places[try catalog.root(of: member).name]
        else { return nil }
        let column = "Z\(owner.number)\(relationship.name.uppercased())"
        guard catalog.tables[place.table]?.contains(where: { $0.name == column }) == true else { return nil }
        return (place.table, column)
    }

    /// The links of a relationship without an inverse: the members' table has a column for the owner.
    private func owned(
        _ relationship: Schema.Relationship, _ owner: SourceCatalog.Entity, _ side: LinkSide
    ) throws(ImportError) -> StoreMapping.Links? {
        guard let (table, column) = try ownedColumn(of: relationship, owner),
            let member = catalog.entities[relationship.destination]
        else { return nil }
        let positions = "Z_FOK_" + column.dropFirst()
        let order: (String, OrderScale)? =
            catalog.tables[table]?.contains { $0.name == positions } == true
            ? (positions, try scale(of: positions, in: table, last: "Z_PK")) : nil
        let ends = LinkPlace(
            table: table, number: "Z_PK", owners: column, members: "Z_PK", memberOrder: order, ownerOrder: nil)
        return try links(relationship, side, owner, member, ends)
    }

    /// The columns of links in a table.
    private struct LinkPlace {
        let table: String
        /// The column with the numbers of links.
        let number: String
        let owners: String
        let members: String
        let memberOrder: (column: String, scale: OrderScale)?
        let ownerOrder: (column: String, scale: OrderScale)?
    }

    private func links(
        _ relationship: Schema.Relationship, _ side: LinkSide, _ owner: SourceCatalog.Entity,
        _ member: SourceCatalog.Entity, _ place: LinkPlace
    ) throws(ImportError) -> StoreMapping.Links? {
        guard let ownerPlace = places[try catalog.root(of: owner).name],
            let memberPlace = places[try catalog.root(of: member).name]
        else { return nil }
        var query = RowQuery(table: place.table, number: place.number, second: SourceCatalog.quoted(place.owners))
        query.add("r.\(SourceCatalog.quoted(place.members))")
        _ = query.lookUp("Z_ENT", in: ownerPlace.table, by: place.owners)
        _ = query.lookUp("Z_ENT", in: memberPlace.table, by: place.members)
        func order(_ order: (column: String, scale: OrderScale)?) -> StoreMapping.Order? {
            order.map {
                StoreMapping.Order(
                    column: $0.column, index: query.value($0.column, isLarge: false).index, scale: $0.scale)
            }
        }
        let (memberOrder, ownerOrder) = (order(place.memberOrder), order(place.ownerOrder))
        query.condition = "r.\(SourceCatalog.quoted(place.owners)) IS NOT NULL"
        return StoreMapping.Links(
            entity: owner.name, name: relationship.name, table: place.table,
            columns: (place.owners, place.members), side: side, sql: query.sql,
            owner: owner.number, member: member.number,
            heirs: catalog.descendants(of: owner.number).union(catalog.descendants(of: member.number)),
            memberOrder: memberOrder, ownerOrder: ownerOrder)
    }
}
#endif
