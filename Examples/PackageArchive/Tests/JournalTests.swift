import PackageArchive
import Testing

@Suite struct JournalTests {
    @Test func keepsTheLastNumberOfEachKey() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/journal"
        try Journal(path).set(["packages": 1, "relations": 2])
        try Journal(path).set(["packages": 3])
        let journal = try Journal(path)
        #expect(journal["packages"] == 3)
        #expect(journal["relations"] == 2)
        #expect(journal["blobs"] == nil)
    }

    @Test func leavesOutALineWithoutItsEnd() throws {
        let folder = try TemporaryFolder()
        folder.write("packages 16384\npackages 3276", to: "journal")
        let path = folder.path + "/journal"
        #expect(try Journal(path)["packages"] == 16_384)
        try Journal(path).set(["relations": 5])
        #expect(try Journal(path)["relations"] == 5)
    }

    @Test func givesBackTheFiguresOfAStep() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/journal"
        var figures = StepFigures()
        figures.count = 7
        figures.memoryByteCount = 1 << 20
        figures.seconds = 0.25
        figures.blobByteCount = 9
        #expect(StepFigures(lines: figures.lines).lines == figures.lines)
        try Journal(path).finish("list", figures)
        #expect(try Journal(path).figures(of: "list")?.lines == figures.lines)
        #expect(try Journal(path).figures(of: "touch") == nil)
    }
}
