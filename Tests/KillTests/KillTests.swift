import FaultlineTestSupport
import Testing

/// A sample of the kills of `make kill`; the process that is killed is `FaultlineProofs`.
struct KillTests {
    @Test func noKillLosesWhatWasAcknowledged() throws {
        let run = try ProofProcess(["kill", "--rounds", "24"])
        #expect(run.status == 0)
        #expect(run["kills"] == 24 && run["lost"] == 0 && run["violations"] == 0, "\(run.lines)")
    }

    /// What the kills are worth: transactions that are acknowledged before anything of them is written.
    @Test func acknowledgingTooEarlyIsCaught() throws {
        let run = try ProofProcess(["kill", "--rounds", "60", "--canary"])
        #expect(run.status == 0)
        #expect(run["violations"].map { $0 > 0 } == true, "\(run.lines)")
    }
}
