import Testing

/// Tests that the gate fails if any piece fails, and that the nightly run can be continued and only counts passed
/// pieces.
@Suite struct GateTests {
    private let three = """
        # name | seed | size | command
        one   | none | small | echo one >> ran
        two   | 1…2  | large | echo two >> ran; test -e allowed
        three | none | small | echo three >> ran

        """

    @Test func oneTableSaysWhatRuns() {
        for violation in PieceTableRule().violations(in: Repository.files) { Issue.record("\(violation)") }
    }

    @Test func tablesThatDifferAreFound() {
        let head = "| piece | in the gate | seconds | at night | replay |\n|---|---|---|---|---|\n"
        func found(_ gate: String, _ night: String, _ rows: String) -> [String] {
            PieceTableRule().violations(in: [
                RepositoryFile(".ci/gate", gate), RepositoryFile(".ci/night", night),
                RepositoryFile("docs/Testing.md", head + rows),
            ]).map(\.description)
        }
        #expect(found("a | none | 1 | x\n", "b | none | 2 | y\n", "| a | 1 | 9 | | |\n| b | | 9 | 2 | |\n") == [])
        #expect(found("a | none | 1 | x\n", "b | none | 2 | y\n", "| a | 2 | 9 | | |\n| b | | 9 | 2 | |\n").count == 1)
        #expect(
            found("a | none | 1 | x\n", "b | none | 2 | y\n", "| a | 1 | 9 | 3 | |\n| b | | 9 | 2 | |\n").count == 1)
        let clock = found(
            "a | none | 1 | if ((SECONDS < 9)); then x; fi\n", "a | none | 1 | y\n", "| a | 1 | 9 | 1 | |\n")
        #expect(clock == [".ci/gate: a: SECONDS makes its size depend on the clock; give it a constant size"])
        #expect(found("", "a | none | 1\n", "| a | | 9 | 1 | |\n").count == 4)
    }

    @Test func theGateStopsAtAPieceThatFails() throws {
        let trial = try ScriptTrial("check", pieces: three)
        let red = try trial.shell(".ci/check")
        #expect(red.status == 1)
        #expect(red.output.contains("failed with status 1: two, seed 1…2"))
        #expect(trial.read("ran") == "one\ntwo\n")
        let green = try trial.shell("touch allowed && .ci/check")
        #expect(green.status == 0)
        #expect(green.output.contains("all 3 pieces passed"))
        try trial.write(".ci/gate", "# none\n")
        #expect(try trial.shell(".ci/check").status == 1)
    }

    @Test func theNightGoesOnWhereItFailed() throws {
        let trial = try ScriptTrial("check-night", pieces: three)
        let red = try trial.shell(".ci/check-night")
        #expect(red.status == 1)
        #expect(red.output.contains("2 of 3 pieces have passed"))
        #expect(trial.ledger == ["one passed", "two failed", "three passed"])
        let green = try trial.shell("touch allowed && .ci/check-night")
        #expect(green.status == 0)
        #expect(trial.ledger == ["one passed", "two failed", "three passed", "two passed"])
        #expect(trial.read("ran") == "one\ntwo\nthree\ntwo\n")
        try trial.commitAll()
        #expect(try trial.shell(".ci/check-night").output.contains("one: small\none: passed after"))
    }

    @Test func aPieceThatIsSkippedHasNotPassed() throws {
        let trial = try ScriptTrial("check-night", pieces: "one | none | small | exit 77\n")
        let outcome = try trial.shell(".ci/check-night")
        #expect(outcome.status == 1)
        #expect(trial.ledger == ["one skipped"])
        try trial.write(".ci/night", "# none\n")
        try trial.commitAll()
        #expect(try trial.shell(".ci/check-night").status == 1)
    }

    @Test func aTreeThatDiffersIsRefused() throws {
        let trial = try ScriptTrial("check-night", pieces: "one | none | small | echo > made\n")
        try trial.write("other", "x")
        let refused = try trial.shell(".ci/check-night")
        #expect(refused.status == 2)
        #expect(refused.output.contains("?? other"))
        #expect(trial.ledger == [])
        // Nothing is recorded for a piece that changes the tree either.
        let changed = try trial.shell("rm other; .ci/check-night")
        #expect(changed.status == 2)
        #expect(changed.output.contains("?? made"))
        #expect(trial.ledger == [])
        try trial.write("docs/Proofs.md", "# Other\n")
        #expect(try trial.shell("rm made; .ci/check-night").output.contains("were removed or changed"))
    }

    @Test func aNightThatIsBrokenOffWritesNoLine() throws {
        let trial = try ScriptTrial(
            "check-night", pieces: "one | none | small | touch ran; while ! test -e allowed; do sleep 0.05; done\n")
        let broken = try trial.shell(
            """
            .ci/check-night & night=$!
            while ! test -e ran; do sleep 0.05; done
            kill -KILL $night; wait $night; status=$?; touch allowed; exit $status
            """)
        #expect(broken.status == 137)
        #expect(trial.ledger == [])
        #expect(try trial.shell(".ci/check-night").status == 0)
        #expect(trial.ledger == ["one passed"])
    }
}
