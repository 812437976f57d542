import FaultlineTestSupport
import GraphSimulation
import Testing

/// Tests a sample of the workloads of `make graph`, and that the trials detect deliberate errors.
struct GraphTests {
    @Test(arguments: Seed.list(6)) func `objects and their relationships are what plain values say`(seed: Seed) {
        let trial = GraphTrial(seed: seed.origin, operationCount: 1_000)
        let outcome = trial.run()
        #expect(outcome.violation == nil, "make graph SEED=\(seed.origin); \(seed.replayLine)")
        #expect(outcome.operationCount >= trial.operationCount)
        #expect(outcome.refusalCount > 0)
        #expect(outcome.kinds.count > 20)
    }

    @Test(arguments: GraphCanary.allCases) func `a broken rule is caught`(canary: GraphCanary) {
        #expect(GraphTrial.catching(canary) != nil)
    }

    @Test(arguments: Seed.list(4)) func `contexts on threads see one order of the saves`(seed: Seed) throws {
        let outcome = try SerialTrial(seed: seed.origin, operationCount: 2_000).run().get()
        #expect(outcome.operationCount >= 1_000)
        #expect(outcome.saveCount > 50)
        // Eight threads that ran one after the other would alternate at most eight times.
        #expect(outcome.alternationCount > 8)
        #expect(outcome.readCount > 500)
        #expect(outcome.kinds.count > 10)
    }

    @Test(arguments: SerialCanary.allCases) func `a broken rule between threads is caught`(canary: SerialCanary) {
        #expect(SerialTrial.catching(canary) != nil)
    }
}
