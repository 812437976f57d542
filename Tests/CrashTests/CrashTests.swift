import CrashSimulation
import FaultlineDisk
import Testing

struct CrashTests {
    /// A sample; `make crash` runs the rest.
    @Test func keepsItsPromisesInEveryCrash() {
        var plan = CrashPlan()
        plan.stepCount = 25
        let report = runCrash(seeds: 1..<2, plan: plan)
        #expect(report.violations.isEmpty, "\(report.violations.first ?? "")")
        #expect(report.stateCount > 1_000)
        // The canary leaves out what is listed.
        #expect(Set(report.sites.keys).isSubset(of: crashSites))
        print(report)
    }
}
