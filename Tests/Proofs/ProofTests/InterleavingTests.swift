import InterleavingSimulation
import Testing

/// Tests a sample of the interleavings that `make interleavings` runs.
struct InterleavingTests {
    @Test func `two jobs in any order leave the right state`() throws {
        let trials = try InterleavingTrials()
        #expect(InterleavingTrials.count == 128_700)
        var waitCount = 0
        for number in stride(from: 0, to: InterleavingTrials.count, by: 487) {
            let outcome = trials.outcome(of: number)
            #expect(outcome.violation == nil, "\(number): \(trials.describe(number))")
            waitCount += outcome.waitCount
        }
        // Locks cut some orders short. A count of zero would mean that the jobs never waited for each other.
        #expect(waitCount > 0)
    }

    @Test func `orders are all different`() throws {
        let trials = try InterleavingTrials()
        let orders = Set((0..<12_870).map { trials.describe($0) })
        #expect(orders.count == 12_870)
        #expect(trials.describe(0).hasSuffix("aaaaaaaabbbbbbbb"))
        #expect(trials.describe(12_869).hasSuffix("bbbbbbbbaaaaaaaa"))
    }

    /// Half of the interleavings end in a power cut that loses all volatile data.
    @Test func `commits that are not durable are missed`() throws {
        let trials = try InterleavingTrials(leavesVolatile: true)
        #expect(trials.outcome(of: 1).violation != nil)
    }
}
