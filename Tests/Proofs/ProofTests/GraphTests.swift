import FaultlineTestSupport
import Foundation
import GraphSimulation
import Testing

/// Tests a sample of the workloads of `make graph`, and that the trials detect deliberate errors.
struct GraphTests {
    /// Runs a life on a thread of its own: it waits for streams, and the threads of Swift's pool must not wait.
    private func onThread<R: Sendable>(_ body: @escaping @Sendable () -> R) async -> R {
        await withCheckedContinuation { continuation in
            Thread { continuation.resume(returning: body()) }.start()
        }
    }

    @Test(arguments: Seed.list(6, unoptimized: 3))
    func `objects and their relationships are what plain values say`(seed: Seed) async {
        let operationCount = 1_000
        let outcome = await onThread { GraphTrial(seed: seed.origin, operationCount: operationCount).run() }
        #expect(outcome.violation == nil, "make graph SEED=\(seed.origin); \(seed.replayLine)")
        #expect(outcome.operationCount >= operationCount)
        #expect(outcome.refusalCount > 0)
        #expect(outcome.kinds.count > 20)
    }

    @Test(arguments: GraphCanary.allCases) func `a broken rule is caught`(canary: GraphCanary) async {
        #expect(await onThread { GraphTrial.catching(canary) != nil })
    }

    @Test(arguments: Seed.list(4, unoptimized: 2))
    func `contexts on threads see one order of the saves`(seed: Seed) async throws {
        let outcome = try await onThread { SerialTrial(seed: seed.origin, operationCount: 2_000).run() }.get()
        #expect(outcome.operationCount >= 1_000)
        #expect(outcome.saveCount > 50)
        // Eight threads that ran one after the other would alternate at most eight times.
        #expect(outcome.alternationCount > 8)
        #expect(outcome.readCount > 500)
        #expect(outcome.kinds.count > 10)
    }

    @Test(arguments: SerialCanary.allCases) func `a broken rule between threads is caught`(canary: SerialCanary) async {
        #expect(await onThread { SerialTrial.catching(canary) != nil })
    }
}
