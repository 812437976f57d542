#if Import
internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

// Relationships that both sides have as a collection, or that have no inverse.

extension MappingBuilder {
    /// Finds the links of all relationships that have them.
    ///
    /// - Throws: `ImportError` if the source cannot be read.
    mutating func mapLinks(to storage: SchemaStorage) throws(ImportError) {
        var done: Set<UInt16> = []
        for entity in catalog.entities.values.sorted(by: { $0.number < $1.number }) {
            guard let model = schema.entitiesByName[entity.name],
                let rows = storage.entity(named: try catalog.root(of: entity).name)
            else { continue }
            let slots = try slots(of: model, rows)
            // An heir's own links of an inherited relationship: the join table is the declaring entity's.
            for (slot, property) in zip(slots, model.properties).dropFirst(model.inheritedProperties.count) {
                guard let relationship = property.asRelationship, case .toMany(let kept) = rows.slots[slot],
                    case .link(let side, _) = kept.members,
                    // Relationships of two entities of a hierarchy may share a table if they have no inverse.
                    done.insert(side.table.rawValue).inserted || relationship.inverseName == nil
                else { continue }
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
    func joinTable(
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
    func ownedColumn(
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
            position: links.count, entity: owner.name, name: relationship.name, table: place.table,
            number: place.number, columns: (place.owners, place.members), side: side, sql: query.sql,
            owners: catalog.family(of: owner), members: catalog.family(of: member), memberOrder: memberOrder,
            ownerOrder: ownerOrder, offset: try offset(in: side))
    }

    /// The number behind which the next links in a table of the new store begin.
    private func offset(in side: LinkSide) throws(ImportError) -> Int64 {
        guard let last = links.last(where: { $0.side.table == side.table }) else { return 0 }
        let query = try database.query(
            "SELECT max(\(last.number)) FROM \(SourceCatalog.quoted(last.table)) r WHERE \(last.number) <= \(RowReader.numberMax) AND \(SourceCatalog.quoted(last.columns.owner)) IS NOT NULL"
        )
        return last.offset + (try query.next() ? max(query.integer(0) ?? 0, 0) : 0)
    }
}
#endif
