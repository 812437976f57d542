package import FaultlineDisk
import FaultlineTestSupport

/// Every place of the log that makes something durable.
///
/// A run must detect the omission of any of them.
package let crashSites: [SyncSite] = [
    "blob.commit", "blob.directory", "blob.header", "blob.seal", "checkpoint.content", "checkpoint.directory",
    "compaction.blobdirectory", "compaction.blobheader", "compaction.blobs", "compaction.directory",
    "compaction.header", "compaction.moved",
    "creation.segment",
    "identity.content", "identity.directory", "identity.parent", "log.commit", "log.run", "log.seal",
    "manifest.directory",
    "manifest.edit", "manifest.fresh", "manifest.removal", "merge.directory", "recovery.directory", "recovery.rescued",
    "recovery.tail", "retention.copy", "retention.directory", "retention.folder", "retention.taken",
    "retention.window", "segment.directory",
    "segment.header", "spill.content", "upload.commit", "upload.directory", "upload.header",
]

/// A crash run in which one place of the code makes nothing durable, until a check fails.
///
/// A missing synchronization shows soonest on the harshest disk, the one with only durable data. So many gaps of a few
/// seeds are tried with that one alone before any is tried with more.
package struct CrashCanary: Sendable {
    private let site: SyncSite
    /// The sums of all attempts.
    package private(set) var report = CrashReport()
    /// The seed that detected the omission; nil as long as none did.
    package private(set) var seed: UInt64?
    /// The number of crash states of that seed until then.
    package private(set) var stateCount = 0

    /// One pass over the seeds: crash images at each gap, and the number of seeds.
    private static let passes: [(imageCount: Int, seedCount: Int)] = [(1, 8), (6, 4), (24, .max)]

    package init(leavingOut site: SyncSite) { self.site = site }

    /// Tries seeds until one detects the omission.
    ///
    /// - Parameters:
    ///   - seeds: Tried in this order, those that reach the site first.
    ///   - reach: The sites that a seed's workload reaches, as far as they are known.
    package mutating func run(seeds: Range<UInt64>, reach: [UInt64: Set<SyncSite>]) {
        let order =
            seeds.filter { reach[$0]?.contains(site) == true } + seeds.filter { reach[$0]?.contains(site) != true }
        for pass in Self.passes {
            var plan = CrashPlan()
            plan.imageCountMax = pass.imageCount
            plan.combinationCountMax = pass.imageCount
            if site.rawValue.hasPrefix("retention.") { plan.pastEvery = 1 }
            for seed in order.prefix(pass.seedCount) {
                let attempt = runCrash(seeds: seed..<seed + 1, leavingOut: site, plan: plan)
                report.add(attempt)
                guard !attempt.violations.isEmpty else { continue }
                self.seed = seed
                stateCount = attempt.stateCount
                return
            }
        }
    }

    /// The sites that each seed's workload synchronizes, in a run without crashes.
    ///
    /// - Throws: The error of a workload; without faults, none.
    package static func reach(of seeds: Range<UInt64>) throws -> [UInt64: Set<SyncSite>] {
        var reach: [UInt64: Set<SyncSite>] = [:]
        for seed in seeds {
            let disk = SimulatedDisk(directories: ["/d"])
            try CrashWorkload(seed: seed).run(on: disk, path: "/d/store", stepCount: CrashPlan().stepCount) { false }
            reach[seed] = Set(disk.synchronizationCounts.keys)
        }
        return reach
    }
}
