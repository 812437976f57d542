internal import Faultline
package import FaultlineDisk
internal import FaultlineLog
internal import FaultlineMigration
internal import FaultlineStore
internal import FaultlineTestSupport

/// The kinds of stages that are cut.
package enum MigrationLife: CaseIterable, Sendable {
    case streamed
    /// Two custom stages.
    case custom
    /// One mapped stage, with a policy.
    case mapped
    /// The streamed stage, tried out.
    case preview
    /// The custom stages, tried out.
    case customPreview
    /// No plan: references become links, and an index is built.
    case lightweight
    /// The streamed stage, with objects that cannot be converted.
    case quarantine
    /// The mapped stage, which begins again without objects that cannot be converted.
    case mappedQuarantine
    /// The streamed stage with a grace period, saves, and its rollback.
    case rollback
    /// The lightweight step, which goes on in the tables of before, the same way.
    case lightweightRollback

    /// What the migration leads to.
    fileprivate var version: any VersionedSchema.Type {
        switch self {
        case .streamed, .mapped, .preview, .quarantine, .mappedQuarantine, .rollback: Simulated2.self
        case .custom, .customPreview: SimulatedCustom3.self
        case .lightweight, .lightweightRollback: SimulatedLinks2.self
        }
    }

    fileprivate var plan: (any SchemaMigrationPlan.Type)? {
        switch self {
        case .streamed, .preview, .rollback: SimulatedPlan.self
        case .custom, .customPreview: SimulatedCustomPlan.self
        case .mapped: SimulatedMappedPlan.self
        case .lightweight, .lightweightRollback: nil
        case .quarantine: SimulatedQuarantinePlan.self
        case .mappedQuarantine: SimulatedMappedQuarantinePlan.self
        }
    }

    fileprivate func newFault(_ work: SimulatedWork, _ context: ModelContext) throws -> String? {
        switch self {
        case .streamed, .mapped, .preview, .rollback: try work.newFault(context)
        case .custom, .customPreview: try work.customFault(context)
        case .lightweight, .lightweightRollback: try work.linkFault(context)
        case .quarantine, .mappedQuarantine: try work.quarantineFault(context)
        }
    }

    /// Whether the migration is only tried out.
    package var isPreview: Bool { self == .preview || self == .customPreview }

    /// Whether the migration is rolled back.
    package var isRollback: Bool { self == .rollback || self == .lightweightRollback }
}

/// Cuts the power in every gap between two disk operations of a small migration.
///
/// Its switch and the deletion of left blobs are included. Opens each disk that may be left: with the plan, or every
/// fourth time with the old schema where that is still in force.
///
/// - Parameters:
///   - life: The kind of stages.
///   - seeds: Each makes other objects and other random images.
///   - imagesPerGap: Disks tried for each gap.
///   - objectCount: Objects that the store has before it is migrated.
///   - leavingOut: A place of the code whose synchronizations do nothing: the run must find a violation.
/// - Returns: What all seeds came to, violations included.
package func runMigrationCrash(
    _ life: MigrationLife = .streamed, seeds: Range<UInt64>, imagesPerGap: Int = 24, objectCount: Int = 10,
    leavingOut: SyncSite? = nil
) -> MigrationCrashReport {
    var report = MigrationCrashReport()
    for seed in seeds {
        let crash = MigrationCrash(
            life, seed: seed, imagesPerGap: imagesPerGap, objectCount: objectCount, leavingOut: leavingOut)
        do { try crash.run() } catch { crash.report.violations.append("seed \(seed): \(error)") }
        report.add(crash.report)
    }
    return report
}

/// One seed's migration.
// Safe because everything runs on one thread: the hook is called by whoever operates the disk.
private final class MigrationCrash: @unchecked Sendable {
    let life: MigrationLife
    let seed: UInt64
    let imagesPerGap: Int
    let leavingOut: SyncSite?
    let work: SimulatedWork
    var report = MigrationCrashReport()
    /// Whether the migration is being rolled back, or was.
    private var isRollingBack = false

    init(_ life: MigrationLife, seed: UInt64, imagesPerGap: Int, objectCount: Int, leavingOut: SyncSite?) {
        self.life = life
        self.seed = seed
        self.imagesPerGap = imagesPerGap
        self.leavingOut = leavingOut
        work = SimulatedWork(seed: seed, count: objectCount)
    }

    private var logOptions: LogOptions {
        var options = LogOptions()
        options.maintenance = .inline
        options.seed = seed &+ 1
        // So small that checkpoints and index runs are made while the migration runs.
        options.checkpointByteCount = 6 << 10
        return options
    }

    private var migration: MigrationOptions {
        var migration = MigrationOptions()
        if life == .quarantine || life == .mappedQuarantine { migration.onFailure = .quarantine() }
        if life.isRollback { migration.gracePeriod = .seconds(1) }
        migration.batchByteCount = 1 + Int(seed % 3) * 400
        return migration
    }

    private func open(_ version: any VersionedSchema.Type, on disk: SimulatedDisk) throws -> ModelContainer {
        try ModelContainer(
            for: version.models, migrationPlan: version == Simulated1.self ? nil : life.plan,
            directory: "/d/store",
            on: disk, clock: Clock { 1 }, options: logOptions, migration: migration)
    }

