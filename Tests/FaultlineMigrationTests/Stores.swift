import Faultline
import FaultlineDisk
import FaultlineLog
import FaultlineMigration
import FaultlineStore
import FaultlineTestSupport
import Testing

/// A store in memory that outlives its containers.
struct Stores {
    let disk: Disk
    let directory: String
    private let temporary: TemporaryDirectory?

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

    /// A store on a disk that is there.
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

    /// Values that a version does not have go unasked, with and without a plan: for tests of what becomes of the rest.
    static var dropping: MigrationOptions { MigrationOptions(unhandledData: .drop) }

    func open(
        _ version: any VersionedSchema.Type, _ plan: (any SchemaMigrationPlan.Type)? = nil,
        migration: MigrationOptions = Stores.dropping, clock: Clock = .system
    ) throws -> ModelContainer {
        try ModelContainer(
            for: version.models, migrationPlan: plan, directory: directory, on: disk, clock: clock,
            options: Self.options, migration: migration)
    }

    /// Opens, calls, closes.
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

    /// Tries a migration out.
    func preview(
        _ version: any VersionedSchema.Type, _ plan: (any SchemaMigrationPlan.Type)? = nil,
        migration: MigrationOptions = Stores.dropping, failureLimit: Int = 100, sample: Int? = nil,
        clock: Clock = .system
    ) throws -> MigrationReport {
        try ModelContainer.previewMigration(
            for: version.models, migrationPlan: plan, directory: directory, on: disk, clock: clock,
            options: Self.options, migration: migration, failureLimit: failureLimit, sample: sample)
    }

    /// Every row of the store as it lies in its record, by table, and the schema; and how many values lie out of them.
    func rows() throws -> [String: [UInt8]] {
        let log = try Log.open(directory, on: disk, clock: .system, options: Self.options, deriver: RowIndexDeriver())
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

    /// What `verify` finds wrong after a reopening, and tables that nobody names and that have rows all the same.
    func findings(_ version: any VersionedSchema.Type) throws -> [String] {
        try use(version) { container, _ in
            var findings: [String] = []
            try container.rowStore.log.verify({ findings.append("\($0)") }, progress: { _, _ in })
            let map = container.rowStore.storage.map
            let snapshot = container.rowStore.log.snapshot()
            for table in TableID.firstEntity..<map.counters.table where !map.tables.contains(table) {
                let count = snapshot.recordCount(of: TableID(rawValue: table))
                if count > 0 { findings.append("table \(table) is nobody's and has \(count) rows") }
            }
            return findings
        }
    }
}

extension ModelContext {
    func all<T: PersistentModel>(_ type: T.Type) throws -> [T] { try fetch(FetchDescriptor<T>()) }
}
