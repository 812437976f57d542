#if Import
internal import Faultline
internal import FaultlineImport
internal import FaultlineTestSupport
internal import Foundation
internal import Glibc
internal import Testing

/// Imports that are killed, and the memory of large ones.
@Suite struct InterruptedImportTests {
    private static let count = 30_000

    private static let schema = Schema(
        Schema.Entity(
            "Line", properties: Schema.Attribute(name: "text", options: [.unique], valueType: String?.self),
            Schema.Attribute(name: "size", valueType: Int16?.self),
            Schema.Relationship(name: "page", destination: "Page", isToOne: true, inverseName: "lines"),
            Schema.Relationship(name: "words", destination: "Word", isToOne: false, inverseName: "lines")),
        Schema.Entity(
            "Page",
            properties: Schema.Relationship(name: "lines", destination: "Line", isToOne: false, inverseName: "page")),
        Schema.Entity(
            "Word",
            properties: Schema.Relationship(name: "lines", destination: "Line", isToOne: false, inverseName: "words")))

    private static func source() throws -> SourceStore {
        let source = try SourceStore([("Line", 0), ("Page", 0), ("Word", 0)])
        source.run(
            """
            CREATE TABLE ZLINE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZSIZE INTEGER, ZPAGE INTEGER,
                Z_FOK_PAGE INTEGER, ZTEXT VARCHAR);
            CREATE TABLE ZPAGE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER);
            CREATE TABLE ZWORD (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER);
            CREATE TABLE Z_1WORDS (Z_1LINES INTEGER, Z_3WORDS INTEGER, PRIMARY KEY (Z_1LINES, Z_3WORDS));
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
            INSERT INTO ZLINE SELECT i * 2, 1, 1, i * 2, i % 100 + 1, -i, 'line ' || i FROM n;
            INSERT INTO ZPAGE SELECT Z_PK / 2, 2, 1 FROM ZLINE WHERE Z_PK <= 200;
            INSERT INTO ZWORD SELECT Z_PK, 3, 1 FROM ZPAGE;
            INSERT INTO Z_1WORDS SELECT Z_PK, Z_PK % 100 + 1 FROM ZLINE;
            """)
        source.close()
        return source
    }

    /// Kills the process once a part of the work has reached a number.
    @Test(arguments: [
        "objects 1", "objects 9000", "objects 20000", "objects 30001", "links 1", "links 9000", "comparing 1",
        "comparing 40000",
    ])
    func aKilledImportGoesOn(moment: String) async throws {
        let source = try Self.source()
        let before = try source.files
        let whole = try StoreImport(
            from: source.url, to: source.destination.appendingPathExtension("whole"), schema: Self.schema
        ).run()
        // Sizes from 32,768 on are out of range, from the second half of the first table.
        #expect(whole.findings.map(\.count) == [13_617], "\(whole.findings)")
        let line = "\(moment) \(source.url.path) \(source.destination.path)"
        await #expect(processExitsWith: .signal(SIGKILL)) { [line = line as String] in
            let words = line.split(separator: " ").map(String.init)
            var work = StoreImport(from: URL(filePath: words[2]), to: URL(filePath: words[3]), schema: Self.schema)
            work.progress = { progress in
                if progress.phase.rawValue == words[0], progress.count >= Int(words[1]) ?? 0 { kill(getpid(), SIGKILL) }
            }
            _ = try work.run()
        }
        #expect(!FileManager.default.fileExists(atPath: source.destination.path))
        let report = try StoreImport(from: source.url, to: source.destination, schema: Self.schema).run()
        #expect(report.isResumed && report.entities == whole.entities && report.findings == whole.findings)
        #expect(report.entities.allSatisfy { $0.columns.allSatisfy(\.isEqual) })
        #expect(report.entities.map(\.destinationCount) == [Self.count, 100, 100])
        let lines = try String(contentsOfFile: try #require(report.findingsPath), encoding: .utf8)
        #expect(lines.utf8.count { $0 == UInt8(ascii: "\n") } == 13_617)
        #expect(try source.files == before)
        let left = try FileManager.default.contentsOfDirectory(
            atPath: source.destination.deletingLastPathComponent().path)
        #expect(!left.contains { $0.hasSuffix(".import") })
    }

