import FaultlineLog
import Testing

struct FileNameTests {
    @Test(arguments: FileKind.allCases) func readsItsOwnNamesBack(kind: FileKind) throws {
        for number: UInt64 in [1, 0xFF, 0xDEAD_BEEF_0000_0001, .max] {
            let name = FileName.numbered(kind, number)
            #expect(name.utf8.count == 22)
            let parsed = try #require(FileName.parse(name))
            #expect(parsed.kind == kind && parsed.number == number)
        }
    }

    @Test(arguments: [
        "", "m-1.flm", "m-000000000000000A.flm", "m-0000000000000001.fls", "x-0000000000000001.flm",
        "m-0000000000000001.flm ",
        "m_0000000000000001.flm", "m-000000000000000g.flm", "IDENTITY",
    ]) func readsNoOtherNames(name: String) {
        #expect(FileName.parse(name) == nil)
    }

    @Test func isWhatTheFormatSays() {
        #expect(FileName.numbered(.hotSegment, 0x2A) == "s-000000000000002a.fls")
        #expect(FileName.numbered(.manifest, 1) == "m-0000000000000001.flm")
        #expect(FileName.numbered(.tableCheckpoint, 1) == "t-0000000000000001.flt")
        #expect(FileName.numbered(.indexRun, 1) == "r-0000000000000001.flr")
        #expect(FileName.numbered(.blobSegment, 1) == "b-0000000000000001.fls")
        #expect(FileName.numbered(.coldSegment, 1) == "c-0000000000000001.fls")
    }
}
