import BenchmarkKit
import CRocksDB

/// One RocksDB: gets, batches and walks, with its errors thrown.
final class RocksDBStore {
    private let store: OpaquePointer
    private let options: OpaquePointer
    private let writing: OpaquePointer
    private let reading: OpaquePointer

    /// Opens the store in a folder, or creates one.
    init(_ path: String, isSyncing: Bool) throws {
        options = rocksdb_options_create()
        rocksdb_options_set_create_if_missing(options, 1)
        rocksdb_options_set_max_background_jobs(options, 2)
        rocksdb_options_set_compression(options, Int32(rocksdb_lz4_compression))
        rocksdb_options_set_enable_blob_files(options, 1)
        rocksdb_options_set_min_blob_size(options, 4096)
        let table = rocksdb_block_based_options_create()
        let cache = rocksdb_cache_create_lru(64 << 20)
        rocksdb_block_based_options_set_block_cache(table, cache)
        rocksdb_block_based_options_set_filter_policy(table, rocksdb_filterpolicy_create_bloom(10))
        rocksdb_options_set_block_based_table_factory(options, table)
        rocksdb_cache_destroy(cache)
        rocksdb_block_based_options_destroy(table)
        writing = rocksdb_writeoptions_create()
        rocksdb_writeoptions_set_sync(writing, isSyncing ? 1 : 0)
        reading = rocksdb_readoptions_create()
        var message: UnsafeMutablePointer<CChar>?
        let opened = rocksdb_open(options, path, &message)
        try Self.check(message)
        guard let opened else { throw BenchmarkError(.storage, "\(path): no RocksDB") }
        store = opened
    }

    func close() {
        rocksdb_close(store)
        rocksdb_readoptions_destroy(reading)
        rocksdb_writeoptions_destroy(writing)
        rocksdb_options_destroy(options)
    }

    @inline(__always)
    private static func check(_ message: UnsafeMutablePointer<CChar>?) throws {
        guard let message else { return }
        defer { rocksdb_free(message) }
        throw BenchmarkError(.storage, "RocksDB: \(String(cString: message))")
    }

    @inline(__always)
    private static func characters(_ bytes: UnsafeRawBufferPointer) -> UnsafePointer<CChar>? {
        bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
    }

    // MARK: Reading

    /// Runs reads that all see one state.
    func read<R>(_ body: () throws -> R) rethrows -> R {
        let snapshot = rocksdb_create_snapshot(store)
        rocksdb_readoptions_set_snapshot(reading, snapshot)
        defer {
            rocksdb_readoptions_set_snapshot(reading, nil)
            rocksdb_release_snapshot(store, snapshot)
        }
        return try body()
    }

    /// The value of a key, in place; nil if there is none.
    @inline(__always)
    func get<R>(_ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> R) throws -> R? {
        var message: UnsafeMutablePointer<CChar>?
        let slice = rocksdb_get_pinned(store, reading, Self.characters(key), key.count, &message)
        try Self.check(message)
        guard let slice else { return nil }
        defer { rocksdb_pinnableslice_destroy(slice) }
        var count = 0
        let value = rocksdb_pinnableslice_value(slice, &count)
        return try body(UnsafeRawBufferPointer(start: value, count: count))
    }

    /// The value of a key that must be there.
    @inline(__always)
    func get<R>(_ key: RocksDBKey, _ body: (UnsafeRawBufferPointer) throws -> R) throws -> R {
        guard let result = try key.withBytes({ try get($0, body) }) else {
            throw BenchmarkError(.wrongResult, "a key is missing")
        }
        return result
    }

    /// The highest number in a table, or 0.
    func lastNumber(of table: RocksDBKey.Table) -> UInt64 {
        let cursor = rocksdb_create_iterator(store, reading)
        defer { rocksdb_iter_destroy(cursor) }
        RocksDBKey(table, .max).withBytes { rocksdb_iter_seek_for_prev(cursor, Self.characters($0), $0.count) }
        guard rocksdb_iter_valid(cursor) != 0 else { return 0 }
        var count = 0
        let key = UnsafeRawBufferPointer(start: rocksdb_iter_key(cursor, &count), count: count)
        return key.first == table.rawValue ? RocksDBKey.number(key) : 0
    }

    /// Calls `body` with keys and values in order, from a start key, until it returns false.
    @inline(__always)
    func walk(
        from start: RocksDBKey,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        let cursor = rocksdb_create_iterator(store, reading)
        defer { rocksdb_iter_destroy(cursor) }
        start.withBytes { rocksdb_iter_seek(cursor, Self.characters($0), $0.count) }
        while rocksdb_iter_valid(cursor) != 0 {
            var keyCount = 0
            let key = UnsafeRawBufferPointer(start: rocksdb_iter_key(cursor, &keyCount), count: keyCount)
            var valueCount = 0
            let value = UnsafeRawBufferPointer(start: rocksdb_iter_value(cursor, &valueCount), count: valueCount)
            guard try body(key, value) else { return }
            rocksdb_iter_next(cursor)
        }
        var message: UnsafeMutablePointer<CChar>?
        rocksdb_iter_get_error(cursor, &message)
        try Self.check(message)
    }

    // MARK: Writing

    /// Writes all puts and deletes of the body, in one batch.
    func write(_ body: (RocksDBBatch) throws -> Void) throws {
        let batch = rocksdb_writebatch_create()
        defer { rocksdb_writebatch_destroy(batch) }
        try body(RocksDBBatch(batch))
        var message: UnsafeMutablePointer<CChar>?
        rocksdb_write(store, writing, batch, &message)
        try Self.check(message)
    }

    // MARK: Space

    /// Flushes, and compacts everything.
    func compact() throws {
        let flushing = rocksdb_flushoptions_create()
        defer { rocksdb_flushoptions_destroy(flushing) }
        rocksdb_flushoptions_set_wait(flushing, 1)
        var message: UnsafeMutablePointer<CChar>?
        rocksdb_flush(store, flushing, &message)
        try Self.check(message)
        rocksdb_compact_range(store, nil, 0, nil, 0)
    }
}

/// Writes that are committed together.
struct RocksDBBatch {
    private let batch: OpaquePointer?

    init(_ batch: OpaquePointer?) {
        self.batch = batch
    }

    @inline(__always)
    func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        rocksdb_writebatch_put(
            batch,
            key.baseAddress?.assumingMemoryBound(to: CChar.self),
            key.count,
            value.baseAddress?.assumingMemoryBound(to: CChar.self),
            value.count
        )
    }

    @inline(__always)
    func delete(_ key: UnsafeRawBufferPointer) {
        rocksdb_writebatch_delete(batch, key.baseAddress?.assumingMemoryBound(to: CChar.self), key.count)
    }

    @inline(__always)
    func delete(_ key: RocksDBKey) { key.withBytes { delete($0) } }

    @inline(__always)
    func put(_ key: RocksDBKey, _ value: UnsafeRawBufferPointer) { key.withBytes { put($0, value) } }

    @inline(__always)
    func put(_ key: RocksDBKey, _ value: [UInt8]) { value.withUnsafeBytes { put(key, $0) } }
}
