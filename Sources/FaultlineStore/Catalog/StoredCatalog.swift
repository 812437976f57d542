package import FaultlineLog
package import FaultlineModel

/// The content of a store's catalog: schema, entity map, layouts.
package struct StoredCatalog: Sendable {
    package let schema: Schema
    package let map: EntityMap
    /// Every layout that a record may name.
    package let layouts: [UInt16: RowLayout]
    /// The running migration.
    package let migration: MigrationRecord?

    package init(
        schema: Schema, map: EntityMap, layouts: [UInt16: RowLayout], migration: MigrationRecord? = nil
    ) {
        self.schema = schema
        self.map = map
        self.layouts = layouts
        self.migration = migration
    }

    /// The same layouts under another schema and map.
    package func under(_ schema: Schema, _ map: EntityMap, adding newLayouts: [RowLayout] = []) -> StoredCatalog {
        var layouts = layouts
        for layout in newLayouts { layouts[layout.number] = layout }
        return StoredCatalog(schema: schema, map: map, layouts: layouts)
    }

    /// Record identifiers in the catalog table: `docs/FileFormat.md` section 7.
    package enum RecordNumber {
        package static let schema: RecordID = 1
        package static let entityMap: RecordID = 2
        package static let migration: RecordID = 3
        package static let lastSwitch: RecordID = 5
        package static let rewrite: RecordID = 6
        package static let historyStart: RecordID = 7
        package static let lineage: RecordID = 8
        package static let layouts: RecordID = 64
        package static let leftBehind: RecordID = 65_600
    }

    /// Reads the catalog by record; nil for a store that has none yet.
    package static func read(
        _ record: (RecordID) throws(LogError) -> [UInt8]?
    ) throws(StoreError) -> StoredCatalog? {
        let schemaBytes: [UInt8]?
        let mapBytes: [UInt8]?
        let migrationBytes: [UInt8]?
        do {
            schemaBytes = try record(RecordNumber.schema)
            mapBytes = try record(RecordNumber.entityMap)
            migrationBytes = try record(RecordNumber.migration)
        } catch { throw StoreError(error) }
        guard let schemaBytes, let mapBytes else { return nil }
        let schema = try schema(schemaBytes)
        let map = try entityMap(mapBytes)
        let migration = try migrationBytes.map { (bytes) throws(StoreError) in
            let record = try decode(MigrationRecord.self, bytes, "migration record")
            guard record.isPlausible else {
                throw undecodable("migration record", "a count is negative, or larger than any store")
            }
            return record
        }
        var layouts: [UInt16: RowLayout] = [:]
        for number in 1..<max(1, map.counters.layout) {
            let bytes: [UInt8]?
            do { bytes = try record(RecordNumber.layouts + RecordID(number)) } catch { throw StoreError(error) }
            if let bytes { layouts[number] = try layout(bytes, "layout \(number)") }
        }
        return StoredCatalog(schema: schema, map: map, layouts: layouts, migration: migration)
    }

    /// Reads the catalog of a snapshot.
    package static func read(_ snapshot: Snapshot) throws(StoreError) -> StoredCatalog? {
        var buffer = RecordBuffer()
        return try read { (id) throws(LogError) -> [UInt8]? in
            try snapshot.read(id, in: .catalog, into: &buffer).map { Array($0.row) }
        }
    }

    /// Writes a schema, its map and layouts that are not registered yet.
    package static func write(
        _ schema: Schema, _ map: EntityMap, newLayouts: [RowLayout], in transaction: inout Transaction
    ) throws(StoreError) {
        try register(newLayouts, in: &transaction)
        try put(schema, RecordNumber.schema, in: &transaction)
        try put(map, RecordNumber.entityMap, in: &transaction)
    }

    /// Registers layouts, before any row is written in them.
    package static func register(_ layouts: [RowLayout], in transaction: inout Transaction) throws(StoreError) {
        for layout in layouts {
            try put(layout, RecordNumber.layouts + RecordID(layout.number), in: &transaction)
        }
    }

    /// Writes one catalog entry.
    package static func put<T: Encodable>(
        _ value: T, _ id: RecordID, in transaction: inout Transaction
    ) throws(StoreError) {
        let bytes: [UInt8]
        do { bytes = try NestedEncoder.encode(value) } catch {
            throw StoreError(.malformed, "A catalog entry cannot be encoded: \(error).")
        }
        do throws(LogError) {
            try transaction.put(
                id, in: .catalog, layout: 0, changed: nil, flags: .none, byteCount: bytes.count
            ) { target in
                bytes.withUnsafeBytes { target.copyMemory(from: $0) }
            }
        } catch { throw StoreError(error) }
    }

    /// Reads one catalog entry of a snapshot.
    package static func entry<T: Decodable>(
        _ type: T.Type, _ id: RecordID, in snapshot: Snapshot
    ) throws(StoreError) -> T? {
        var buffer = RecordBuffer()
        let bytes: [UInt8]?
        do { bytes = try snapshot.read(id, in: .catalog, into: &buffer).map { Array($0.row) } } catch {
            throw StoreError(error)
        }
        guard let bytes else { return nil }
        return try decode(type, bytes, "catalog entry \(id)")
    }

    /// The running migration as a transaction sees it; nil if there is none.
    package static func migration(in transaction: borrowing Transaction) throws(StoreError) -> MigrationRecord? {
        try entry(MigrationRecord.self, RecordNumber.migration, in: transaction)
    }

    /// Reads one catalog entry as a transaction sees it.
    package static func entry<T: Decodable>(
        _ type: T.Type, _ id: RecordID, in transaction: borrowing Transaction
    ) throws(StoreError) -> T? {
        let bytes: [UInt8]?
        do {
            bytes = try transaction.record(id, in: .catalog) { Array($0.row) }
        } catch let error as LogError { throw StoreError(error) } catch {
            throw StoreError(.malformed, "\(error)")
        }
        guard let bytes else { return nil }
        return try decode(type, bytes, "catalog entry \(id)")
    }

    /// Reads the bytes of a schema.
    package static func schema(_ bytes: [UInt8]) throws(StoreError) -> Schema {
        try read(bytes, "schema") { (value) throws(CatalogFault) in try Schema(&value) }
    }

    /// Reads the bytes of a layout.
    package static func layout(_ bytes: [UInt8], _ part: String = "layout") throws(StoreError) -> RowLayout {
        try read(bytes, part) { (value) throws(CatalogFault) in try RowLayout(&value) }
    }

    /// Reads the bytes of an entity map.
    package static func entityMap(_ bytes: [UInt8]) throws(StoreError) -> EntityMap {
        try read(bytes, "entity map") { (value) throws(CatalogFault) in try EntityMap(&value) }
    }

    /// Reads an entry that every opening needs.
    private static func read<T>(
        _ bytes: [UInt8], _ part: String, _ body: (inout CatalogValue) throws(CatalogFault) -> T
    ) throws(StoreError) -> T {
        let result = bytes.withUnsafeBytes { bytes in
            Result { () throws(CatalogFault) in
                var value = try CatalogValue(bytes)
                return try body(&value)
            }
        }
        do throws(CatalogFault) { return try result.get() } catch { throw undecodable(part, error.message) }
    }

    /// Decodes an entry that few openings need.
    private static func decode<T: Decodable>(
        _ type: T.Type, _ bytes: [UInt8], _ part: String
    ) throws(StoreError) -> T {
        do {
            return try bytes.withUnsafeBytes { try NestedDecoder.decode(type, from: $0) }
        } catch { throw undecodable(part, "\(error)") }
    }

    private static func undecodable(_ part: String, _ why: String) -> StoreError {
        StoreError(
            .malformed,
            "The store's \(part) does not decode (\(why)). It was written by a newer release, or by a defect: open the store with that release, or restore a backup."
        )
    }
}

extension StoredCatalog {
    /// The entity of a table's objects.
    package func entityName(ofTable table: UInt16) -> String? { map.entities.first { $0.table == table }?.name }
}
