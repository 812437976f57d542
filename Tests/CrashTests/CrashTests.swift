import CrashSimulation
import FaultlineDisk
import Testing

struct CrashTests {
    @Test func keepsItsPromisesInEveryCrash() {
        let report = runCrash(seeds: 1..<3)
        #expect(report.violations.isEmpty, "\(report.violations.first ?? "")")
        #expect(report.stateCount > 1_000)
        print(report)
    }
}
