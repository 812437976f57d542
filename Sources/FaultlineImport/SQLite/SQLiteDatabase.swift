#if Import
internal import CSQLite

/// A SQLite database that is only read; it belongs to one thread.
final class SQLiteDatabase {
    let path: String
    private let handle: OpaquePointer

    /// Memory for pages of the database.
    private static let cacheByteCount = 8 << 20

    /// Opens a database, with the write-ahead log beside it.
    ///
    /// - Throws: `ImportError` if it cannot be opened.
    init(_ path: String) throws(ImportError) {
        self.path = path
        guard ReadOnlyFiles.isRegistered else {
            throw ImportError(.unreadable, "SQLite takes no file system for reading.", path: path)
        }
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let status = sqlite3_open_v2(path, &opened, flags, ReadOnlyFiles.name)
        guard status == SQLITE_OK, let opened else {
            let error = Self.error(opened, status, path, "cannot be opened")
            sqlite3_close_v2(opened)
            throw error
        }
        handle = opened
        // Before the first read: so the index of the write-ahead log is on the heap, not in a file.
        try run("PRAGMA locking_mode = EXCLUSIVE")
        try run("PRAGMA trusted_schema = OFF")
        try run("PRAGMA cell_size_check = ON")
        try run("PRAGMA mmap_size = 0")
        try run("PRAGMA cache_size = -\(Self.cacheByteCount >> 10)")
        // One state for all statements, for as long as the connection is open.
        try run("BEGIN")
    }

    deinit { sqlite3_close_v2(handle) }

    private func run(_ sql: String) throws(ImportError) {
        let status = sqlite3_exec(handle, sql, nil, nil, nil)
        guard status == SQLITE_OK else { throw error(status, "cannot be read") }
    }

    /// Compiles a query.
    ///
    /// - Throws: `ImportError` with SQLite's message.
    func query(_ sql: String) throws(ImportError) -> SQLiteQuery {
        var statement: OpaquePointer?
        let status = sqlite3_prepare_v2(handle, sql, -1, &statement, nil)
        guard status == SQLITE_OK, let statement else { throw error(status, "cannot be read") }
        return SQLiteQuery(statement, self)
    }

    /// Opens one value, to be read piece by piece.
    ///
    /// - Throws: `ImportError` if there is no such value, or it cannot be read.
    func openBlob(_ table: String, _ column: String, row: Int64) throws(ImportError) -> SQLiteBlob {
        var blob: OpaquePointer?
        let status = sqlite3_blob_open(handle, "main", table, column, row, 0, &blob)
        guard status == SQLITE_OK, let blob else { throw error(status, "\(table).\(column) \(row) cannot be read") }
        return SQLiteBlob(blob, self)
    }

    /// An error of SQLite in words.
    func error(_ status: Int32, _ what: String) -> ImportError { Self.error(handle, status, path, what) }

    private static func error(
        _ handle: OpaquePointer?, _ status: Int32, _ path: String, _ what: String
    ) -> ImportError {
        let reason = handle.map { String(cString: sqlite3_errmsg($0)) } ?? String(cString: sqlite3_errstr(status))
        switch status & 0xFF {
        case SQLITE_NOTADB:
            return ImportError(
                .notAStore,
                "\(path) is not an SQLite database (\(reason)): it is another kind of file, or encrypted. Decrypt it first.",
                path: path)
        case SQLITE_CORRUPT:
            return ImportError(
                .damaged,
                "\(path) \(what): \(reason). Copy it with its -wal again, or recover it with `sqlite3 \(path) .recover`.",
                path: path)
        case SQLITE_READONLY:
            return ImportError(
                .unreadable,
                "\(path) \(what): \(reason). A -journal of an unfinished transaction is beside it: open a copy once with sqlite3, which undoes the transaction, and import that copy.",
                path: path)
        default:
            return ImportError(.unreadable, "\(path) \(what): \(reason) (SQLite's code \(status)).", path: path)
        }
    }
}

/// A compiled query.
final class SQLiteQuery {
    private let statement: OpaquePointer
    private let database: SQLiteDatabase

    init(_ statement: OpaquePointer, _ database: SQLiteDatabase) {
        self.statement = statement
        self.database = database
    }

    deinit { sqlite3_finalize(statement) }

    /// Sets a parameter, counted from 1.
    func bind(_ value: Int64, at index: Int32) { sqlite3_bind_int64(statement, index, value) }

    /// Goes to the next row; false behind the last one.
    ///
    /// - Throws: `ImportError` if the database cannot be read there.
    func next() throws(ImportError) -> Bool {
        let status = sqlite3_step(statement)
        if status == SQLITE_ROW { return true }
        guard status == SQLITE_DONE else { throw database.error(status, "cannot be read") }
        return false
    }

    /// A value of the current row, valid until the next one.
    @inline(__always)
    func value(_ column: Int) -> SQLiteValue {
        let column = Int32(truncatingIfNeeded: column)
        switch sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(statement, column))
        case SQLITE_FLOAT: return .real(sqlite3_column_double(statement, column))
        case SQLITE_TEXT:
            let text = sqlite3_column_text(statement, column)
            return .text(UnsafeRawBufferPointer(start: text, count: Int(sqlite3_column_bytes(statement, column))))
        case SQLITE_BLOB:
            let bytes = sqlite3_column_blob(statement, column)
            return .blob(UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(statement, column))))
        default: return .null
        }
    }

    /// The integer of a column; nil for any other value.
    @inline(__always)
    func integer(_ column: Int) -> Int64? {
        let column = Int32(truncatingIfNeeded: column)
        guard sqlite3_column_type(statement, column) == SQLITE_INTEGER else { return nil }
        return sqlite3_column_int64(statement, column)
    }

    /// The text of a column; nil for any other value.
    func text(_ column: Int) -> String? {
        guard case .text(let bytes) = value(column) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// A value as SQLite has it; the bytes belong to the query.
enum SQLiteValue {
    case null
    case integer(Int64)
    case real(Double)
    case text(UnsafeRawBufferPointer)
    case blob(UnsafeRawBufferPointer)

    /// SQLite's name of the type.
    var typeName: String {
        switch self {
        case .null: "null"
        case .integer: "integer"
        case .real: "real"
        case .text: "text"
        case .blob: "blob"
        }
    }
}

/// A value that is read piece by piece.
final class SQLiteBlob {
    private let blob: OpaquePointer
    private let database: SQLiteDatabase

    init(_ blob: OpaquePointer, _ database: SQLiteDatabase) {
        self.blob = blob
        self.database = database
    }

    deinit { sqlite3_blob_close(blob) }

    var byteCount: Int { Int(sqlite3_blob_bytes(blob)) }

    /// Fills memory with the bytes from an offset; the value must have them.
    ///
    /// - Throws: `ImportError` if the database cannot be read there.
    func read(into target: UnsafeMutableRawBufferPointer, at offset: Int) throws(ImportError) {
        let status = sqlite3_blob_read(
            blob, target.baseAddress, Int32(truncatingIfNeeded: target.count), Int32(truncatingIfNeeded: offset))
        guard status == SQLITE_OK else { throw database.error(status, "cannot be read") }
    }
}
#endif
