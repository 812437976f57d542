import BenchmarkKit
import Synchronization
import Testing

@Suite struct CrewTests {
    @Test func startsWhenAllAreReady() throws {
        let readyCount = Mutex(0)
        var countAtStart = 0

        let results = try Crew.run(4) {
            countAtStart = readyCount.withLock { $0 }
        } body: { thread, ready in
            readyCount.withLock { $0 += 1 }
            ready()
            return thread
        }

        #expect(countAtStart == 4)
        #expect(results == [0, 1, 2, 3])
    }

    @Test func oneThatFailsKeepsNobodyWaiting() {
        #expect(throws: BenchmarkError.self) {
            _ = try Crew.run(3) {
            } body: { thread, ready in
                if thread == 1 { throw BenchmarkError(.wrongResult, "not this one") }
                ready()
            }
        }
    }
}

@Suite struct ChildProcessTests {
    @Test func readsWhatAProgramPrints() throws {
        #expect(try ChildProcess("/bin/echo", ["one", "two"], readsOutput: true).finish() == "one two\n")
    }

    @Test func refusesAProgramThatFails() throws {
        let error = #expect(throws: BenchmarkError.self) {
            _ = try ChildProcess("/bin/sh", ["-c", "exit 3"], readsOutput: true).finish()
        }
        #expect(error?.description.contains("status 3") == true)
        #expect(throws: BenchmarkError.self) { _ = try ChildProcess("/nowhere/at/all", [], readsOutput: true) }
    }

    @Test func killsWhatRuns() throws {
        try ChildProcess("/bin/sleep", ["60"], readsOutput: false).kill()
    }
}
