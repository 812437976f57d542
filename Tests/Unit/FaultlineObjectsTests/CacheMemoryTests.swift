import FaultlineTestSupport
import Testing

struct CacheMemoryTests {
    /// Reads every row twice, 40 times the budget in all, while every object is held: the memory in use rises by at
    /// most the budget.
    @Test(.enabled(if: PeakMemory.isExact)) func staysInsideItsBudgetWhenFilledManyTimes() throws {
        let budget = 4
        let rows = 22_000
        let directory = TemporaryDirectory()
        let store = directory.path + "/store"
        try #require(ProofProcess(["prepare", store, "\(rows)", "3900"], of: "MigrationProofs").status == 0)
        let run = try ProofProcess(["cache", store, "\(rows)", "\(budget)"], of: "MigrationProofs")
        #expect(run.status == 0)
        print(run.lines.last ?? "")
        #expect(try #require(run["bytes_read"]) >= 40 * budget << 20)
        #expect(try #require(run["cache_bytes"]) <= budget << 20)
        #expect(try #require(run["allocated_over_baseline"]) <= (budget + 1) << 20)
        #expect(try #require(run["over_baseline"]) <= (budget + 4) << 20)
    }
}
