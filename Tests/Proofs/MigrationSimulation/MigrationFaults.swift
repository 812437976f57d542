internal import Faultline
internal import FaultlineDisk
internal import FaultlineLog
internal import FaultlineMigration
internal import FaultlineTestSupport
internal import Glibc

/// How disk calls fail while a store is migrated.
package enum MigrationFault: CaseIterable, Sendable {
    /// From one call on, no new data can be written.
    case full
    /// One write finds the disk full, and writes only a part; the next has space again.
    case shortOnce
    /// One call of any kind fails.
    case brokenOnce
    /// From one call on, all calls fail.
    case broken
    /// A synchronization fails, and its data is lost.
    case lostPages

    fileprivate func fault(_ ordinal: Int) -> DiskFault {
        switch self {
        case .full:
            DiskFault(
                of: [.create, .createDirectory, .write, .reserve], ordinal: ordinal, errorNumber: ENOSPC,
                isSticky: true)
        case .shortOnce:
            DiskFault(of: [.write], ordinal: ordinal, errorNumber: ENOSPC, effect: .writesShare(100))
        case .brokenOnce: DiskFault(ordinal: ordinal)
        case .broken: DiskFault(ordinal: ordinal, isSticky: true)
        case .lostPages:
            DiskFault(of: [.synchronize], ordinal: ordinal, effect: .losesPages(.dropsPages, seed: UInt64(ordinal)))
        }
    }
}

/// The results of failing disks during migrations.
package struct MigrationFaultReport: Sendable, CustomStringConvertible {
    /// The number of migrations during which a call failed.
    package var injected = 0
    /// How many of these were refused with an error, and how many completed.
    package var refused = 0
    package var completed = 0
    /// How many of the refused ones left the old state, a migration to be resumed, and the new state.
    package var old = 0
    package var resumable = 0
    package var new = 0
    package var violations: [String] = []

    package init() {}

    package mutating func add(_ other: MigrationFaultReport) {
        injected += other.injected
        refused += other.refused
        completed += other.completed
        old += other.old
        resumable += other.resumable
        new += other.new
        violations += other.violations
    }

    package var description: String {
        "\(injected) calls failed: \(refused) refused (\(old) old, \(resumable) to be resumed, \(new) new), "
            + "\(completed) went through; \(violations.count) violations"
    }
}

/// Fails each disk call of a small migration, one in each run; then the disk works again.
///
/// The error has to include the problem, the file, and a remedy. The store then opens in its old state under the old
/// schema, or becomes new under the plan, however far the migration had come.
///
/// - Parameters:
///   - life: The kind of stages, except dry runs and rollbacks.
///   - fault: How calls fail.
///   - seeds: Each makes other objects.
///   - stride: Fails one of this many calls.
/// - Returns: The results of all seeds, including violations.
package func runMigrationFaults(
    _ life: MigrationLife, _ fault: MigrationFault, seeds: Range<UInt64>, stride: Int = 1
) -> MigrationFaultReport {
    var report = MigrationFaultReport()
    for seed in seeds {
        let sweep = MigrationFaultSweep(life, fault, seed: seed)
        do { try sweep.run(every: stride) } catch { sweep.report.violations.append("seed \(seed): \(error)") }
        report.add(sweep.report)
    }
    return report
}

/// One seed's migration, run once for each call.
private final class MigrationFaultSweep {
    private let life: MigrationLife
    private let kind: MigrationFault
    private let store: SimulatedStore
    var report = MigrationFaultReport()

    init(_ life: MigrationLife, _ kind: MigrationFault, seed: UInt64) {
        self.life = life
        self.kind = kind
        store = SimulatedStore(life, seed: seed, objectCount: 10)
    }

    func run(every stride: Int) throws {
        let origin = SimulatedDisk(directories: ["/d"])
        try store.make(on: origin)
        let counting = FailingDisk(over: origin.withOnlyWhatIsDurable())
        counting.arm(kind.fault(.max))
        try store.open(life.version, on: counting).close()
        // A disturbed migration may make a few more calls to clean up.
        for ordinal in Swift.stride(from: 0, to: counting.matchCount + 40, by: stride) {
            guard report.violations.count < 5 else { return }
            let medium = origin.withOnlyWhatIsDurable()
            do {
                if let violation = try violation(on: medium, ordinal) { note(violation, ordinal) }
            } catch { note("\(error)", ordinal) }
        }
    }

    private func note(_ violation: String, _ ordinal: Int) {
        report.violations.append("\(life), \(kind), seed \(store.seed), call \(ordinal): \(violation)")
    }

    private func violation(on medium: SimulatedDisk, _ ordinal: Int) throws -> String? {
        let disk = FailingDisk(over: medium)
        disk.arm(kind.fault(ordinal))
        do {
            let container = try store.open(life.version, on: disk)
            // Closing may report operations that failed; acknowledged data is on the disk.
            try? container.close()
            report.completed += 1
        } catch {
            guard disk.hitCount > 0 else { return "refused without a fault: \(error)" }
            report.refused += 1
            if let lack = lack(of: error) { return "\(lack): \(error)" }
        }
        guard disk.hitCount > 0 else { return nil }
        report.injected += 1
        let failed = disk.failedOperations.first.map { "\($0.kind) of \($0.path)" } ?? ""
        disk.disarm()
        let stage = try store.recovered(on: disk).stage
        switch stage {
        case .new: report.new += 1
        case .old: report.old += 1
        case .resumable: report.resumable += 1
        case .none: return "the store has no catalog after \(failed)"
        }
        if stage != .new, ordinal % 2 == 0 {
            if let fault = try store.use(life.oldVersion, disk, store.oldFault) {
                return "old, after \(failed): \(fault)"
            }
        }
        return try store.use(life.version, disk, store.newFault).map { "new, after \(failed): \($0)" }
    }

    /// The information that is missing in an error.
    private func lack(of error: any Error) -> String? {
        let words: String
        switch error {
        case let error as MigrationError: words = error.description
        case let error as StorageError: words = error.description
        default: return "an error of type \(type(of: error))"
        }
        return words.contains("/d/store") ? nil : "names no file"
    }
}
