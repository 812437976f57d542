package import FaultlineLog
package import FaultlineModel
internal import Glibc
internal import Synchronization

/// The rows of one store, seen through one schema: the entry point of this target.
///
/// One log may have several: one with the schema in force, and, during a migration, one with the target's schema.
package final class RowStore: Sendable {
    package let log: Log
    package let storage: SchemaStorage
    /// Whether this is the schema that a running migration writes, not the one in force.
    let isMigrationTarget: Bool
    /// Whether contexts of an application read by it, and follow the store.
    let isOfContainer: Bool
    /// Segment and offset of an entity map that was found equal to this one, so that a save need not decode it again.
    private let knownMapPlace = Atomic<UInt64>(0)
    /// The same of entity maps that have, and that lack, the tables and indexes that are read under this schema.
    let readableMapPlace = Atomic<UInt64>(0)
    let unreadableMapPlace = Atomic<UInt64>(0)
    /// The thread on which a batch insertion calls for its rows, with the writer lock held; 0 for none.
    private let batchingThread = Atomic<UInt>(0)
    private let isHistoryNoted = Atomic<Bool>(false)
    /// The sizes of text indexes, as searches found them.
    package let textTotals = TextTotalsCache()
    /// The indexes of the online migration that runs while rows of this schema are written; nil for none.
    ///
    /// Valid in a transaction that has called `checkInForce`.
    // Safe because it is used with the writer lock held.
    nonisolated(unsafe) private(set) var mirror: IndexMirror?
    /// For each entity, by number of layout: the table that reads rows of that layout by the slots in force.
    private let readers: [EntityReaders]

    /// Resolves a catalog over a log.
    ///
    /// - Parameters:
    ///   - log: The log that holds the rows.
    ///   - catalog: Schema, entity map and layouts as the store has them.
    ///   - isMigrationTarget: Whether the schema is that of a running migration, not the one in force.
    ///   - isOfContainer: Whether contexts of an application read by it, and follow the store.
    ///   - setDefault: Writes an attribute's default value into a slot of a draft, for rows that lack the column.
    /// - Throws: `StoreError` if schema, entity map and layouts do not fit together.
    package init(
        log: Log, catalog: StoredCatalog, isMigrationTarget: Bool = false, isOfContainer: Bool = false,
        setDefault: (Schema.Attribute, Int, inout Draft) -> Void
    ) throws(StoreError) {
        self.log = log
        self.isMigrationTarget = isMigrationTarget
        self.isOfContainer = isOfContainer
        storage = try SchemaStorage(catalog)
        var readers: [EntityReaders] = []
        for entity in storage.entities {
            readers.append(
                try EntityReaders(
                    entity, schema: catalog.schema.entities[entity.ordinal],
                    columns: catalog.map.entity(named: entity.name)?.columns ?? [], layouts: catalog.layouts,
                    setDefault: setDefault))
        }
        self.readers = readers
        log.addTableNames(Dictionary(storage.entities.map { ($0.table, $0.name) }) { first, _ in first })
    }

    /// Checks that rows may still be written under this schema: that no migration is running, unless it is an online
    /// one, and none has switched since.
    package func checkInForce(in transaction: borrowing Transaction) throws(StoreError) {
        do {
            let migration = try transaction.location(of: StoredCatalog.RecordNumber.migration, in: .catalog)
            if isMigrationTarget { return }
            if migration.isAbsent {
                if mirror != nil { mirror = nil }
            } else if let running = OnlineMirrors.mirror(of: log) {
                mirror = running
            } else {
                // For the message only: a record of a newer release does not decode.
                let target = (try? StoredCatalog.migration(in: transaction))?.targetSchema
                throw StoreError(
                    .outdated,
                    "The store is being migrated: it can be read, and not written until the migration is done. Make the container anew then. \(fingerprints(against: target))"
                )
            }
            let place = try transaction.location(of: StoredCatalog.RecordNumber.entityMap, in: .catalog)
            let placeBits = UInt64(place.segment) << 32 | UInt64(place.offset)
            if placeBits != 0, placeBits == knownMapPlace.load(ordering: .relaxed) { return }
            let map = try transaction.record(StoredCatalog.RecordNumber.entityMap, in: .catalog) { record in
                try StoredCatalog.entityMap(Array(record.row))
            }
            guard let map, map.writesRows(like: storage.map) else {
                let current = try? transaction.record(StoredCatalog.RecordNumber.schema, in: .catalog) { record in
                    try StoredCatalog.schema(Array(record.row))
                }
                throw StoreError(
                    .outdated,
                    "The store has been migrated since this container was made: it can still read the state that its contexts saw, but not write. Make a container with the new schema. \(fingerprints(against: current))"
                )
            }
            mirror?.noteCounted(below: map.counters.index)
            knownMapPlace.store(placeBits, ordering: .relaxed)
        } catch let error as LogError { throw StoreError(error) } catch let error as StoreError { throw error } catch {
            throw StoreError(.malformed, "The store's entity map does not decode: \(error).")
        }
    }

    /// Runs foreign code with the writer lock held; a write on the same thread would wait for ever.
    package func whileBatching<R>(_ body: () throws -> R) rethrows -> R {
        batchingThread.store(pthread_self(), ordering: .relaxed)
        defer { batchingThread.store(0, ordering: .relaxed) }
        return try body()
    }

    /// Whether the caller is that code.
    package var isBatching: Bool {
        let thread = batchingThread.load(ordering: .relaxed)
        return thread != 0 && thread == pthread_self()
    }

    /// Records that the store has a history; to be called outside of a transaction, before one writes into the history.
    ///
    /// - Throws: Disk errors.
    package func noteHistory() throws(StoreError) {
        if isHistoryNoted.load(ordering: .relaxed) { return }
        do throws(LogError) { try log.noteHistory() } catch { throw StoreError(error) }
        isHistoryNoted.store(true, ordering: .relaxed)
    }

    /// The table to read a row of `layout`; nil if no row of the entity can have it.
    @inline(__always)
    package func table(forLayout layout: UInt16, of entity: EntityStorage) -> UnsafePointer<LayoutTable>? {
        readers[entity.ordinal].table(for: layout)
    }

    /// Bytes of the fixed area of rows of a layout; nil if no row of the entity can have it.
    func fixedByteCount(ofLayout layout: UInt16, _ entity: EntityStorage) -> Int? {
        table(forLayout: layout, of: entity)?.pointee.physical.map { Int($0.pointee.fixedByteCount) }
    }

    /// Whether rows of an entity may still have values outside of the row in columns that the schema no longer has.
    package func mayHaveRemovedBlobs(_ entity: EntityStorage) -> Bool { readers[entity.ordinal].mayHaveRemovedBlobs }

    /// Whether a row of an entity may have another layout than the one in force.
    package func mayHaveOlderRows(_ entity: EntityStorage) -> Bool { readers[entity.ordinal].mayHaveOlderRows }

    /// The row's blobs in columns that the schema no longer has: they are deleted with this version of the row.
    package func removedBlobs(of row: RowView, _ entity: EntityStorage) -> [UInt64] {
        guard let adapter = readers[entity.ordinal].adapter(for: row.table.pointee.number) else { return [] }
        let old = RowView(trusted: row.base, table: adapter.layout.table)
        return adapter.removedVariableSlots.compactMap { old.blobReference($0)?.identifier }
    }

    /// The large values of a row, including those of attributes that the schema has dropped.
    package func blobs(of view: RowView, _ entity: EntityStorage) -> [UInt64] {
        let blobs = entity.variableSlots.compactMap { view.blobReference($0)?.identifier }
        return mayHaveRemovedBlobs(entity) ? blobs + removedBlobs(of: view, entity) : blobs
    }

    /// The keys of a row in the secondary indexes of its entity.
    package func secondaryKeys(of row: RowView, _ entity: EntityStorage) -> [[UInt8]] {
        guard !entity.secondaryIndexes.isEmpty else { return [] }
        // The view may use the slots in force; keys are derived from the row's own values.
        let number = row.table.pointee.number
        let layout = number == entity.layout.number ? entity.layout : storage.layouts[number] ?? entity.layout
        let own = RowView(trusted: row.base, table: layout.table)
        var key = KeyWriter()
        return entity.secondaryIndexes.map { index in
            index.makeKey(of: own, layout: layout, into: &key)
            return key.withBytes { Array($0) }
        }
    }

    /// The keys of a row in a text index of its entity.
    package func textKeys(of row: RowView, _ id: RecordID, _ entity: EntityStorage, _ index: TextIndex) -> TextKeys {
        let number = row.table.pointee.number
        let layout = number == entity.layout.number ? entity.layout : storage.layouts[number] ?? entity.layout
        return index.keys(of: RowView(trusted: row.base, table: layout.table), id, layout: layout)
    }

    /// The keys of a row in secondary and text indexes, without those of texts that do not change.
    func derivedKeys(of row: RowView, _ id: RecordID, _ entity: EntityStorage, changed: UInt64) -> DerivedKeys {
        DerivedKeys(
            secondary: secondaryKeys(of: row, entity),
            texts: entity.textIndexes.map { index in
                changed & index.mask == 0 ? nil : textKeys(of: row, id, entity, index)
            })
    }

    /// Compiles a filter for rows of one layout.
    package func program(_ filter: RowFilter, layout: UInt16, entity: EntityStorage) throws(StoreError) -> RowProgram {
        if layout == entity.layout.number { return RowProgram(filter, layout: entity.layout) }
        guard let adapter = readers[entity.ordinal].adapter(for: layout) else {
            throw StoreError(.malformed, "No row of \(entity.name) can have layout \(layout). Run `faultline verify`.")
        }
        return RowProgram(filter, adapter: adapter)
    }

    /// Checks a record's row and gives a view of it by the slots in force.
    package func view(_ record: RecordView, of entity: EntityStorage) throws(StoreError) -> RowView {
        // Most rows have the layout in force.
        if record.layout == entity.layout.number {
            return try record.checkedRow(by: entity.layout.table, of: entity.name)
        }
        guard let table = table(forLayout: record.layout, of: entity) else { throw unknownLayout(record, entity) }
        return try record.checkedRow(by: table, of: entity.name)
    }

    /// The schemas of this container and of the store, for an error.
    func fingerprints(against other: Schema?) -> String {
        let own = storage.schema
        let others = other.map { "\($0.version), fingerprint \($0.fingerprint)" } ?? "unknown"
        return "Container: version \(own.version), fingerprint \(own.fingerprint). Store: version \(others)."
    }

    private func unknownLayout(_ record: RecordView, _ entity: EntityStorage) -> StoreError {
        guard record.layout >= storage.map.counters.layout else { return record.misfit(of: entity.name) }
        return StoreError(
            .outdated,
            "The store has been migrated since this container was made, and object \(record.id) of \(entity.name) was written since: make a container with the new schema to read it."
        )
    }
}

