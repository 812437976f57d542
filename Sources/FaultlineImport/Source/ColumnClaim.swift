#if Import
internal import FaultlineModel

/// A property that a table must have a column for.
struct ColumnClaim {
    /// The number of the entity that declares the property.
    let entity: Int64
    let entityName: String
    /// The name of the property; of an attribute inside a composite one, the names on the way to it with dots.
    let path: String
    /// The name that Core Data gives the column, where no other property of the table has the same.
    let base: String
    /// Declared types of columns that have such values.
    let types: Set<String>

    init(_ entity: SourceCatalog.Entity, path: String, kind: AttributeKind?) {
        self.entity = entity.number
        entityName = entity.name
        self.path = path
        base = Self.column(of: path)
        types = Self.types(of: kind)
    }

    /// The column of a property's name.
    static func column(of path: String) -> String {
        "Z" + (path.split(separator: ".").last.map { $0.uppercased() } ?? "")
    }

    /// The declared types of columns for values of a kind; nil stands for a reference.
    private static func types(of kind: AttributeKind?) -> Set<String> {
        switch kind {
        case nil, .bool, .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64: ["INTEGER"]
        case .float, .double: ["FLOAT"]
        case .date: ["TIMESTAMP"]
        case .decimal: ["DECIMAL"]
        case .string, .url: ["VARCHAR"]
        case .uuid, .data, .codable: ["BLOB"]
        }
    }
}

/// Finds the columns of a table's properties.
///
/// Core Data numbers columns of equal names, `ZNAME`, `ZNAME1`: two entities of a table may have properties of one name,
/// and composite attributes may have such attributes inside. The numbers follow from an order that the store does not
/// say. So the objects decide: a column with values in objects of one entity belongs to it. The others go by the order
/// of entity numbers and names, which is noted.
struct ColumnAssignment {
    private(set) var columns: [String: String] = [:]
    private(set) var notes: [String] = []
    private(set) var missing: [ColumnClaim] = []
    /// Columns whose declared type is none of their property's.
    private(set) var otherTypeCount = 0

    /// The key of a claim in `columns`.
    static func key(_ entity: Int64, _ path: String) -> String { "\(entity) \(path)" }

    /// Assigns columns.
    ///
    /// - Parameters:
    ///   - claims: The properties of all entities of the table.
    ///   - table: The table's columns.
    ///   - hasValues: Whether objects of an entity have values in a column.
    /// - Throws: The error of `hasValues`.
    init(
        _ claims: [ColumnClaim], _ table: [SourceCatalog.Column],
        hasValues: (_ entity: Int64, _ column: String) throws(ImportError) -> Bool
    ) throws(ImportError) {
        let bases = Set(claims.map(\.base))
        for (base, group) in Dictionary(grouping: claims, by: \.base).sorted(by: { $0.key < $1.key }) {
            var free = table.filter { $0.name == base || !bases.contains($0.name) && Self.isNumbered($0.name, base) }
            var open = group.sorted { ($0.entity, $0.path) < ($1.entity, $1.path) }
            // A property that only one column can belong to.
            if open.count > 1 {
                for claim in open {
                    let fitting = free.filter { claim.types.contains($0.type) }
                    let rivals = open.filter { !$0.types.isDisjoint(with: claim.types) }
                    guard rivals.count == 1, let column = fitting.first else { continue }
                    take(column, claim, &free, &open)
                }
                if Set(open.map(\.entity)).count == open.count { try decide(&free, &open, hasValues) }
                if open.count > 1 {
                    notes.append(
                        "\(open.map { "\($0.entityName).\($0.path)" }.joined(separator: ", ")): columns \(free.map(\.name).joined(separator: ", ")) go to them in this order, because nothing in the store tells them apart"
                    )
                }
            }
            for claim in open {
                guard let column = free.first(where: { claim.types.contains($0.type) }) ?? free.first else {
                    missing.append(claim)
                    continue
                }
                take(column, claim, &free, &open)
            }
        }
    }

    private mutating func take(
        _ column: SourceCatalog.Column, _ claim: ColumnClaim, _ free: inout [SourceCatalog.Column],
        _ open: inout [ColumnClaim]
    ) {
        columns[Self.key(claim.entity, claim.path)] = column.name
        if !claim.types.contains(column.type) { otherTypeCount += 1 }
        free.removeAll { $0.name == column.name }
        open.removeAll { $0.entity == claim.entity && $0.path == claim.path }
    }

    /// Gives columns to the only entity whose objects have values in them.
    private mutating func decide(
        _ free: inout [SourceCatalog.Column], _ open: inout [ColumnClaim],
        _ hasValues: (_ entity: Int64, _ column: String) throws(ImportError) -> Bool
    ) throws(ImportError) {
        for column in free {
            var users: [ColumnClaim] = []
            for claim in open where try hasValues(claim.entity, column.name) { users.append(claim) }
            if users.count == 1 { take(column, users[0], &free, &open) }
        }
    }

    private static func isNumbered(_ name: String, _ base: String) -> Bool {
        name.hasPrefix(base) && name.dropFirst(base.count).allSatisfy { $0.isASCII && $0.isNumber }
    }
}
#endif
