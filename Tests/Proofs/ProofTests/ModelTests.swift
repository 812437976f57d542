import FaultlineTestSupport
import ModelSimulation
import Testing

/// Tests a sample of the workloads of `make model`, and that the trials detect errors.
struct ModelTests {
    @Test(arguments: Seed.list(3)) func `a store has the contents of the model, under every configuration`(seed: Seed) {
        let outcome = ModelTrial(seed: seed.origin, operationCount: 150).run()
        #expect(outcome.violation == nil, "make model SEED=\(seed.origin); \(seed.replayLine)")
        #expect(outcome.operationCount == 150 * ModelConfiguration.all.count)
        #expect(outcome.kinds.count > 40)
    }

    @Test func `every kind of operation comes`() {
        let kinds = Set((1...20 as ClosedRange<UInt64>).flatMap { ModelOperation.life(seed: $0).map(\.kind) })
        #expect(kinds.count == ModelKind.allCases.count)
        #expect(ModelConfiguration.all.count == 12)
        #expect(Set(ModelConfiguration.all.map(\.name)).count == 12)
    }

    /// Checks the trials themselves, with deliberate errors.
    @Test(arguments: ModelCanary.allCases) func `a broken rule is caught and made small`(canary: ModelCanary) {
        let shrunk = ModelTrial.catching(canary, operationCount: 120)
        #expect(shrunk != nil)
        #expect(shrunk.map { $0.kept.count <= 15 } == true, "\(shrunk?.operationList ?? [])")
    }
}
