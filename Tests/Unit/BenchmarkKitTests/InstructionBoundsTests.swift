import BenchmarkKit
import Testing

@Suite struct InstructionBoundsTests {
    @Test func readsANumberAndANameALine() throws {
        let bounds = try InstructionBounds("# a remark\n120 insert\n7 commit of one object\n")

        #expect(bounds.bounds == ["insert": 120, "commit of one object": 7])
    }

    @Test(arguments: ["insert", "x insert", "0 insert", "-1 insert"])
    func refusesWhatIsNoBound(line: String) {
        #expect(throws: BenchmarkError.self) { try InstructionBounds(line) }
    }

    @Test func takesTheDifferenceOfTwoRuns() {
        #expect(InstructionBounds.perOperation(shorter: 1_000, longer: 1_250, count: 100) == 3)
        #expect(InstructionBounds.bound(for: 1_000) == 1_150)
        #expect(InstructionBounds.bound(for: 1) == 2)
    }

    @Test func knowsWhatTakesMoreAmongMany() {
        #expect(InstructionBounds.isFlat(from: 1_000, to: 1_100) && InstructionBounds.isFlat(from: 1_000, to: 900))
        #expect(!InstructionBounds.isFlat(from: 1_000, to: 1_101) && !InstructionBounds.isFlat(from: 1_000, to: 899))
    }

    @Test func findsWhatCallgrindCollected() throws {
        let output = "==12== Events    : Ir\n==12== Collected : 19836537\n==12== \n==12== I   refs:      19,836,537\n"

        #expect(try InstructionBounds.collected(in: output) == 19_836_537)
        #expect(throws: BenchmarkError.self) { try InstructionBounds.collected(in: "==12== I can't recover.") }
    }
}
