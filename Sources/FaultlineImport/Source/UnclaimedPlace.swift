#if Import
internal import FaultlineModel

/// A column, or a whole table, of a store that the model has no property for.
struct UnclaimedPlace {
    let table: String
    /// Nil for the whole table.
    let column: String?

    /// Finds the places.
    ///
    /// - Parameters:
    ///   - catalog: The store's tables.
    ///   - claimed: The columns of properties, by table of objects.
    ///   - joinTables: The tables of relationships.
    /// - Returns: The places, by names.
    static func find(
        in catalog: SourceCatalog, besides claimed: [String: Set<String>], _ joinTables: Set<String>
    ) -> [Self] {
        let own = Set(catalog.ownEntities.map { "Z" + $0.uppercased() })
        var found: [Self] = []
        for (table, columns) in catalog.tables.sorted(by: { $0.key < $1.key }) {
            if let claimed = claimed[table] {
                found += columns.map(\.name).filter { !isKnown($0, claimed) }.map { Self(table: table, column: $0) }
            } else if !joinTables.contains(table), !own.contains(table), isOfModel(table, columns) {
                found.append(Self(table: table, column: nil))
            }
        }
        return found
    }

    /// Whether a column is a property's or goes with one: Z_FOK_NAME has the order, Z9_NAME the entity it leads to.
    private static func isKnown(_ column: String, _ claimed: Set<String>) -> Bool {
        if ["Z_PK", "Z_ENT", "Z_OPT"].contains(column) || claimed.contains(column) { return true }
        let order = "Z_FOK_"
        if column.hasPrefix(order) { return claimed.contains("Z" + column.dropFirst(order.count)) }
        let rest = column.dropFirst().drop { $0.isASCII && $0.isNumber }
        guard column.hasPrefix("Z"), rest.hasPrefix("_"), rest.count < column.count - 1 else { return false }
        return claimed.contains("Z" + rest.dropFirst())
    }

    /// Whether a table has objects or links of a model; Core Data's own and those of indexes have none.
    private static func isOfModel(_ table: String, _ columns: [SourceCatalog.Column]) -> Bool {
        guard table.hasPrefix("Z_") else {
            let names = columns.map(\.name)
            return table.hasPrefix("Z") && names.contains("Z_PK") && names.contains("Z_ENT")
        }
        guard let number = linkOwner(table) else { return false }
        return number < SourceCatalog.firstOwnNumber
    }

    /// The number of the entity in the name of a join table, as 2 in Z_2TAGS.
    private static func linkOwner(_ table: String) -> Int64? {
        Int64(table.dropFirst(2).prefix { $0.isASCII && $0.isNumber })
    }

    /// Records all values that the place has.
    ///
    /// - Throws: `ImportError` if the source cannot be read, or a finding cannot be written.
    func note(
        _ database: SQLiteDatabase, _ catalog: SourceCatalog, _ findings: FindingLog
    ) throws(ImportError) {
        func name(_ number: Int64?) -> String { catalog.entities.values.first { $0.number == number }?.name ?? "" }
        guard let column else {
            let isJoin = table.hasPrefix("Z_")
            let columns = catalog.tables[table]?.map(\.name) ?? []
            let rows = try WholeRows(database, table, columns, number: isJoin ? "rowid" : "Z_PK")
            let owner = isJoin ? name(Self.linkOwner(table)) : ""
            while let number = try rows.next() {
                try findings.note(
                    .unknownColumn, owner, table, number, column: table, .value(.null), row: rows.values)
            }
            return
        }
        var query = RowQuery(table: table)
        let value = query.value(column, isLarge: true)
        query.condition = "r.\(SourceCatalog.quoted(column)) IS NOT NULL"
        let rows = try database.query(query.sql)
        rows.bind(Int64.min, at: 1)
        while try rows.next() {
            guard let number = rows.integer(0) else { continue }
            try findings.note(
                .unknownColumn, name(rows.integer(1)), column, number, column: "\(table).\(column)",
                rows.found(value, table, row: number, database))
        }
    }
}

/// How well a model fits a store whose tables have all of it: the smaller, the better.
struct ModelFit: Comparable {
    /// Columns and tables of the store without a property.
    private let unclaimed: Int
    /// Properties with a column of another type, or without a place.
    private let weak: Int
    /// Attributes that differ from those of the model in the store.
    private let differing: Int

    /// Judges a model.
    ///
    /// - Parameters:
    ///   - builder: The mapping of the model, checked.
    ///   - stored: The model in the store; nil if it has none that can be read.
    init(_ builder: MappingBuilder, _ stored: Schema?) {
        unclaimed = builder.unclaimed.count
        weak = builder.weakClaimCount
        var differing = 0
        for entity in builder.schema.entities {
            guard let known = stored?.entitiesByName[entity.name] else { continue }
            for property in entity.storedProperties {
                guard let attribute = property.asAttribute,
                    let other = known.storedPropertiesByName[property.name]?.asAttribute
                else { continue }
                if attribute.kind != other.kind || attribute.isOptional != other.isOptional
                    || attribute.isStoredExternally != other.isStoredExternally
                {
                    differing += 1
                }
            }
        }
        self.differing = differing
    }

    static func < (first: Self, second: Self) -> Bool {
        (first.unclaimed, first.weak, first.differing) < (second.unclaimed, second.weak, second.differing)
    }
}
#endif
