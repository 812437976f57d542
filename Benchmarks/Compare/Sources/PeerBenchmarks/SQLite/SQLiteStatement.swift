import BenchmarkKit
import Foundation
import GRDBSQLite

/// A prepared statement.
final class SQLiteStatement {
    private let statement: OpaquePointer

    /// - Throws: `.storage` with SQLite's message.
    init(_ database: OpaquePointer, _ text: String) throws {
        var made: OpaquePointer?
        try SQLiteStatement.check(
            sqlite3_prepare_v3(database, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &made, nil), text)
        guard let made else { throw BenchmarkError(.storage, "SQLite: no statement in \(text)") }
        statement = made
    }

    deinit { sqlite3_finalize(statement) }

    @inline(__always)
    static func check(_ status: Int32, _ doing: @autoclosure () -> String) throws(BenchmarkError) {
        guard status != SQLITE_OK else { return }
        throw BenchmarkError(.storage, "SQLite: \(String(cString: sqlite3_errstr(status))) in \(doing())")
    }

    // MARK: Values

    @inline(__always)
    func bind(_ place: Int32, _ number: Int64) { sqlite3_bind_int64(statement, place, number) }

    @inline(__always)
    func bind(_ place: Int32, _ number: Double) { sqlite3_bind_double(statement, place, number) }

    /// Binds a text in place: it must stay there until `reset`.
    @inline(__always)
    func bind(_ place: Int32, _ text: UnsafeBufferPointer<UInt8>) {
        text.withMemoryRebound(to: CChar.self) { text in
            _ = sqlite3_bind_text(statement, place, text.baseAddress, Int32(text.count), nil)
        }
    }

    /// Binds bytes in place: they must stay there until `reset`.
    @inline(__always)
    func bind(_ place: Int32, _ bytes: UnsafeRawBufferPointer) {
        sqlite3_bind_blob64(statement, place, bytes.baseAddress, UInt64(bytes.count), nil)
    }

    @inline(__always)
    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }

    @inline(__always)
    func double(_ column: Int32) -> Double { sqlite3_column_double(statement, column) }

    @inline(__always)
    func text(_ column: Int32) -> String {
        let start = sqlite3_column_text(statement, column)
        let count = Int(sqlite3_column_bytes(statement, column))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    /// The bytes of a column, valid until the next step.
    @inline(__always)
    func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
        let start = sqlite3_column_blob(statement, column)
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column)))
    }

    // MARK: Running

    /// Moves to the next row; false behind the last.
    @inline(__always)
    func step() throws -> Bool {
        switch sqlite3_step(statement) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default:
            let message = String(cString: sqlite3_errmsg(sqlite3_db_handle(statement)))
            sqlite3_reset(statement)
            throw BenchmarkError(.storage, "SQLite: \(message)")
        }
    }

    @inline(__always)
    func reset() { sqlite3_reset(statement) }

    /// Runs a statement without rows.
    @inline(__always)
    func run() throws {
        while try step() {}
        reset()
    }
}
