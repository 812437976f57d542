#if Import
internal import Faultline
internal import FaultlineDisk
internal import FaultlineImport
internal import FaultlineTestSupport
internal import Foundation
internal import Glibc
internal import Synchronization
internal import Testing

/// The files of a source: the write-ahead log, large values, files that are no store.
@Suite struct SourceFileTests {
    static let schema = Schema(
        Schema.Entity(
            "Photo", properties: Schema.Attribute(name: "name", valueType: String?.self),
            Schema.Attribute(name: "pixels", options: [.externalStorage], valueType: Data?.self)))

    static func source(keepsLog: Bool = false, count: Int = 3) throws -> SourceStore {
        let source = try SourceStore([("Photo", 0)], keepsLog: keepsLog)
        source.run(
            """
            CREATE TABLE ZPHOTO (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR, ZPIXELS BLOB);
            CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, ZCOLUMNS BLOB);
            INSERT INTO Z_PRIMARYKEY VALUES (16001, 'CHANGE', 0, 1);
            INSERT INTO ACHANGE VALUES (1, 16001, NULL);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
            INSERT INTO ZPHOTO SELECT i, 1, 1, 'photo ' || i, NULL FROM n;
            """)
        return source
    }

    private func error(_ source: URL, _ destination: URL, _ schema: Schema = schema) throws -> ImportError {
        do {
            _ = try StoreImport(from: source, to: destination, schema: schema).run()
        } catch let error as ImportError {
            #expect(!FileManager.default.fileExists(atPath: destination.path))
            return error
        }
        throw CancellationError()
    }

