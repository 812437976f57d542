internal import Faultline
package import FaultlineDisk
internal import FaultlineTestSupport

/// Cuts the power in every gap between two disk operations of a small migration.
///
/// Its switch and the deletion of left blobs are included. Opens each disk that may be left: with the plan, or every
/// fourth time with the old schema if it is still active.
///
/// - Parameters:
///   - life: The kind of stages.
///   - seeds: Each makes other objects and other random images.
///   - imagesPerGap: The number of disks tried for each gap.
///   - objectCount: The number of objects in the store before it is migrated.
///   - stride: Of disks whose recovery yields contents that occurred before, one of this many is continued, in addition
///     to the first two; 1 for all.
///   - inEachGap: Whether one disk of each gap is continued too.
///   - leavingOut: A place in the code whose synchronizations do nothing: the run must find a violation.
/// - Returns: The results of all seeds, including violations.
package func runMigrationCrash(
    _ life: MigrationLife = .streamed, seeds: Range<UInt64>, imagesPerGap: Int = 24, objectCount: Int = 10,
    carryingOnEvery stride: Int = 1, inEachGap: Bool = true, leavingOut: SyncSite? = nil
) -> MigrationCrashReport {
    var report = MigrationCrashReport()
    for seed in seeds {
        let crash = MigrationCrash(
            life, seed: seed, imagesPerGap: imagesPerGap, objectCount: objectCount, stride: stride,
            inEachGap: inEachGap, leavingOut: leavingOut)
        do { try crash.run() } catch { crash.report.violations.append("seed \(seed): \(error)") }
        report.add(crash.report)
    }
    return report
}

/// One seed's migration.
// Safe because one thread after the other changes the disk, and the hook is called by the thread that changes it.
private final class MigrationCrash: @unchecked Sendable {
    let life: MigrationLife
    let seed: UInt64
    let imagesPerGap: Int
    let stride: Int
    let continuesInEachGap: Bool
    let leavingOut: SyncSite?
    let store: SimulatedStore
    var report = MigrationCrashReport()
    /// Whether the migration is being rolled back, or was.
    private var isRollingBack = false
    /// The number of disks with each contents.
    private var met: [Int: Int] = [:]

    init(
        _ life: MigrationLife, seed: UInt64, imagesPerGap: Int, objectCount: Int, stride: Int, inEachGap: Bool,
        leavingOut: SyncSite?
    ) {
        self.life = life
        self.seed = seed
        self.imagesPerGap = imagesPerGap
        self.stride = stride
        continuesInEachGap = inEachGap
        self.leavingOut = leavingOut
        store = SimulatedStore(life, seed: seed, objectCount: objectCount)
    }

    func run() throws {
        let disk = SimulatedDisk(directories: ["/d"])
        try store.make(on: disk)
        if let leavingOut { disk.ignoredSynchronizations = { $0.site == leavingOut } }
        disk.onOperation = { [unowned self] disk, operation in crash(disk, operation) }
        if life.isPreview {
            let preview = try store.preview(on: disk)
            if !preview.failures.isEmpty || preview.isIncomplete {
                report.violations.append("seed \(seed), uncut: \(preview.text)")
            }
            disk.onOperation = nil
            return crash(disk, -1)
        }
        let reach = SimulatedReach()
        let second = try SimulatedReach.$current.withValue(reach) { try store.migrate(on: disk) }
        if life == .custom, reach.spilledCount == 0 {
            report.violations.append("seed \(seed): the closures have let no object go")
        }
        if let fault = try store.newFault(ModelContext(second)) {
            report.violations.append("seed \(seed), uncut: \(fault)")
        }
        if life.isRollback { try store.work.change(ModelContext(second)) }
        try second.close()
        if life.isRollback {
            isRollingBack = true
            let discarded = try store.rollBack(disk).commitsDiscarded
            if discarded != 2 { report.violations.append("seed \(seed), uncut: \(discarded) saves are lost") }
        }
        disk.onOperation = nil
        crash(disk, -1)
    }

    private func crash(_ disk: SimulatedDisk, _ operation: Int) {
        guard report.violations.count < 5 else { return }
        var options = CrashOptions()
        options.exhaustiveImageMax = imagesPerGap
        options.sampleCount = max(4, imagesPerGap / 4)
        options.seed = seed &* 131 &+ UInt64(bitPattern: Int64(operation))
        let images = Array(disk.crashImages(options).prefix(imagesPerGap))
        // In the proof, one disk of each gap is continued, a different one each time.
        let chosen = images.isEmpty || !continuesInEachGap ? -1 : max(operation, 0) % images.count
        for (place, image) in images.enumerated() {
            report.states += 1
            do {
                if let fault = try fault(of: image.disk, isChosen: place == chosen) {
                    report.violations.append("seed \(seed), before operation \(operation): \(fault): \(image)")
                }
            } catch {
                report.violations.append("seed \(seed), before operation \(operation): \(error): \(image)")
            }
        }
    }

    private func fault(of disk: SimulatedDisk, isChosen: Bool) throws -> String? {
        let recovered = try store.recovered(on: disk)
        switch recovered.stage {
        case .new: report.new += 1
        case .old: report.old += 1
        case .resumable: report.resumable += 1
        case .none: return "the store has no catalog"
        }
        // Equal contents lead to equal results. The files differ, so some disks are continued anyway.
        // With saves meanwhile, contents that were right before may lack one.
        var hasher = Hasher()
        hasher.combine(recovered.contents)
        hasher.combine(store.saves.doneCount)
        let contents = hasher.finalize()
        let count = met[contents, default: 0]
        met[contents] = count + 1
        guard count < 2 || isChosen || count % stride == 0 else { return nil }
        report.carriedOn += 1
        // The first disk is migrated to the end, the second given up, and after that every fourth is given up.
        let turn = stride == 1 ? report.states : count < 2 ? [1, 4][count] : report.carriedOn
        return try fault(of: disk, isNew: recovered.stage == .new, turn)
    }

    /// Continues with a disk: rolls back, gives up, or migrates.
    private func fault(of disk: SimulatedDisk, isNew: Bool, _ turn: Int) throws -> String? {
        let isLookedAtTwice = turn % 8 < 2
        if isNew, life.isRollback, isRollingBack || turn % 4 == 1 {
            if !isRollingBack || turn % 2 == 0,
                let fault = try store.use(life.version, disk, twice: isLookedAtTwice, store.newFault)
            {
                return fault
            }
            _ = try store.rollBack(disk)
            return try store.use(life.oldVersion, disk, twice: isLookedAtTwice, store.oldFault)
        }
        if life.isPreview || isRollingBack || turn % 4 == 0, !isNew {
            if let fault = try store.use(life.oldVersion, disk, twice: isLookedAtTwice, store.oldFault) { return fault }
            // After a dry run, a migration must still be possible.
            guard life.isPreview, turn % 8 == 0 else { return nil }
        }
        return try store.useNew(disk, twice: isLookedAtTwice)
    }
}
