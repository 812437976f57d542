import FaultlineCoreData
import FaultlineTestSupport
import Testing

/// Packages with several versions, and files that are none.
struct ModelPackageTests {
    private let folder = TemporaryDirectory()

    private var package: URL { URL(filePath: folder.path).appendingPathComponent("Library.xcdatamodeld") }

    @Test func `a package has its versions in order, and marks the current one`() throws {
        let added = ModelText.attribute("pages", "Integer 16", "defaultValueString=\"0\"")
        try ModelText.write(
            [
                "Library": ModelText.library(), "Library 10": ModelText.library(added, identifier: "10"),
                "Library 2": ModelText.library(added, identifier: "2"),
            ], current: "Library 2", to: package)
        let read = try ModelPackage(contentsOf: package)
        #expect(read.versions.map(\.name) == ["Library", "Library 2", "Library 10"])
        #expect(read.current.name == "Library 2" && read.findings == [])
        #expect(read.version(named: "Library 10")?.identifiers == ["10"])
        let changes = read.current.schema.difference(from: read.versions[0].schema).changes
        #expect(changes.map(\.summary) == ["Book.pages was added"])

        let model = try NSManagedObjectModel(contentsOf: package)
        #expect(model == read.current.schema && model.version == Schema.Version(2, 0, 0))
        let single = package.appendingPathComponent("Library.xcdatamodel")
        #expect(try Schema(contentsOf: single) == read.versions[0].schema)
        #expect(try Schema(contentsOf: single.appendingPathComponent("contents")) == read.versions[0].schema)
    }

    @Test func `without a mark the last version counts, and a wrong one is reported`() throws {
        try ModelText.write(["A": ModelText.library(), "B": ModelText.library()], current: nil, to: package)
        for current in [nil, "C"] {
            try ModelText.write([:], current: current, to: package)
            let read = try ModelPackage(contentsOf: package)
            #expect(read.current.name == "B" && read.findings.map(\.kind) == [.invalid])
        }
        try Data("<plist version=\"1.0\"><dict/></plist>".utf8)
            .write(to: package.appendingPathComponent(".xccurrentversion"))
        #expect(try ModelPackage(contentsOf: package).current.name == "B")
    }

    private func code(_ body: () throws -> Void) -> ModelFileError.Code? {
        do {
            try body()
            return nil
        } catch { return (error as? ModelFileError)?.code }
    }

    @Test func `a package without its parts is refused`() throws {
        #expect(code { _ = try ModelPackage(contentsOf: package) } == .missing)
        try FileManager.default.createDirectory(at: package, withIntermediateDirectories: true)
        #expect(code { _ = try ModelPackage(contentsOf: package) } == .missing)
        let version = package.appendingPathComponent("Library.xcdatamodel")
        try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
        #expect(code { _ = try ModelPackage(contentsOf: package) } == .missing)
        try Data().write(to: version.appendingPathComponent("elements"))
        #expect(code { _ = try ModelPackage(contentsOf: package) } == .older)
        try Data("{}".utf8).write(to: package.appendingPathComponent("notes.json"))
        #expect(code { _ = try ModelPackage(contentsOf: package.appendingPathComponent("notes.json")) } == .foreign)
        try ModelText.write(["Library": ModelText.library()], current: nil, to: package)
        try Data("<note/>".utf8).write(to: package.appendingPathComponent(".xccurrentversion"))
        #expect(code { _ = try ModelPackage(contentsOf: package) } == .foreign)
    }
}
