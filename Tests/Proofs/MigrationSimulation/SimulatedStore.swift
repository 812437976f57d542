internal import Faultline
internal import FaultlineDisk
internal import FaultlineLog
internal import FaultlineMigration
import FaultlineRepair
internal import FaultlineStore
internal import FaultlineTestSupport
internal import Synchronization

/// A small store on a simulated disk, its migration, and its expected contents before and after.
struct SimulatedStore {
    let life: MigrationLife
    let seed: UInt64
    let work: SimulatedWork
    /// The saves during an online migration.
    let saves: SimulatedSaves

    private static let path = "/d/store"

    init(_ life: MigrationLife, seed: UInt64, objectCount: Int) {
        self.life = life
        self.seed = seed
        work = SimulatedWork(seed: seed, count: objectCount)
        saves = SimulatedSaves(work)
    }

    private var logOptions: LogOptions {
        var options = LogOptions()
        options.maintenance = .inline
        options.seed = seed &+ 1
        // So small that checkpoints and index runs happen during the migration.
        options.checkpointByteCount = 6 << 10
        return options
    }

    private var migration: MigrationOptions {
        // A life without a plan also drops values.
        var migration = MigrationOptions(unhandledData: .drop)
        if [.quarantine, .mappedQuarantine, .streamedBehindCustom].contains(life) {
            migration.onFailure = .quarantine()
        }
        if life.isRollback { migration.gracePeriod = .seconds(1) }
        migration.batchByteCount = 1 + Int(seed % 3) * 400
        if life == .online {
            migration.isOnline = true
            migration.onlineRowsMax = 4
        }
        if life == .streamedByTwo {
            migration.workerCount = 2
            migration.shareCount = 2
        }
        return migration
    }

    // MARK: Operations

    /// Makes the store, under the old schema.
    func make(on disk: Disk) throws {
        let container = try open(life.oldVersion, on: disk)
        let context = ModelContext(container)
        if life == .heirs { try work.makeHeirs(in: context) } else { try work.make(in: context) }
        try container.close()
    }

    func open(_ version: any VersionedSchema.Type, on disk: Disk) throws -> ModelContainer {
        try ModelContainer(
            for: version.models, migrationPlan: version == life.oldVersion ? nil : life.plan, directory: Self.path,
            on: disk, clock: Clock { 1 }, options: logOptions, migration: migration)
    }

    /// Opens the store under the new version; in an online life a container of the old one saves meanwhile, after each
    /// object that is read, and up to the switch.
    ///
    /// - Parameter disk: Has the store.
    /// - Returns: The container of the new version.
    /// - Throws: The error of the migration, or of a save.
    func migrate(on disk: Disk) throws -> ModelContainer {
        guard life == .online else { return try open(life.version, on: disk) }
        let old = try open(Simulated1.self, on: disk)
        // Safe because the migration reports its progress on this thread.
        nonisolated(unsafe) let context = ModelContext(old)
        let failure = Guarded<(any Error)?>(nil)
        var migration = migration
        migration.progress = { progress in
            guard failure.withLock({ $0 == nil }) else { return }
            do {
                try saves.save(context)
                // The switch would be refused.
                if progress.pass == .switching, saves.hasTwin { try saves.save(context) }
            } catch { failure.withLock { $0 = error } }
        }
        // Each look at the clock is late, so each object is reported.
        let now = Atomic<UInt64>(0)
        let clock = Clock(
            wallNanoseconds: { 1 },
            monotonicNanoseconds: { now.wrappingAdd(1_000_000_000, ordering: .relaxed).newValue })
        do {
            let new = try ModelContainer(
                for: life.version.models, migrationPlan: life.plan, directory: Self.path, on: disk, clock: clock,
                options: logOptions, migration: migration)
            if let failure = failure.withLock({ $0 }) { throw failure }
            try old.close()
            return new
        } catch {
            try? old.close()
            throw error
        }
    }

    /// Opens a store that a migration has left under the new version, as `use`; if it has two notes of one text, it is
    /// refused, and one of them is deleted under the old version.
    func useNew(_ disk: Disk, twice: Bool = true) throws -> String? {
        do { return try use(life.version, disk, twice: twice, newFault) } catch let error as MigrationError {
            guard life == .online, error.code == .duplicate else { throw error }
            let container = try open(Simulated1.self, on: disk)
            let context = ModelContext(container)
            let twins = try context.fetch(FetchDescriptor<Simulated1.Note>()).filter { $0.person == nil }
            for twin in twins { context.delete(twin) }
            try context.save()
            try container.close()
            guard twins.count == 1 else { throw error }
        }
        return try use(life.version, disk, twice: twice, newFault)
    }

    func preview(on disk: Disk) throws -> MigrationReport {
        try ModelContainer.previewMigration(
            for: life.version.models, migrationPlan: life.plan, directory: Self.path, on: disk,
            clock: Clock { 1 }, options: logOptions, migration: migration)
    }

    func rollBack(_ disk: Disk) throws -> RollbackReport {
        try ModelContainer.rollBackMigration(
            directory: Self.path, on: disk, clock: Clock { 1 }, options: logOptions, discardingCommits: true)
    }

    // MARK: Contents

    /// A disk after recovery; reads all of it.
    func recovered(on disk: Disk) throws -> RecoveredStore { try RecoveredStore(Self.path, on: disk, logOptions) }

    /// The difference from the expected new state.
    func newFault(_ context: ModelContext) throws -> String? { try life.newFault(work, saves, context) }

    /// The difference from the expected old state; no part of a migration may be left beside it.
    func oldFault(_ context: ModelContext) throws -> String? {
        let store = context.container.rowStore
        let snapshot = store.log.snapshot()
        if try StoredCatalog.read(snapshot)?.migration != nil { return "a migration is left" }
        for number in snapshot.tables.all.map(\.table)
        where number >= TableID.firstEntity && !store.storage.map.tables.contains(number) {
            let count = snapshot.recordCount(of: TableID(rawValue: number))
            if count > 0 { return "table \(number) is left, with \(count) rows" }
        }
        if snapshot.recordCount(of: .quarantine) > 0 { return "the quarantine is not empty" }
        switch life {
        case .online: return try saves.oldFault(context)
        case .heirs: return try work.oldHeirFault(context)
        default: return try work.oldFault(context)
        }
    }

    /// Opens the store under a version and checks it, twice if requested; then verifies it.
    func use(
        _ version: any VersionedSchema.Type, _ disk: Disk, twice: Bool = true,
        _ body: (ModelContext) throws -> String?
    ) throws -> String? {
        let container = try open(version, on: disk)
        let fault = try body(ModelContext(container))
        try container.rowStore.log.checkInvariants()
        try container.rowStore.checkInvariants()
        try container.close()
        guard fault == nil, twice else { return fault }
        let again = try open(version, on: disk)
        defer { try? again.close() }
        if let fault = try body(ModelContext(again)) { return "opened again: \(fault)" }
        var findings: [String] = []
        try again.rowStore.log.verify({ findings.append("\($0)") }, progress: { _, _ in })
        return findings.first.map { "verify: \($0)" }
    }
}
