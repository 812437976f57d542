#if Import
/// A query over the rows of a table by rising numbers, from behind a given one.
struct RowQuery {
    let table: String
    private let number: String
    private var results: [String]
    private var indexes: [String: Int] = [:]
    /// A further condition of rows.
    var condition: String?

    /// Blobs of more bytes are not part of the result: they are read piece by piece.
    static let largeByteCountMin = 65_536

    init(table: String, number: String = "Z_PK", second: String = "Z_ENT") {
        self.table = table
        self.number = number
        results = ["r.\(number)", "r.\(second)"]
    }

    var sql: String {
        "SELECT \(results.joined(separator: ", ")) FROM \(SourceCatalog.quoted(table)) r WHERE r.\(number) > ?1\(condition.map { " AND " + $0 } ?? "") ORDER BY r.\(number)"
    }

    /// Adds a result, once.
    @discardableResult
    mutating func add(_ expression: String) -> Int {
        if let index = indexes[expression] { return index }
        results.append(expression)
        indexes[expression] = results.count - 1
        return results.count - 1
    }

    /// Adds a column of the table.
    mutating func value(_ column: String, isLarge: Bool) -> StoreMapping.Value {
        let name = "r." + SourceCatalog.quoted(column)
        guard isLarge else { return StoreMapping.Value(column: column, index: add(name), sizeIndex: nil) }
        let isBlob = "typeof(\(name)) = 'blob'"
        return StoreMapping.Value(
            column: column,
            index: add(
                "CASE WHEN \(isBlob) AND length(\(name)) > \(Self.largeByteCountMin) THEN NULL ELSE \(name) END"),
            sizeIndex: add("CASE WHEN \(isBlob) THEN length(\(name)) ELSE -1 END"))
    }

    /// Adds a column of the row of another table that a column of this one leads to.
    mutating func lookUp(_ wanted: String, in other: String, by column: String) -> Int {
        add(
            "(SELECT t.\(SourceCatalog.quoted(wanted)) FROM \(SourceCatalog.quoted(other)) t WHERE t.Z_PK = r.\(SourceCatalog.quoted(column)))"
        )
    }
}
#endif
