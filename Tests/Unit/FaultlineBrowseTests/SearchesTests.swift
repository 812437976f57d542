import Dispatch
import FaultlineBrowse
import FaultlineTestSupport
import Testing

/// Searches that take longer than a page waits.
struct SearchesTests {
    /// Lets searches wait until it is opened.
    private final class Gate: Sendable {
        private let semaphore = DispatchSemaphore(value: 0)

        func wait() {
            semaphore.wait()
            semaphore.signal()
        }

        func open() { semaphore.signal() }
    }

    private struct Refusal: Error {}

    private func text(_ outcome: Searches<String>.Outcome) -> String {
        switch outcome {
        case .done(.success(let text)): text
        case .done(.failure(let error)): "\(error)"
        case .running: "running"
        case .refused: "refused"
        }
    }

    @Test func `a page waits for its search for a moment, and the next one gets the result`() {
        let searches = Searches<String>(patience: .milliseconds(1))
        let gate = Gate()
        let make: @Sendable () -> String = {
            gate.wait()
            return "found"
        }
        #expect(text(searches.outcome("a", make)) == "running")
        #expect(text(searches.outcome("a") { "another" }) == "running")
        gate.open()
        var last = "running"
        while last == "running" { last = text(searches.outcome("a") { "another" }) }
        #expect(last == "found")
        // The result is forgotten: a later page searches again.
        while last != "later" { last = text(searches.outcome("a") { "later" }) }
    }

    @Test func `an error is the result`() {
        let searches = Searches<String>(patience: .seconds(600))
        #expect(text(searches.outcome("a") { throw Refusal() }) == "Refusal()")
    }

    @Test func `only some searches run at a time`() {
        let searches = Searches<String>(patience: .milliseconds(1))
        let gate = Gate()
        for number in 0..<searches.runningMax {
            #expect(
                text(
                    searches.outcome("\(number)") {
                        gate.wait()
                        return ""
                    }) == "running")
        }
        #expect(text(searches.outcome("one more") { "" }) == "refused")
        gate.open()
        var last = "refused"
        while last != "found" { last = text(searches.outcome("one more") { "found" }) }
    }
}
