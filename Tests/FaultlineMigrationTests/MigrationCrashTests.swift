import MigrationSimulation
import Testing

struct MigrationCrashTests {
    @Test(arguments: MigrationLife.allCases)
    func survivesPowerCutsInEveryGap(of life: MigrationLife) {
        let report = runMigrationCrash(life, seeds: 1..<2, imagesPerGap: life == .streamed ? 6 : 2, objectCount: 6)

        #expect(report.violations.isEmpty, "\(report)\n\(report.violations.prefix(3).joined(separator: "\n"))")
        #expect(report.old > 0 && report.resumable > 0 && report.new > 0)
        print(report)
    }
}