    @Test(arguments: [false, true]) func nothingOfTheSourceChanges(keepsLog: Bool) throws {
        let source = try Self.source(keepsLog: keepsLog)
        let large = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        source.run(
            """
            UPDATE ZPHOTO SET ZPIXELS = \(SourceStore.hex(try source.addExternal(large))) WHERE Z_PK = 1;
            UPDATE ZPHOTO SET ZPIXELS = \(SourceStore.hex([1] + large)) WHERE Z_PK = 2;
            """)
        if keepsLog { try source.abandon() } else { source.close() }
        let before = try source.files
        #expect(
            before.keys.contains("photos.sqlite-wal") == keepsLog && before.keys.count { $0.hasSuffix("-shm") } == 0)
        for name in before.keys { chmod(source.folder.appending(path: name).path, name.hasSuffix("/") ? 0o500 : 0o400) }
        defer { for name in before.keys { chmod(source.folder.appending(path: name).path, 0o700) } }
        let report = try StoreImport(from: source.url, to: source.destination, schema: Self.schema).run()
        #expect(report.isComplete && report.objectCount == 3, "\(report)")
        #expect(report.skippedEntities == ["CHANGE"])
        #expect(try source.files == before)
        let context = try ModelContext(ModelContainer(opening: ModelConfiguration(url: source.destination)))
        let photos = try context.fetch(FetchRequest(entityName: "Photo"))
        #expect(photos[0].value(forKey: "pixels") as? Data == large)
        #expect(photos[1].value(forKey: "pixels") as? Data == large)
        #expect(photos[2].value(forKey: "pixels") == nil)
        let left = try FileManager.default.contentsOfDirectory(
            atPath: source.destination.deletingLastPathComponent().path)
        #expect(left.sorted() == ["old", "photos.store"])
    }

    @Test func aStoreInWALModeWithoutLogIsRead() throws {
        let source = try Self.source(keepsLog: true)
        source.close()
        #expect(try Set(source.files.keys) == ["photos.sqlite"])
        let report = try StoreImport(from: source.url, to: source.destination, schema: Self.schema).run()
        #expect(report.isComplete && report.objectCount == 3)
        #expect(try Set(source.files.keys) == ["photos.sqlite"])
    }

    @Test func largeValuesThatAreNotThereAreListed() throws {
        let source = try Self.source(count: 5)
        let name = try source.addExternal(Data([1, 2, 3]))
        source.run(
            """
            UPDATE ZPHOTO SET ZPIXELS = \(SourceStore.hex([2] + Array(UUID().uuidString.utf8) + [0])) WHERE Z_PK = 1;
            UPDATE ZPHOTO SET ZPIXELS = \(SourceStore.hex([2] + Array("../../photos.sqlite".utf8))) WHERE Z_PK = 2;
            UPDATE ZPHOTO SET ZPIXELS = x'0902' WHERE Z_PK = 3;
            UPDATE ZPHOTO SET ZPIXELS = x'' WHERE Z_PK = 4;
            UPDATE ZPHOTO SET ZPIXELS = \(SourceStore.hex(name)) WHERE Z_PK = 5;
            """)
        source.close()
        let report = try StoreImport(from: source.url, to: source.destination, schema: Self.schema).run()
        let found = report.findings.map { "\($0.reason.rawValue) \($0.objects)" }
        #expect(found == ["missingFile [1]", "unknownMarker [2, 3, 4]"])
        #expect(report.entities[0].columns[1].destination.count == 1 && report.entities[0].columns[1].isEqual)
    }

    @Test(arguments: [false, true]) func aSymbolicLinkLeadsToAllFiles(keepsLog: Bool) throws {
        let source = try Self.source(keepsLog: keepsLog)
        let large = Data(repeating: 7, count: 200_000)
        source.run("UPDATE ZPHOTO SET ZPIXELS = \(SourceStore.hex(try source.addExternal(large))) WHERE Z_PK = 1")
        if keepsLog { try source.abandon() } else { source.close() }
        let link = source.destination.deletingLastPathComponent().appending(path: "link.sqlite")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: source.url)
        let report = try StoreImport(from: link, to: source.destination, schema: Self.schema).run()
        #expect(report.isComplete && report.objectCount == 3, "\(report)")
        #expect(report.entities[0].columns[1].destination.count == 1)
    }

    @Test func aFolderOfLargeValuesThatCannotBeReadIsNamed() throws {
        let source = try Self.source()
        source.run("UPDATE ZPHOTO SET ZPIXELS = \(SourceStore.hex(try source.addExternal(Data([1])))) WHERE Z_PK = 1")
        source.close()
        // A link to itself: an error that is not the absence of the file.
        let folder = source.folder.appending(path: ".photos_SUPPORT/_EXTERNAL_DATA")
        try FileManager.default.removeItem(at: folder)
        #expect(symlink(folder.path, folder.path) == 0)
        let error = try error(source.url, source.destination)
        #expect(error.code == .unreadable && error.message.contains("_EXTERNAL_DATA"), "\(error)")
    }

    @Test func filesThatAreNoStoreAreRefused() throws {
        let source = try Self.source(count: 2_000)
        source.close()
        let bytes = try Data(contentsOf: source.url)
        let file = source.folder.appending(path: "other.sqlite")
        func refusal(_ change: (inout Data) -> Void) throws -> ImportError.Code {
            var copy = bytes
            change(&copy)
            try copy.write(to: file)
            return try error(file, source.destination).code
        }
        #expect(try error(source.folder.appending(path: "none"), source.destination).code == .unreadable)
        #expect(try error(source.folder, source.destination).code == .unreadable)
        #expect(try refusal { $0 = Data() } == .notAStore)
        #expect(try refusal { $0 = Data(repeating: 7, count: 9_000) } == .notAStore)
        #expect(try refusal { $0 = $0.prefix(60) } == .damaged)
        #expect(try refusal { $0 = $0.prefix($0.count / 2) } == .damaged)
        #expect(try refusal { $0[19] = 9 } == .newer)
        #expect(try refusal { for index in 4_096..<$0.count { $0[index] = 0xFF } } == .damaged)
        let foreign = try SourceStore([])
        foreign.run("DROP TABLE Z_METADATA")
        foreign.close()
        #expect(try error(foreign.url, source.destination).code == .notAStore)
    }

    @Test func aModelThatDoesNotFitIsNamedWithItsHash() throws {
        let source = try Self.source()
        source.close()
        func mismatch(_ entities: Schema.Entity...) throws -> ImportError {
            try error(source.url, source.destination, Schema(entities: entities))
        }
        func photo(_ attributes: Schema.Attribute...) -> Schema.Entity {
            Schema.Entity("Photo", subentities: [], properties: attributes)
        }
        for error in [
            try mismatch(photo(), Schema.Entity("Album")), try mismatch(Schema.Entity("Picture")),
            try mismatch(photo(Schema.Attribute(name: "size", valueType: Int.self))),
            try mismatch(
                Schema.Entity(
                    "Album", subentities: photo(), properties: Schema.Attribute(name: "x", valueType: Int.self))),
        ] {
            #expect(error.code == .modelMismatch && error.entity != nil)
            #expect(error.message.contains("hash"), "\(error)")
        }
        #expect(try mismatch(Schema.Entity("Picture")).message.contains("Picture"))
        let size = try mismatch(photo(Schema.Attribute(name: "size", valueType: Int.self)))
        #expect(size.message.contains("ZSIZE") && size.message.contains(String(repeating: "ab", count: 32)))
    }

    @Test func anUnfinishedTransactionIsNamed() throws {
        let source = try Self.source(count: 5_000)
        source.run("PRAGMA cache_size = 1; BEGIN; UPDATE ZPHOTO SET ZNAME = ZNAME || ZNAME")
        try source.abandon()
        let before = try source.files
        #expect(before["photos.sqlite-journal"]?.isEmpty == false)
        let error = try error(source.url, source.destination)
        #expect(error.code == .unreadable && error.message.contains("-journal"), "\(error)")
        #expect(try source.files == before)
    }

    @Test func aSourceThatIsWrittenMeanwhileIsRefused() throws {
        let source = try Self.source()
        source.close()
        var work = StoreImport(from: source.url, to: source.destination, schema: Self.schema)
        let url = source.url
        work.progress = { _ in
            try? FileManager.default.setAttributes([.modificationDate: Date.distantPast], ofItemAtPath: url.path)
        }
        do {
            _ = try work.run()
            Issue.record("The store was made.")
        } catch let error as ImportError { #expect(error.code == .changed, "\(error)") }
        #expect(!FileManager.default.fileExists(atPath: source.destination.path))
        // The next call begins again, and does not go on with rows of the earlier state.
        let report = try StoreImport(from: source.url, to: source.destination, schema: Self.schema).run()
        #expect(report.isComplete && !report.isResumed)
    }

    @Test func aSecondImportIntoOnePlaceIsRefused() throws {
        let source = try Self.source()
        source.close()
        let (url, destination) = (source.url, source.destination)
        let refusals = Refusals()
        var work = StoreImport(from: url, to: destination, schema: Self.schema)
        work.progress = { _ in
            do {
                _ = try StoreImport(from: url, to: destination, schema: SourceFileTests.schema).run()
            } catch let error as ImportError { refusals.add(error.code) } catch {}
        }
        #expect(try work.run().isComplete)
        #expect(!refusals.codes.isEmpty && refusals.codes.allSatisfy { $0 == .occupied })
    }

    /// Errors that a callback met.
    private final class Refusals: Sendable {
        private let state = Guarded<[ImportError.Code]>([])

        func add(_ code: ImportError.Code) { state.withLock { $0.append(code) } }
        var codes: [ImportError.Code] { state.withLock { $0 } }
    }

    @Test func anExistingStoreIsNeverReplaced() throws {
        let source = try Self.source()
        source.close()
        _ = try StoreImport(from: source.url, to: source.destination, schema: Self.schema).run()
        do {
            _ = try StoreImport(from: source.url, to: source.destination, schema: Self.schema).run()
            Issue.record("The store was replaced.")
        } catch let error as ImportError { #expect(error.code == .occupied) }
        // A folder of another program has the name of the work folder.
        let other = source.destination.appendingPathExtension("other")
        let folder = URL(filePath: other.path + ".import")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data("mine".utf8).write(to: folder.appending(path: "file"))
        #expect(try error(source.url, other).code == .occupied)
        #expect(try Data(contentsOf: folder.appending(path: "file")) == Data("mine".utf8))
    }
}
#endif
