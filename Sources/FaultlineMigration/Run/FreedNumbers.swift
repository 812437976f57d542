internal import FaultlineLog
internal import FaultlineStore

/// Frees the numbers of tables and layouts of work that is dropped: a store has about 65,000 of each.
///
/// One transaction drops every table whose number is freed, so a later owner of a number finds nothing. The log keeps a
/// drop as long as a segment may have an older record of the table, and a snapshot has the tables of its own time.
/// Layouts are deleted, and counters lowered, together with the migration's record that names them, or together with the
/// next one: a replay reads the catalog after each transaction, and must find all layouts that it names.
///
/// Numbers of columns and indexes are not freed: a replay may find entries of a dropped index, and must not take them
/// for entries of another index. There are four billion.
struct FreedNumbers {
    /// The map in force, with the numbers free.
    let map: EntityMap
    private let before: NumberCounters
    private let keptTables: Set<UInt16>

    /// - Parameters:
    ///   - map: The map in force.
    ///   - counters: The numbers that were unused before the work; nil if they are not known, then none is freed.
    ///   - source: A state that stays.
    init(in map: EntityMap, to counters: NumberCounters?, keeping source: EntityMap? = nil) {
        before = map.counters
        let kept = [map] + [source].compactMap(\.self)
        keptTables = Set(kept.flatMap(\.tables))
        var freed = map
        if let counters {
            // The counters come from a file: no number of a kept table or layout is freed, even if they are wrong.
            let table = Self.next(keptTables) ?? TableID.firstEntity
            let layout = Self.next(kept.flatMap { $0.entities.map(\.layout) + $0.links.map(\.layout) }) ?? 1
            freed.counters.table = min(max(counters.table, table), before.table)
            freed.counters.layout = min(max(counters.layout, layout), before.layout)
        }
        self.map = freed
    }

    private static func next(_ numbers: some Collection<UInt16>) -> UInt16? {
        numbers.max().map { $0 < .max ? $0 + 1 : $0 }
    }

    /// Numbers of freed layouts.
    var layouts: Range<UInt16> { map.counters.layout..<before.layout }

    /// Drops tables of the work, and all whose numbers are freed.
    ///
    /// - Parameters:
    ///   - tables: Tables that the work has written. They come from a file: those of the engine are left out.
    ///   - transaction: The transaction.
    /// - Throws: Disk errors.
    func dropTables(and tables: some Sequence<UInt16>, in transaction: inout Transaction) throws {
        let all = Set(tables).union(map.counters.table..<before.table).subtracting(keptTables)
        for table in all.sorted() where table >= TableID.firstEntity {
            try transaction.dropTable(TableID(rawValue: table))
        }
    }

    /// Deletes the freed layouts, and writes the map if it has changed; no record may name them afterwards.
    func deleteLayouts(in transaction: inout Transaction) throws {
        try Self.deleteLayouts(layouts, in: &transaction)
        if map.counters != before { try StoredCatalog.put(map, StoredCatalog.RecordNumber.entityMap, in: &transaction) }
    }

    /// Deletes layouts, as far as they are registered.
    static func deleteLayouts(_ layouts: Range<UInt16>, in transaction: inout Transaction) throws {
        for layout in layouts {
            let record = StoredCatalog.RecordNumber.layouts + RecordID(layout)
            if try !transaction.location(of: record, in: .catalog).isAbsent {
                try transaction.delete(record, in: .catalog)
            }
        }
    }
}

extension StoredCatalog {
    /// The state in force, without the layouts and numbers of an unfinished migration.
    ///
    /// When the migration is dropped, other layouts get their numbers: a container that is open then must not read rows
    /// by those of the migration.
    var inForce: StoredCatalog {
        let freed = FreedNumbers(in: map, to: migration?.unusedNumbers)
        return StoredCatalog(
            schema: schema, map: freed.map, layouts: layouts.filter { !freed.layouts.contains($0.key) })
    }
}