    /// The names that a kill leaves before the first state is whole, or while a finished import removes its folder.
    @Test(arguments: [
        ["state.json.new"], ["state.json"], [".state"], ["store/data", "findings.jsonl"], ["findings.jsonl"],
    ])
    func aFolderThatAKillLeftWithoutStateBeginsAgain(names: [String]) throws {
        let source = try SourceFileTests.source()
        source.close()
        let folder = URL(filePath: source.destination.path + ".import")
        for name in names {
            let file = folder.appending(path: name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data("{\"vers".utf8).write(to: file)
        }
        let report = try StoreImport(
            from: source.url, to: source.destination, schema: SourceFileTests.schema
        ).run()
        #expect(report.isComplete && !report.isResumed && report.objectCount == 3)
        #expect(!FileManager.default.fileExists(atPath: folder.path))
    }

    @Test(arguments: ["{\"version\":2,\"other\":1}", "{\"version\":0}"])
    func theFolderOfAnotherReleaseIsKept(state: String) throws {
        let source = try SourceFileTests.source()
        source.close()
        let folder = URL(filePath: source.destination.path + ".import")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(state.utf8).write(to: folder.appending(path: "state.json"))
        do {
            _ = try StoreImport(from: source.url, to: source.destination, schema: SourceFileTests.schema).run()
            Issue.record("The folder was taken.")
        } catch let error as ImportError { #expect(error.code == .occupied) }
        #expect(try Data(contentsOf: folder.appending(path: "state.json")) == Data(state.utf8))
    }

    @Test func aChangedSourceBeginsAgain() async throws {
        let source = try Self.source()
        let line = "\(source.url.path) \(source.destination.path)"
        await #expect(processExitsWith: .signal(SIGKILL)) { [line = line as String] in
            let words = line.split(separator: " ").map(String.init)
            var work = StoreImport(from: URL(filePath: words[0]), to: URL(filePath: words[1]), schema: Self.schema)
            work.progress = { if $0.count >= 20_000 { kill(getpid(), SIGKILL) } }
            _ = try work.run()
        }
        var bytes = try Data(contentsOf: source.url)
        let place = try #require(bytes.range(of: Data("line 1".utf8))).lowerBound
        bytes[place] = UInt8(ascii: "L")
        try bytes.write(to: source.url)
        let report = try StoreImport(from: source.url, to: source.destination, schema: Self.schema).run()
        #expect(!report.isResumed && report.objectCount == Self.count + 200)
        #expect(report.entities.allSatisfy { $0.columns.allSatisfy(\.isEqual) })
    }

    @Test(.enabled(if: PeakMemory.isExact)) func memoryIsBoundedForLargeValuesAndManyObjects() async throws {
        let source = try SourceFileTests.source(count: 200_000)
        let large = Data(repeating: 0, count: 96 << 20)
        source.run(
            """
            UPDATE ZPHOTO SET ZPIXELS = \(SourceStore.hex(try source.addExternal(large))) WHERE Z_PK = 1;
            UPDATE ZPHOTO SET ZPIXELS = CAST(x'01' || randomblob(96000000) AS BLOB) WHERE Z_PK = 2;
            UPDATE ZPHOTO SET ZPIXELS = CAST(x'01' || randomblob(20000) AS BLOB) WHERE Z_PK BETWEEN 3 AND 3000;
            """)
        source.close()
        let line = "\(source.url.path) \(source.destination.path)"
        await #expect(processExitsWith: .success) { [line = line as String] in
            let words = line.split(separator: " ").map(String.init)
            let work = StoreImport(
                from: URL(filePath: words[0]), to: URL(filePath: words[1]), schema: SourceFileTests.schema)
            let growth = try #require(try PeakMemory.growth { try work.run() })
            #expect(growth.result.isComplete && growth.result.objectCount == 200_000)
            #expect(growth.byteCount < 64 << 20, "\(growth.byteCount)")
            print("growth \(growth.byteCount >> 10) KiB")
        }
    }
}
#endif