    func run() throws {
        let disk = SimulatedDisk(directories: ["/d"])
        let first = try open(Simulated1.self, on: disk)
        try work.make(in: ModelContext(first))
        try first.close()
        if let leavingOut { disk.ignoredSynchronizations = { $0.site == leavingOut } }
        disk.onOperation = { [unowned self] disk, operation in crash(disk, operation) }
        if life.isPreview {
            let preview = try ModelContainer.previewMigration(
                for: life.version.models, migrationPlan: life.plan, directory: "/d/store", on: disk,
                clock: Clock { 1 }, options: logOptions, migration: migration)
            if !preview.failures.isEmpty || preview.isIncomplete {
                report.violations.append("seed \(seed), uncut: \(preview.text)")
            }
            disk.onOperation = nil
            return crash(disk, -1)
        }
        let second = try open(life.version, on: disk)
        if let fault = try life.newFault(work, ModelContext(second)) {
            report.violations.append("seed \(seed), uncut: \(fault)")
        }
        if life.isRollback { try work.change(ModelContext(second)) }
        try second.close()
        if life.isRollback {
            isRollingBack = true
            let discarded = try rollBack(disk).commitsDiscarded
            if discarded != 2 { report.violations.append("seed \(seed), uncut: \(discarded) saves are lost") }
        }
        disk.onOperation = nil
        crash(disk, -1)
    }

    private func rollBack(_ disk: SimulatedDisk) throws -> RollbackReport {
        try ModelContainer.rollBackMigration(
            directory: "/d/store", on: disk, clock: Clock { 1 }, options: logOptions, discardingCommits: true)
    }

    private func crash(_ disk: SimulatedDisk, _ operation: Int) {
        guard report.violations.count < 5 else { return }
        var options = CrashOptions()
        options.exhaustiveImageMax = imagesPerGap
        options.sampleCount = max(4, imagesPerGap / 4)
        options.seed = seed &* 131 &+ UInt64(bitPattern: Int64(operation))
        for image in disk.crashImages(options).prefix(imagesPerGap) {
            report.states += 1
            do {
                if let fault = try fault(of: image.disk) {
                    report.violations.append("seed \(seed), before operation \(operation): \(fault): \(image)")
                }
            } catch {
                report.violations.append("seed \(seed), before operation \(operation): \(error): \(image)")
            }
        }
    }

    private func fault(of disk: SimulatedDisk) throws -> String? {
        switch try stage(of: disk) {
        case .new: report.new += 1
        case .old: report.old += 1
        case .resumable: report.resumable += 1
        case .none: return "the store has no catalog"
        }
        let isNew = try stage(of: disk) == .new
        if isNew, life.isRollback, isRollingBack || report.states % 4 == 1 {
            if !isRollingBack || report.states % 2 == 0, let fault = try use(life.version, disk, check) { return fault }
            _ = try rollBack(disk)
            return try use(Simulated1.self, disk) { try oldFault($0) }
        }
        if life.isPreview || isRollingBack || report.states % 4 == 0, !isNew {
            if let fault = try use(Simulated1.self, disk, { try oldFault($0) }) { return fault }
            // What was only tried out must not keep anybody from doing it.
            guard life.isPreview, report.states % 8 == 0 else { return nil }
        }
        return try use(life.version, disk, check)
    }

    private func check(_ context: ModelContext) throws -> String? { try life.newFault(work, context) }

    /// What is wrong with the old state; nothing of a migration may be left beside it.
    private func oldFault(_ context: ModelContext) throws -> String? {
        let store = context.container.rowStore
        let snapshot = store.log.snapshot()
        if try StoredCatalog.read(snapshot)?.migration != nil { return "a migration is left" }
        for number in TableID.firstEntity..<store.storage.map.counters.table
        where !store.storage.map.tables.contains(number) {
            let count = snapshot.recordCount(of: TableID(rawValue: number))
            if count > 0 { return "table \(number) is left, with \(count) rows" }
        }
        if snapshot.recordCount(of: .quarantine) > 0 { return "the quarantine is not empty" }
        return try work.oldFault(context)
    }

    private func use(
        _ version: any VersionedSchema.Type, _ disk: SimulatedDisk, _ body: (ModelContext) throws -> String?
    ) throws -> String? {
        let container = try open(version, on: disk)
        let fault = try body(ModelContext(container))
        try container.close()
        guard fault == nil, report.states % 8 < 2 else { return fault }
        let again = try open(version, on: disk)
        defer { try? again.close() }
        if let fault = try body(ModelContext(again)) { return "opened again: \(fault)" }
        var findings: [String] = []
        try again.rowStore.log.verify({ findings.append("\($0)") }, progress: { _, _ in })
        return findings.first.map { "verify: \($0)" }
    }

    private enum Stage { case old, resumable, new }

    private func stage(of disk: SimulatedDisk) throws -> Stage? {
        let log = try Log.open(
            "/d/store", on: disk, clock: Clock { 1 }, options: logOptions, deriver: RowIndexDeriver())
        defer { log.abandonForTests() }
        guard let catalog = try StoredCatalog.read(log.snapshot()) else { return nil }
        if catalog.schema.entitiesByName["Town"] != nil { return .new }
        return catalog.migration == nil ? .old : .resumable
    }
}