extension RecordView {
    /// Checks the row, and returns a view of it.
    ///
    /// - Parameters:
    ///   - table: The table to read rows of the record's layout; nil if no row of the table can have it.
    ///   - owner: The entity or table of the object, for the error.
    /// - Returns: The view, which borrows the record's bytes.
    /// - Throws: `malformed` for a row that does not fit its layout.
    @inline(__always)
    package func checkedRow(by table: UnsafePointer<LayoutTable>?, of owner: String) throws(StoreError) -> RowView {
        if let table, let view = RowView(checking: row, table: table, hasExtension: flags.has(.hasExtension)) {
            return view
        }
        throw misfit(of: owner)
    }

    fileprivate func misfit(of owner: String) -> StoreError {
        StoreError(
            .malformed,
            "Object \(id) of \(owner) has a row that does not fit its layout \(layout). Run `faultline verify`, then `faultline salvage`."
        )
    }
}

/// The possible layouts of one entity's rows, with a table to read each.
private final class EntityReaders: Sendable {
    private let adapters: [UInt16: RowAdapter]
    private let current: RowLayout
    let mayHaveRemovedBlobs: Bool
    // Safe because the memory is written before the object is shared, and never after.
    nonisolated(unsafe) private let tables: UnsafeMutablePointer<UnsafePointer<LayoutTable>?>
    private let count: Int

