import CrashSimulation
import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Testing

struct CrashTests {
    /// A sample; `make crash` runs the rest.
    @Test func keepsItsPromisesInEveryCrash() {
        var plan = CrashPlan()
        plan.stepCount = TestSize.of(25, unoptimized: 10)
        plan.combinationCountMax = plan.imageCountMax
        let report = runCrash(seeds: 1..<2, plan: plan)
        #expect(report.violations.isEmpty, "\(report.violations.first ?? "")")
        #expect(report.stateCount > 1_000)
        // A gap that is too large for all combinations still has torn sectors.
        #expect(report.tornStateCount * 8 > report.stateCount)
        #expect(report.exhaustiveGapCount > 0 && report.exhaustiveGapCount < report.gapCount)
        // The canaries cover only listed sites.
        #expect(Set(report.sites.keys).isSubset(of: crashSites))
        print(report)
    }

    @Test(arguments: [false, true]) func keepsThemWithPreparedSpaceAndWithoutWaiting(isWaiting: Bool) {
        let seed = CrashWorkload.firstSeed(isWaiting: isWaiting)
        var plan = CrashPlan()
        plan.stepCount = TestSize.of(24, unoptimized: 12)
        plan.imageCountMax = 3
        plan.combinationCountMax = 3
        let report = runCrash(seeds: seed..<seed + 1, plan: plan)
        #expect(report.violations.isEmpty, "\(report.violations.first ?? "")")
        #expect(report.stateCount > 100)
        #expect(isWaiting || report.reach.contains { $0.waits > 0 })
    }

    @Test func `states of the past are read after a crash`() {
        var plan = CrashPlan()
        plan.stepCount = TestSize.of(40, unoptimized: 30)
        plan.imageCountMax = 1
        plan.combinationCountMax = 1
        plan.pastEvery = 2
        let report = runCrash(seeds: 3..<4, plan: plan)
        #expect(report.violations.isEmpty, "\(report.violations.first ?? "")")
        #expect(report.pastCount > 100)
        #expect(report.sites["retention.taken"] ?? 0 > 0, "\(report.sites)")
    }

    /// Of several entries of a row in one index, as a text index has them.
    @Test func `an entry that a row has lost is found`() throws {
        for isLost in [false, true] {
            let disk = SimulatedDisk(directories: ["/d"])
            var options = LogOptions()
            options.maintenance = .inline
            let log = try Log.open("/d/store", on: disk, clock: Clock { 1 }, options: options, deriver: CrashDeriver())
            let (table, row) = (TableID(rawValue: 17), [1, 2, 3, 4, 5, 6] as [UInt8])
            var state = CrashModel()
            _ = try log.write(author: nil) { transaction in
                let id = try transaction.allocateIDs(1, in: table)
                try state.put(id, row, in: table, &transaction)
                let lost = try #require(CrashDeriver.entries(of: table, id: id, row: row).last)
                if isLost {
                    try lost.key.withUnsafeBytes { try transaction.removeEntry(lost.definition, key: $0, id: id) }
                }
            }
            // Into a file: replay would derive it.
            try log.checkpoint()
            log.abandonForTests()
            let check = CrashCheck(
                path: "/d/store", options: options, states: [CrashModel(), state], acknowledged: 1, issued: 1)
            if isLost {
                let violation = #expect(throws: CrashViolation.self) { try check.run(on: disk) }
                #expect(violation?.description.contains("lacks an entry") == true)
            } else {
                try check.run(on: disk)
            }
        }
    }

    /// So that the canaries can miss a synchronization that is left out.
    @Test func `some seeds reach every place that makes something durable`() throws {
        let reached = try CrashCanary.reach(of: 1..<31).values.reduce(into: Set<SyncSite>()) { $0.formUnion($1) }
        #expect(Set(crashSites).subtracting(reached).sorted { $0.rawValue < $1.rawValue } == [])
    }
}
