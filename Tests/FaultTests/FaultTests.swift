import FaultlineTestSupport
import Testing

/// A sample of the faults that `make faults` injects, in a process of its own: there the system's calls are replaced.
struct FaultTests {
    @Test(arguments: ["disk", "system"], ["create", "checkpoints", "recovery"])
    func noFaultBreaksAPromise(place: String, leg: String) throws {
        let run = try ProofProcess(["faults", place, leg, "3", "0", "150"])
        #expect(run.status == 0)
        let text = run.lines.joined()
        #expect(text.contains("\"violations\":0") && text.contains("\"injected\":150"), "\(text)")
    }

    /// What the sweep is worth: rules that are broken on purpose.
    @Test func everyBrokenRuleIsCaught() throws {
        let run = try ProofProcess(["faults", "--canary"])
        #expect(run.status == 0, "\(run.lines)")
    }
}
