import FaultlineCoreData
import Testing

/// XML that is damaged, foreign, or made to hurt: a typed error with its place.
struct DamagedMarkupTests {
    private func failure(_ contents: Data) -> ModelFileError? {
        do {
            _ = try ModelVersion(xml: contents, name: "Model", path: "Model.xcdatamodel/contents")
            return nil
        } catch { return error }
    }

    private func failure(_ text: String) -> ModelFileError? { failure(Data(text.utf8)) }

    @Test func `every shorter file is refused`() throws {
        let whole = ModelText.library()
        #expect(failure(whole) == nil)
        let end = whole.count
        for length in 0..<end {
            let error = failure(whole.prefix(length))
            #expect(error?.code == .malformed || error?.code == .foreign, "\(length) bytes")
        }
        let cut = try #require(failure(whole.prefix(end - 20)))
        #expect(cut.code == .malformed && cut.line ?? 0 > 10 && cut.column != nil)
        #expect(cut.description.hasPrefix("Model.xcdatamodel/contents:"))
    }

    @Test func `entities that expand without end are refused before they do`() throws {
        var bomb = "<?xml version=\"1.0\"?>\n<!DOCTYPE model [\n<!ENTITY e0 \"xxxxxxxxxxxxxxxxxxxx\">\n"
        for level in 1...20 {
            bomb += "<!ENTITY e\(level) \"\(String(repeating: "&e\(level - 1);", count: 10))\">\n"
        }
        bomb += "]>\n<model><entity name=\"&e20;\"/></model>"
        let error = try #require(failure(bomb))
        #expect(error.code == .tooLarge && error.line == 3 && error.column == 1)
        #expect(
            failure("<!DOCTYPE m [<!ENTITY e SYSTEM \"file:///etc/passwd\">]><model>&e;</model>")?.code == .tooLarge)
    }

    @Test func `a document outside the file is not loaded`() throws {
        #expect(failure("<!DOCTYPE model SYSTEM \"file:///nowhere\"><model/>") == nil)
        #expect(failure("<model userDefinedModelVersionIdentifier=\"&unknown;\"/>")?.code == .malformed)
    }

    @Test func `foreign, newer and too large files are refused`() {
        #expect(failure("")?.code == .malformed)
        #expect(failure("{\"entities\": []}")?.code == .foreign)
        #expect(failure("<plist version=\"1.0\"><dict/></plist>")?.code == .foreign)
        #expect(failure(Data([0xFF, 0xFE, 0x3C, 0x00]))?.code == .foreign)
        #expect(failure("<model documentVersion=\"2.0\"/>")?.code == .newer)
        #expect(failure("<model documentVersion=\"1.1\"/>") == nil)
        #expect(failure(Data(count: ModelVersion.byteCountMax + 1))?.code == .tooLarge)
        #expect(failure(String(repeating: "<model>", count: 100))?.code == .tooLarge)
        let wide = String(repeating: "<entity/>", count: 200_001)
        #expect(failure("<model>\(wide)</model>")?.code == .tooLarge)
    }

    @Test(arguments: [
        "<model><entity></model>", "<model a='1' a='2'/>", "<model a='<'/>", "<model/><model/>", "<model>\u{1}</model>",
    ]) func `text that breaks the rules of XML is refused with its place`(text: String) throws {
        let error = try #require(failure(text))
        #expect(error.code == .malformed && error.line == 1 && error.column != nil)
    }
}
