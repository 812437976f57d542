import MigrationSimulation
import Testing

struct MigrationCrashTests {
    @Test func survivesPowerCutsInEveryGap() {
        let report = runMigrationCrash(seeds: 1..<2, imagesPerGap: 12)

        #expect(report.violations.isEmpty, "\(report)\n\(report.violations.prefix(3).joined(separator: "\n"))")
        #expect(report.old > 0 && report.resumable > 0 && report.new > 0)
        print(report)
    }
}
