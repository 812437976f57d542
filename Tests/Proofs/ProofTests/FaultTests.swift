import FaultlineTestSupport
import Testing

/// A sample of the faults of `make faults`, in a separate process, in which the system calls are replaced.
struct FaultTests {
    @Test(arguments: ["disk", "system"], ["create", "checkpoints", "recovery"])
    func noFaultBreaksAPromise(place: String, leg: String) throws {
        let run = try ProofProcess(["faults", place, leg, "3", "1", "0", "150"])
        #expect(run.status == 0)
        let text = run.lines.joined()
        #expect(text.contains("\"violations\":0") && text.contains("\"injected\":150"), "\(text)")
    }

    /// Tests the sweep itself: rules that are broken on purpose.
    @Test func everyBrokenRuleIsCaught() throws {
        let run = try ProofProcess(["faults", "--canary"])
        #expect(run.status == 0, "\(run.lines)")
    }
}
