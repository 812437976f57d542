import FaultlineDisk
import FaultlineTestSupport
import MigrationSimulation
import Testing

struct MigrationCrashTests {
    private static let lives = MigrationLife.allCases.filter { $0 != .customPreview && $0 != .mappedQuarantine }
        .enumerated().filter { $0.offset % TestSize.of(1, unoptimized: 3) == 0 }.map(\.element)

    /// Reads and compares every disk; of equal disks, one in 32 is migrated to the end.
    ///
    /// The proof in the gate takes twelve disks a gap, and continues with one of each gap. It also takes custom stages
    /// that are tried out, and mapped stages with a quarantine, which run each stage several times. Where tests are not
    /// optimized, each third kind of life is taken.
    @Test(arguments: Self.lives)
    func survivesPowerCutsInEveryGap(of life: MigrationLife) {
        let report = runMigrationCrash(
            life, seeds: 1..<2, imagesPerGap: 1, objectCount: 6, carryingOnEvery: 32, inEachGap: false)

        #expect(report.violations.isEmpty, "\(report)\n\(report.violations.prefix(3).joined(separator: "\n"))")
        #expect(report.old > 0 && report.resumable > 0)
        #expect((report.new > 0) != life.isPreview)
        print(report)
    }

    /// As in the proof, most disks are read and compared, and few are migrated to the end.
    @Test(arguments: [nil, "blob.commit"] as [SyncSite?])
    func `leaving out equal states still finds bytes that are not durable`(site: SyncSite?) {
        let report = runMigrationCrash(
            .custom, seeds: 1..<2, imagesPerGap: 4, objectCount: 6, carryingOnEvery: 256, inEachGap: false,
            leavingOut: site)
        #expect(report.violations.isEmpty == (site == nil), "\(report)")
        #expect(report.carriedOn < report.states)
        print(report)
    }

    /// Saves during an online migration are acknowledged, so that each must be in the state that a cut leaves.
    @Test(arguments: ["log.commit", "blob.commit"] as [SyncSite])
    func `leaving out the synchronization of a save during an online migration is found`(site: SyncSite) {
        let report = runMigrationCrash(
            .online, seeds: 1..<2, imagesPerGap: 4, objectCount: 6, carryingOnEvery: 16, inEachGap: false,
            leavingOut: site)
        #expect(!report.violations.isEmpty, "\(report)")
    }
}