    init(
        _ entity: EntityStorage, schema: Schema.Entity, columns: [StoredColumn], layouts: [UInt16: RowLayout],
        setDefault: (Schema.Attribute, Int, inout Draft) -> Void
    ) throws(StoreError) {
        current = entity.layout
        count = Int(layouts.keys.max() ?? 0) + 1
        tables = .allocate(capacity: count)
        tables.initialize(repeating: nil, count: count)

        let numbers = Set(entity.layout.columns.map(\.number))
        var adapters: [UInt16: RowAdapter] = [:]
        for (number, layout) in layouts where number != entity.layout.number {
            guard layout.columns.contains(where: { numbers.contains($0.number) }) || layout.entityName == entity.name
            else { continue }
            var defaults = Draft.create(layout: entity.layout)
            defer { defaults.destroy() }
            var filled: Set<Int> = []
            for (slot, property) in schema.properties.enumerated() {
                guard let attribute = property.asAttribute else { continue }
                let column = slot < columns.count ? columns[slot] : nil
                let missing = column?.missingDefault(ofLayout: number)
                if let old = missing.flatMap(attribute.replacingDefault) {
                    setDefault(old, slot, &defaults)
                    filled.insert(slot)
                } else if attribute.hasDefaultValue,
                    missing != nil || column?.missing == nil || !attribute.isOptional
                {
                    setDefault(attribute, slot, &defaults)
                }
            }
            do throws(RowError) {
                let adapter = try RowAdapter(
                    layout: layout, current: entity.layout, defaults: defaults, replacingNil: filled)
                adapters[number] = adapter
                tables[Int(number)] = adapter.table
            } catch {
                // The layout belongs to rows that no table of this schema holds; a record that has it all the same is
                // refused when it is read.
                continue
            }
        }
        self.adapters = adapters
        mayHaveRemovedBlobs = adapters.values.contains { !$0.removedVariableSlots.isEmpty }
        tables[Int(entity.layout.number)] = entity.layout.table
    }

    deinit { tables.deallocate() }

    var mayHaveOlderRows: Bool { !adapters.isEmpty }

    func adapter(for layout: UInt16) -> RowAdapter? { adapters[layout] }

    @inline(__always)
    func table(for layout: UInt16) -> UnsafePointer<LayoutTable>? {
        Int(layout) < count ? tables[Int(layout)] : nil
    }
}
