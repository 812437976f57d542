#if Import
/// A value for the file of findings.
enum FoundValue {
    case value(SQLiteValue)
    /// One that is read piece by piece, of a row of a database.
    case large(LargeValue, SQLiteDatabase, row: Int64)
}

extension SQLiteQuery {
    /// A value of the current row, which is read piece by piece if it is large.
    func found(_ value: StoreMapping.Value, _ table: String, row: Int64, _ database: SQLiteDatabase) -> FoundValue {
        if let sizeIndex = value.sizeIndex, let size = integer(sizeIndex), size > RowQuery.largeByteCountMin {
            let place = LargeValue.Place.column(table: table, column: value.column, offset: 0)
            return .large(LargeValue(slot: 0, place: place, byteCount: Int(size)), database, row: row)
        }
        return .value(self.value(value.index))
    }
}

/// Rows of a table with all their columns, for the file of findings.
final class WholeRows {
    private let database: SQLiteDatabase
    private let table: String
    private let query: SQLiteQuery
    private let columns: [StoreMapping.Value]

    /// Begins with the first row, or with the only one that has exactly a number in the column of numbers.
    ///
    /// - Throws: `ImportError` if the table cannot be read.
    init(
        _ database: SQLiteDatabase, _ table: String, _ columns: [String], number: String, exactly: Int64? = nil
    ) throws(ImportError) {
        self.database = database
        self.table = table
        var rows = RowQuery(table: table, number: number, second: number)
        self.columns = columns.map { rows.value($0, isLarge: true) }
        if let exactly { rows.condition = "r.\(number) = \(exactly)" }
        query = try database.query(rows.sql)
        query.bind(Int64.min, at: 1)
    }

    /// Goes to the next row, and returns its number; nil behind the last one.
    ///
    /// - Throws: `ImportError` if the table cannot be read.
    func next() throws(ImportError) -> Int64? {
        while try query.next() {
            if let number = query.integer(0) { return number }
        }
        return nil
    }

    /// The columns of the current row; of use until the next one.
    var values: [(name: String, value: FoundValue)] {
        let number = query.integer(0) ?? 0
        return columns.map { ($0.column, query.found($0, table, row: number, database)) }
    }
}
#endif
