package import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport

/// The results of a crash run.
package struct CrashReport: Sendable, CustomStringConvertible {
    package var seedCount = 0
    package var gapCount = 0
    package var stateCount = 0
    /// Gaps with all combinations tried.
    package var exhaustiveGapCount = 0
    package var recoveryCount = 0
    package var nestedStateCount = 0
    /// States with a torn sector.
    package var tornStateCount = 0
    /// Recoveries with a damaged newest manifest, beside an older one.
    package var rotCount = 0
    /// Recoveries behind which states of the past were read.
    package var pastCount = 0
    package var sites: [SyncSite: Int] = [:]
    package var reach: [CrashWorkload.Reach] = []
    package var violations: [String] = []

    package init() {}

    package mutating func add(_ other: CrashReport) {
        seedCount += other.seedCount
        gapCount += other.gapCount
        stateCount += other.stateCount
        exhaustiveGapCount += other.exhaustiveGapCount
        recoveryCount += other.recoveryCount
        nestedStateCount += other.nestedStateCount
        tornStateCount += other.tornStateCount
        rotCount += other.rotCount
        pastCount += other.pastCount
        sites.merge(other.sites, uniquingKeysWith: +)
        reach += other.reach
        violations += other.violations
    }

    package var description: String {
        "\(seedCount) seeds, \(gapCount) gaps, \(stateCount) crash states (\(nestedStateCount) of them inside recovery), "
            + "\(recoveryCount) recoveries, \(rotCount) with a rotten manifest, \(violations.count) violations"
    }
}

/// The extent of a run.
package struct CrashPlan: Sendable {
    package var stepCount = 40
    /// Images at each gap that is too large for all combinations; a quarter of them have torn sectors.
    package var imageCountMax = 24
    /// All combinations are tried at gaps with at most this many uncertain items (sectors, lengths, changes of
    /// entries), with another quarter of `imageCountMax` images with torn sectors.
    package var itemCountMax = 8
    /// The largest number of combinations tried at a gap; a gap with more counts as one with too many items.
    package var combinationCountMax = 1 << 14
    /// The interval of states at which the recovery itself is crashed.
    package var nestedEvery = 100
    package var depthMax = 3
    /// The interval of states at which an old manifest comes back while the newest is damaged.
    package var rotEvery = 20
    /// The interval of recoveries behind which states of the past are read.
    package var pastEvery = 8
    package var stopsAtFirstViolation = true

    package init() {}
}

/// Runs random workloads and crashes each in every gap between two operations of the disk.
///
/// - Parameters:
///   - seeds: Each makes another workload and other images.
///   - leavingOut: A place of the code whose synchronizations do nothing: the run must find a violation.
///   - plan: The extent of the run.
/// - Returns: The sums of all seeds; with `stopsAtFirstViolation` of those up to the first violation.
package func runCrash(seeds: Range<UInt64>, leavingOut: SyncSite? = nil, plan: CrashPlan = CrashPlan()) -> CrashReport {
    var report = CrashReport()
    for seed in seeds {
        let simulation = CrashSimulation(seed: seed, leavingOut: leavingOut, plan: plan)
        simulation.run()
        simulation.report.seedCount = 1
        simulation.report.reach = [simulation.workload.reach]
        report.add(simulation.report)
        if plan.stopsAtFirstViolation, !report.violations.isEmpty { break }
    }
    return report
}

/// One seed's workload and crashes.
// Safe because everything runs on one thread; the hook is called on the thread that operates the disk.
final class CrashSimulation: @unchecked Sendable {
    let seed: UInt64
    let leavingOut: SyncSite?
    let plan: CrashPlan
    let workload: CrashWorkload
    var report = CrashReport()
    /// The last known bytes of every manifest, by path.
    private var manifests: [String: [UInt8]] = [:]

    init(seed: UInt64, leavingOut: SyncSite?, plan: CrashPlan) {
        self.seed = seed
        self.leavingOut = leavingOut
        self.plan = plan
        workload = CrashWorkload(seed: seed)
    }

    private var isDone: Bool { plan.stopsAtFirstViolation && !report.violations.isEmpty }

    func run() {
        let disk = SimulatedDisk(directories: ["/d"])
        leaveOut(disk)
        disk.onOperation = { [unowned self] disk, operation in
            guard !isDone, !isUnharmed(disk) else { return }
            report.gapCount += 1
            crash(disk, "seed \(seed), operation \(operation)", depth: 1)
        }
        do {
            try workload.run(on: disk, path: "/d/store", stepCount: plan.stepCount) { isDone }
        } catch {
            if !isDone { report.violations.append("seed \(seed): \(error)") }
        }
        disk.onOperation = nil
        if !isDone { crash(disk, "seed \(seed), at the end", depth: 1) }
        report.sites = disk.synchronizationCounts
    }

