import FaultlineTestSupport
import Testing

/// Memory of migrations, each in its own process.
struct MigrationMemoryTests {
    static let ceiling = 16

    /// The peak of bytes above the baseline while rows of one size are migrated.
    private func peak(rows: Int, payloadByteCount: Int) throws -> Int {
        let directory = TemporaryDirectory()
        let store = directory.path + "/store"
        try #require(
            ProofProcess(["prepare", store, "\(rows)", "\(payloadByteCount)"], of: "MigrationProofs").status == 0)
        let run = try ProofProcess(["migrate", store, "\(rows)", "\(Self.ceiling)"], of: "MigrationProofs")
        #expect(run.status == 0)
        #expect(run["rows"] == rows)
        return try #require(run["over_baseline"])
    }

    /// A sample of the proof `peaks`: the large rows amount to four times the ceiling.
    @Test(.enabled(if: PeakMemory.isExact))
    func `M1 (realm-swift#7814; StackOverflow 5995231): the peak does not follow the size of the store`() throws {
        let small = try peak(rows: 16_000, payloadByteCount: 4)
        let large = try peak(rows: 16_000, payloadByteCount: 3_900)
        for peak in [small, large] { #expect(peak <= (Self.ceiling + 16) << 20) }
        #expect(abs(small - large) <= 8 << 20)
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
    }
}
