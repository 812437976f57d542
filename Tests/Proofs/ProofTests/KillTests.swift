import FaultlineTestSupport
import Testing

/// Tests a sample of the kills of `make kill`.
///
/// The killed process is `FaultlineProofs`.
struct KillTests {
    @Test func noKillLosesWhatWasAcknowledged() throws {
        let run = try ProofProcess(["kill", "--rounds", "24"])
        #expect(run.status == 0)
        #expect(run["kills"] == 24 && run["lost"] == 0 && run["violations"] == 0, "\(run.lines)")
    }

    /// Checks the test itself, with transactions that are acknowledged before anything is written.
    @Test func acknowledgingTooEarlyIsCaught() throws {
        let run = try ProofProcess(["kill", "--rounds", "60", "--canary"])
        #expect(run.status == 0)
        #expect(run["violations"].map { $0 > 0 } == true, "\(run.lines)")
    }
}
