import BenchmarkKit
import CLMDB

/// Reads and writes within one transaction; the bytes of values belong to LMDB, and are valid until its next write.
struct LMDBTransaction {
    private let transaction: OpaquePointer?

    init(_ transaction: OpaquePointer?) {
        self.transaction = transaction
    }

    @inline(__always)
    private static func value(_ bytes: UnsafeRawBufferPointer) -> MDB_val {
        MDB_val(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
    }

    @inline(__always)
    private func withKey<R>(_ key: UInt, _ body: (inout MDB_val) throws -> R) rethrows -> R {
        try withUnsafeBytes(of: key) { bytes in
            var key = Self.value(bytes)
            return try body(&key)
        }
    }

    // MARK: Reading

    /// The value of a key that must be there.
    @inline(__always)
    func get(_ table: MDB_dbi, _ key: UInt) throws -> UnsafeRawBufferPointer {
        try withKey(key) { key in
            var value = MDB_val()
            try check(mdb_get(transaction, table, &key, &value))
            return UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size)
        }
    }

    /// The number stored for a key.
    @inline(__always)
    func number(_ table: MDB_dbi, _ key: UnsafeRawBufferPointer) throws -> UInt {
        var key = Self.value(key)
        var value = MDB_val()
        try check(mdb_get(transaction, table, &key, &value))
        guard value.mv_size == MemoryLayout<UInt>.size else { throw BenchmarkError(.wrongResult, "no number") }
        return value.mv_data.loadUnaligned(as: UInt.self)
    }

    /// The highest key, or 0.
    func lastKey(_ table: MDB_dbi) throws -> UInt {
        try withCursor(table) { cursor in
            var key = MDB_val()
            var value = MDB_val()
            let status = mdb_cursor_get(cursor, &key, &value, MDB_LAST)
            if status == MDB_NOTFOUND { return 0 }
            try check(status)
            return key.mv_data.loadUnaligned(as: UInt.self)
        }
    }

    /// The number of a key's values.
    func duplicateCount(_ table: MDB_dbi, _ key: UInt) throws -> Int {
        try withCursor(table) { cursor in
            try withKey(key) { key in
                var value = MDB_val()
                let status = mdb_cursor_get(cursor, &key, &value, MDB_SET)
                if status == MDB_NOTFOUND { return 0 }
                try check(status)
                var count = 0
                try check(mdb_cursor_count(cursor, &count))
                return count
            }
        }
    }

    /// Calls `body` with the numbers of a key, in order.
    func walkNumbers(_ table: MDB_dbi, _ key: UInt, _ body: (UInt) throws -> Void) throws {
        try withCursor(table) { cursor in
            try withKey(key) { key in
                var value = MDB_val()
                var status = mdb_cursor_get(cursor, &key, &value, MDB_SET)
                while status != MDB_NOTFOUND {
                    try check(status)
                    guard value.mv_size == MemoryLayout<UInt>.size else {
                        throw BenchmarkError(.wrongResult, "no number")
                    }
                    try body(value.mv_data.loadUnaligned(as: UInt.self))
                    status = mdb_cursor_get(cursor, &key, &value, MDB_NEXT_DUP)
                }
            }
        }
    }

    /// Calls `body` with all keys and values of a table, in order.
    @inline(__always)
    func walk(_ table: MDB_dbi, _ body: (UInt, UnsafeRawBufferPointer) throws -> Void) throws {
        try withCursor(table) { cursor in
            var key = MDB_val()
            var value = MDB_val()
            while true {
                let status = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
                if status == MDB_NOTFOUND { return }
                try check(status)
                try body(
                    key.mv_data.loadUnaligned(as: UInt.self),
                    UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size)
                )
            }
        }
    }

    @inline(__always)
    private func withCursor<R>(_ table: MDB_dbi, _ body: (OpaquePointer?) throws -> R) throws -> R {
        var cursor: OpaquePointer?
        try check(mdb_cursor_open(transaction, table, &cursor))
        defer { mdb_cursor_close(cursor) }
        return try body(cursor)
    }

    // MARK: Writing

    /// Deletes a key that must be there, with all its values.
    func delete(_ table: MDB_dbi, _ key: UnsafeRawBufferPointer) throws {
        var key = Self.value(key)
        try check(mdb_del(transaction, table, &key, nil))
    }

    /// Deletes a key that must be there, with all its values.
    func delete(_ table: MDB_dbi, _ key: UInt) throws {
        try withUnsafeBytes(of: key) { try delete(table, $0) }
    }

    @inline(__always)
    func put(_ table: MDB_dbi, _ key: UInt, _ bytes: UnsafeRawBufferPointer, _ flags: Int32) throws {
        try withKey(key) { key in
            var value = Self.value(bytes)
            try check(mdb_put(transaction, table, &key, &value, UInt32(flags)))
        }
    }

    @inline(__always)
    func put(_ table: MDB_dbi, _ key: UInt, _ bytes: [UInt8], _ flags: Int32) throws {
        try bytes.withUnsafeBytes { try put(table, key, $0, flags) }
    }

    /// Adds a number to those of a key.
    @inline(__always)
    func put(_ table: MDB_dbi, _ key: UInt, _ number: UInt) throws {
        try withUnsafeBytes(of: number) { try put(table, key, $0, 0) }
    }

    /// Stores a number under a key that must be new.
    @inline(__always)
    func putNew(_ table: MDB_dbi, _ key: UnsafeRawBufferPointer, _ number: UInt) throws {
        try withUnsafeBytes(of: number) { number in
            var key = Self.value(key)
            var value = Self.value(number)
            try check(mdb_put(transaction, table, &key, &value, UInt32(MDB_NOOVERWRITE)))
        }
    }
}