    private func leaveOut(_ disk: SimulatedDisk) {
        guard let leavingOut else { return }
        disk.ignoredSynchronizations = { $0.site == leavingOut }
    }

    /// Whether this workload so far equals one with all synchronizations.
    private func isUnharmed(_ disk: SimulatedDisk) -> Bool {
        guard let leavingOut else { return false }
        return disk.synchronizationCounts[leavingOut] == nil
    }

    /// Tries the disks that a crash at this point may leave.
    private func crash(_ disk: SimulatedDisk, _ place: String, depth: Int) {
        if depth == 1 {
            for path in disk.filePaths where path.contains("/m-") { manifests[path] = disk.bytes(of: path) }
        }
        let images = disk.crashImages(options(depth: depth))
        if images.isExhaustive { report.exhaustiveGapCount += 1 }
        for image in images {
            if isDone { return }
            report.stateCount += 1
            if image.isTorn { report.tornStateCount += 1 }
            if depth > 1 { report.nestedStateCount += 1 }
            if depth < plan.depthMax, report.stateCount % (depth == 1 ? plan.nestedEvery : plan.nestedEvery * 4) == 0 {
                crashRecovery(of: image, place, depth: depth)
            }
            if depth == 1 { rotManifest(of: image, place) }
            recover(image, place, depth: depth)
        }
    }

    private func options(depth: Int) -> CrashOptions {
        var options = CrashOptions()
        options.seed = seed &* 31 &+ UInt64(report.gapCount)
        // Its text names the start of the system in which the store was opened, which is over.
        options.settledNames = ["LOCK"]
        if depth == 1 {
            options.exhaustiveItemMax = plan.itemCountMax
            options.exhaustiveImageMax = plan.combinationCountMax
            options.imageCountMax = plan.imageCountMax
            options.sampleCount = plan.imageCountMax / 4
        } else {
            // A recovery has very many gaps: three disks of each.
            options.exhaustiveItemMax = 3
            options.exhaustiveImageMax = 2
            options.imageCountMax = 3
            options.sampleCount = 1
        }
        return options
    }

    private var check: CrashCheck {
        CrashCheck(
            path: "/d/store", options: workload.options, states: workload.states, acknowledged: workload.acknowledged,
            issued: workload.issued)
    }

    /// Recovers with a damaged newest manifest beside an older one.
    ///
    /// An older one that the crash left shows that the newest never took effect, so nothing may be missing. If a tool
    /// copied it back, the store may be refused, but must not lose anything.
    private func rotManifest(of image: CrashImage, _ place: String) {
        let present = image.disk.filePaths.filter { $0.contains("/m-") }
        guard let newest = present.last else { return }
        let rot = ManifestRot(Seed(seed &* 131 &+ UInt64(report.stateCount)))
        do {
            if present.count > 1 {
                let disk = image.disk.afterProcessDeath()
                leaveOut(disk)
                report.rotCount += 1
                rot.spoil(newest, on: disk)
                try check.run(on: disk)
            } else if report.stateCount % plan.rotEvery == 0,
                let old = rot.choose(manifests.keys.filter { $0 < newest }.sorted()), let bytes = manifests[old]
            {
                let disk = image.disk.afterProcessDeath()
                leaveOut(disk)
                report.rotCount += 1
                rot.spoil(newest, on: disk)
                try disk.place(bytes, at: old)
                try check.losesNothing(on: disk)
            }
        } catch {
            report.violations.append("\(place): \(image), and \(newest) rotted (\(rot)): \(error)")
        }
    }

    private func recover(_ image: CrashImage, _ place: String, depth: Int) {
        leaveOut(image.disk)
        report.recoveryCount += 1
        do {
            var check = check
            if report.recoveryCount % plan.pastEvery == 0 { check.past = Seed(UInt64(report.recoveryCount)) }
            // The recovery that was cut off may have removed a listing that was not readable.
            check.mayLackPast = depth > 1
            try check.run(on: image.disk)
            if check.readsPast { report.pastCount += 1 }
            try workload.watch.check()
        } catch {
            report.violations.append("\(place): \(image): \(error)")
        }
    }

    /// Recovers, with a crash in every gap of the recovery.
    private func crashRecovery(of image: CrashImage, _ place: String, depth: Int) {
        let disk = image.disk.afterProcessDeath()
        leaveOut(disk)
        disk.onOperation = { [unowned self] disk, operation in
            guard !isDone else { return }
            report.gapCount += 1
            crash(disk, "\(place): operation \(operation) of recovering it", depth: depth + 1)
        }
        do {
            let log = try Log.open(
                "/d/store", on: disk, clock: Clock { 1_500 }, options: workload.options, deriver: CrashDeriver())
            log.abandonForTests()
        } catch {
            report.violations.append("\(place): \(image): \(error)")
        }
        disk.onOperation = nil
    }
}
