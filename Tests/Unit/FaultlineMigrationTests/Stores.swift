import Faultline
import FaultlineDisk
import FaultlineLog
import FaultlineMigration
import FaultlineRepair
import FaultlineStore
import FaultlineTestSupport
import Testing

/// A store in memory that outlives its containers.
struct Stores {
    let disk: Disk
    let directory: String
    private let temporary: TemporaryDirectory?
    /// The options of its logs.
    var logOptions = Stores.options

    init(isOnDisk: Bool = false) {
        if isOnDisk {
            let temporary = TemporaryDirectory()
            self.temporary = temporary
            disk = PosixDisk()
            directory = temporary.path + "/store"
        } else {
            temporary = nil
            disk = SimulatedDisk(directories: ["/s"])
            directory = "/s/store"
        }
    }

    /// A store on an existing disk.
    init(_ disk: Disk, _ directory: String) {
        self.disk = disk
        self.directory = directory
        temporary = nil
    }

    static var options: LogOptions {
        var options = LogOptions()
        options.maintenance = .inline
        options.seed = 1
        return options
    }

    /// Drops the values that a version lacks, with and without a plan: for tests that check the remaining data.
    static var dropping: MigrationOptions { MigrationOptions(unhandledData: .drop) }

    func open(
        _ version: any VersionedSchema.Type, _ plan: (any SchemaMigrationPlan.Type)? = nil,
        migration: MigrationOptions = Stores.dropping, clock: Clock = .system
    ) throws -> ModelContainer {
        try ModelContainer(
            for: version.models, migrationPlan: plan, directory: directory, on: disk, clock: clock,
            options: logOptions, migration: migration)
    }

    /// Opens the store, calls the closure, and closes the store.
    @discardableResult
    func use<R>(
        _ version: any VersionedSchema.Type, _ plan: (any SchemaMigrationPlan.Type)? = nil,
        migration: MigrationOptions = Stores.dropping, clock: Clock = .system,
        _ body: (ModelContainer, ModelContext) throws -> R
    ) throws -> R {
        let container = try open(version, plan, migration: migration, clock: clock)
        do {
            let result = try body(container, ModelContext(container))
            try container.close()
            return result
        } catch {
            try? container.close()
            throw error
        }
    }

    /// Performs a dry run of a migration.
    func preview(
        _ version: any VersionedSchema.Type, _ plan: (any SchemaMigrationPlan.Type)? = nil,
        migration: MigrationOptions = Stores.dropping, failureLimit: Int = 100, sample: Int? = nil,
        clock: Clock = .system
    ) throws -> MigrationReport {
        try ModelContainer.previewMigration(
            for: version.models, migrationPlan: plan, directory: directory, on: disk, clock: clock,
            options: logOptions, migration: migration, failureLimit: failureLimit, sample: sample)
    }

    /// Every row of the store as it is in its record, by table; the schema; and the number of values outside the rows.
    func rows() throws -> [String: [UInt8]] {
        let log = try Log.open(directory, on: disk, clock: .system, options: logOptions, deriver: RowIndexDeriver())
        let snapshot = log.snapshot()
        let stored = try #require(try StoredCatalog.read(snapshot))
        #expect(stored.migration == nil)
        var rows = ["schema": try NestedEncoder.encode(stored.schema)]
        for table in stored.map.tables {
            try snapshot.scan(
                TableID(rawValue: table), from: 1, through: Limits.recordIDMax, readAhead: 4_096
            ) { records in
                for record in records { rows["\(table) \(record.id)"] = Array(record.row) }
                return true
            }
        }
        rows["blobs"] = Array("\(snapshot.recordCount(of: .blobs))".utf8)
        try log.close()
        return rows
    }

    /// The next unused numbers of the catalog, also while a migration is unfinished.
    func counters() throws -> NumberCounters {
        let log = try Log.open(directory, on: disk, clock: .system, options: logOptions, deriver: RowIndexDeriver())
        defer { log.abandonForTests() }
        return try #require(try StoredCatalog.read(log.snapshot())).map.counters
    }

    /// The problems that `verify` finds after reopening, and tables that have rows but belong to no entity.
    func findings(_ version: any VersionedSchema.Type) throws -> [String] {
        try use(version) { container, _ in
            var findings: [String] = []
            try container.rowStore.log.verify({ findings.append("\($0)") }, progress: { _, _ in })
            let map = container.rowStore.storage.map
            let snapshot = container.rowStore.log.snapshot()
            for table in snapshot.tables.all.map(\.table).sorted()
            where table >= TableID.firstEntity && !map.tables.contains(table) {
                let count = snapshot.recordCount(of: TableID(rawValue: table))
                if count > 0 { findings.append("table \(table) belongs to no entity and has \(count) rows") }
            }
            return findings
        }
    }
}

extension ModelContext {
    func all<T: PersistentModel>(_ type: T.Type) throws -> [T] { try fetch(FetchDescriptor<T>()) }
}
