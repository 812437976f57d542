#if Import
internal import Faultline
internal import FaultlineCoreData
internal import FaultlineImport
internal import Foundation
internal import Testing

/// The model of an import: a version of a package, or the one in the store.
@Suite struct ModelChoiceTests {
    private func contents(_ attributes: [String]) -> String {
        let lines = attributes.map { "<attribute name=\"\($0)\" optional=\"YES\" attributeType=\"String\"/>" }
        return """
            <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
                <entity name="Photo" syncable="YES">\(lines.joined())</entity>
            </model>
            """
    }

    private func package(beside source: SourceStore, _ versions: [(name: String, attributes: [String])]) throws -> URL {
        let package = source.folder.appending(path: "Photos.xcdatamodeld", directoryHint: .isDirectory)
        for version in versions {
            let folder = package.appending(path: version.name + ".xcdatamodel", directoryHint: .isDirectory)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data(contents(version.attributes).utf8).write(to: folder.appending(path: "contents"))
        }
        let current = ["_XCCurrentVersionName": (versions.last?.name ?? "") + ".xcdatamodel"]
        try PropertyListSerialization.data(fromPropertyList: current, format: .xml, options: 0)
            .write(to: package.appending(path: ".xccurrentversion"))
        return package
    }

    private func source(_ columns: String) throws -> SourceStore {
        let source = try SourceStore([("Photo", 0)])
        source.run(
            """
            CREATE TABLE ZPHOTO (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, \(columns));
            INSERT INTO ZPHOTO (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1);
            """)
        source.close()
        return source
    }

    @Test func theVersionThatFitsIsTaken() throws {
        let source = try source("ZNAME VARCHAR, ZPLACE VARCHAR")
        let versions = [
            ("Photos", ["name"]), ("Photos 2", ["name", "place"]), ("Photos 3", ["name", "place", "owner"]),
        ]
        let package = try ModelPackage(contentsOf: package(beside: source, versions))
        let report = try StoreImport(from: source.url, to: source.destination, package: package).run()
        #expect(report.isComplete && report.entities[0].columns.map(\.name) == ["name", "place"], "\(report)")
    }

    /// The current version has lost an attribute whose values are still in the store.
    @Test func theVersionWithMostOfTheColumnsIsTaken() throws {
        let source = try source("ZNAME VARCHAR, ZPLACE VARCHAR")
        let versions = [("Photos", ["name", "place"]), ("Photos 2", ["name"])]
        let package = try ModelPackage(contentsOf: package(beside: source, versions))
        let report = try StoreImport(from: source.url, to: source.destination, package: package).run()
        #expect(report.isComplete && report.entities[0].columns.map(\.name) == ["name", "place"], "\(report)")
    }

    @Test func theVersionWithTheTypesOfTheColumnsIsTaken() throws {
        let source = try source("ZNAME INTEGER")
        let folder = try package(beside: source, [("Photos", ["name"]), ("Photos 2", ["name"])])
        let contents = folder.appending(path: "Photos.xcdatamodel/contents")
        let text = try String(contentsOf: contents, encoding: .utf8)
        try Data(text.replacingOccurrences(of: "\"String\"", with: "\"Integer 64\"").utf8).write(to: contents)
        let report = try StoreImport(
            from: source.url, to: source.destination, package: ModelPackage(contentsOf: folder)
        ).run()
        #expect(report.isComplete, "\(report)")
        let container = try ModelContainer(opening: ModelConfiguration(url: source.destination))
        #expect(container.schema.entities[0].attributesByName["name"]?.kind == .int64)
    }

    @Test func aPackageWithoutAFittingVersionIsRefusedByItsCurrentOne() throws {
        let source = try source("ZTITLE VARCHAR")
        let package = try ModelPackage(
            contentsOf: package(beside: source, [("Photos", ["name"]), ("Photos 2", ["owner"])]))
        do {
            _ = try StoreImport(from: source.url, to: source.destination, package: package).run()
            Issue.record("A version was taken.")
        } catch let error as ImportError {
            #expect(error.code == .modelMismatch && error.message.contains("ZOWNER"), "\(error)")
        }
    }

    @Test(arguments: [nil, "x''", "x'00FF'", "x'4BCBCF07'", "zeroblob(20000000)"])
    func aStoreWithoutAModelAsksForOne(_ content: String?) throws {
        let source = try SourceStore([("Photo", 0)])
        if let content { source.run("INSERT INTO Z_MODELCACHE VALUES (\(content))") }
        source.run("CREATE TABLE ZPHOTO (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER)")
        source.close()
        do {
            _ = try StoreImport(from: source.url, to: source.destination).run()
            Issue.record("A model was found.")
        } catch let error as ImportError {
            #expect(error.code == .modelMismatch && error.message.contains("Give the model"), "\(error)")
        }
    }

    @Test func anEntityThatAMigrationRenamedIsFound() throws {
        let source = try SourceStore([("Image", 0)])
        let plist = try PropertyListSerialization.data(
            fromPropertyList: ["NSStoreModelVersionHashes": ["Photo": Data([1])]], format: .binary, options: 0)
        source.run(
            """
            UPDATE Z_METADATA SET Z_PLIST = \(SourceStore.hex(plist));
            CREATE TABLE ZIMAGE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR);
            INSERT INTO ZIMAGE VALUES (1, 1, 1, 'beach');
            """)
        source.close()
        let schema = Schema(
            Schema.Entity("Photo", properties: Schema.Attribute(name: "name", valueType: String?.self)))
        let report = try StoreImport(from: source.url, to: source.destination, schema: schema).run()
        #expect(report.isComplete && report.objectCount == 1)
    }
}
#endif
