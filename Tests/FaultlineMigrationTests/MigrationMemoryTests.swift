import FaultlineTestSupport
import Testing

/// Memory of migrations, each in its own process.
struct MigrationMemoryTests {
    static let ceiling = 16

    /// The peak of bytes above the baseline while rows of one size are migrated.
    private func peak(rows: Int, payloadByteCount: Int, by words: [String] = []) throws -> Int {
        let directory = TemporaryDirectory()
        let store = directory.path + "/store"
        try #require(
            ProofProcess(["prepare", store, "\(rows)", "\(payloadByteCount)"], of: "MigrationProofs").status == 0)
        let run = try ProofProcess(["migrate", store, "\(rows)", "\(Self.ceiling)"] + words, of: "MigrationProofs")
        #expect(run.status == 0)
        #expect(run["rows"] == rows)
        return try #require(run["over_baseline"])
    }

    /// The large rows amount to fifteen times the ceiling, and many small ones add their table pages and index entries.
    @Test func `M1 (realm-swift#7814; StackOverflow 5995231): the peak does not depend on the number of rows`() throws {
        let small = try peak(rows: 60_000, payloadByteCount: 4)
        let large = try peak(rows: 60_000, payloadByteCount: 3_900)
        let many = try peak(rows: 400_000, payloadByteCount: 4)
        print(
            "peak over the base line: 60,000 rows of a few bytes \(small >> 10) KiB, of nearly 4 KiB \(large >> 10) KiB; 400,000 rows \(many >> 10) KiB"
        )
        for peak in [small, large, many] { #expect(peak <= (Self.ceiling + 16) << 20) }
        #expect(abs(small - large) <= 8 << 20)
    }

    /// An object costs no memory after it is released: the second run reads four times as many through its contexts.
    @Test(arguments: [[], ["policy"]]) func `what a stage takes does not follow the number of objects`(
        words: [String]
    ) throws {
        let few = try peak(rows: 40_000, payloadByteCount: 100, by: words)
        let many = try peak(rows: 160_000, payloadByteCount: 100, by: words)
        print("peak over the base line \(words): 40,000 rows \(few >> 10) KiB, 160,000 rows \(many >> 10) KiB")
        #expect(many <= (Self.ceiling + 16) << 20)
        // During the second run, caches fill up to the ceiling.
        #expect(many - few <= 6 << 20)
    }

    /// The older container's budget is four times the ceiling, and a store has only one engine.
    @Test(arguments: [[], ["policy"]]) func `a container of the old version does not raise the ceiling`(
        words: [String]
    ) throws {
        let peak = try peak(rows: 400_000, payloadByteCount: 100, by: words + ["held"])
        print("peak over the base line \(words), with the old version open: \(peak >> 10) KiB")
        #expect(peak <= (Self.ceiling + 16) << 20)
    }

    /// Migrates 60 MiB of rows and 240 MiB of large values, by a streamed stage and by a policy, at the lowest ceiling.
    @Test func `a store of 300 MiB migrates within the ceiling, and no large value is read`() throws {
        let run = try ProofProcess(["large", "300", "\(Self.ceiling)"], of: "MigrationProofs")
        run.lines.forEach { print($0) }
        #expect(run.status == 0)
        #expect(run.lines.count == 3)
    }

    /// Kills the process at several moments in turn, on one store: it continues each time, and nothing is lost.
    @Test func `M13 (GRDB#1087; StackOverflow 9790705): killed again and again, it ends`() throws {
        let rows = 30_000
        let directory = TemporaryDirectory()
        let store = directory.path + "/store"
        try #require(ProofProcess(["prepare", store, "\(rows)", "300"], of: "MigrationProofs").status == 0)
        var kills = 0
        for place in [3, 6, 9, 13, 18, 29, 30] {
            let run = try ProofProcess(["migrate", store, "\(rows)", "\(Self.ceiling)"], of: "MigrationProofs") {
                $0 == "{\"done\":\(place)000}"
            }
            if run.status == -9 { kills += 1 }
        }
        let last = try ProofProcess(["migrate", store, "\(rows)", "\(Self.ceiling)"], of: "MigrationProofs")
        #expect(last.status == 0)
        #expect(kills >= 5)
        print("killed \(kills) times; the last run: \(last.lines.last ?? "")")
    }
}
