#if Import
internal import Faultline
internal import FaultlineCoreData
internal import FaultlineImport
internal import Foundation
internal import Glibc
internal import Testing

/// A store of `PublicationModel` that is imported, and opened with the classes that are written for the model.
@Suite struct HierarchyImportTests {
    private static let count = 30_000

    /// A store as Core Data makes it: entities have their numbers by name.
    private static func source() throws -> SourceStore {
        let source = try SourceStore([
            ("Label", 0), ("Magazine", 6), ("Monograph", 4), ("Publication", 0), ("Review", 0), ("Serial", 4),
            ("Shelf", 0),
        ])
        let own = "Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER"
        source.run(
            """
            CREATE TABLE ZLABEL (\(own), ZNAME VARCHAR);
            CREATE TABLE ZPUBLICATION (\(own), ZTITLE VARCHAR, ZCODE INTEGER, ZADDED TIMESTAMP, ZSHELF INTEGER,
                Z_FOK_SHELF INTEGER, ZFREQUENCY INTEGER, ZVOLUME INTEGER, ZFEATUREDON INTEGER, ZEDITOR VARCHAR,
                ZCOVER BLOB, ZISBN VARCHAR, ZPAGES INTEGER, ZVOLUME1 VARCHAR, ZSEQUEL INTEGER, Z4_SEQUEL INTEGER);
            CREATE TABLE ZREVIEW (\(own), Z3REVIEWS INTEGER, Z6REVIEWS INTEGER, ZTEXT VARCHAR);
            CREATE TABLE ZSHELF (\(own), ZFEATURE INTEGER, Z6_FEATURE INTEGER, ZPLACE VARCHAR);
            CREATE TABLE Z_1MAGAZINES (Z_1TAGS INTEGER, Z_2MAGAZINES INTEGER, Z_FOK_1TAGS INTEGER,
                PRIMARY KEY (Z_1TAGS, Z_2MAGAZINES));
            """)
        return source
    }

    private static func withRows() throws -> SourceStore {
        let source = try source()
        source.run(
            """
            INSERT INTO ZLABEL VALUES (1, 1, 1, 'blue'), (2, 1, 1, 'old');
            INSERT INTO ZSHELF VALUES (1, 7, 1, 3, 2, 'hall'), (2, 7, 1, NULL, NULL, 'attic');
            INSERT INTO ZPUBLICATION (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZCODE, ZADDED, ZSHELF, Z_FOK_SHELF, ZFREQUENCY, ZVOLUME)
                VALUES (1, 6, 1, 'Annals', 10, 5, 1, 2048, 1, 4);
            INSERT INTO ZPUBLICATION (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZCODE, ZADDED, ZSHELF, Z_FOK_SHELF, ZISBN, ZPAGES,
                ZVOLUME1, ZSEQUEL, Z4_SEQUEL) VALUES (2, 3, 1, 'Sea', 11, 6, 1, 1024, '978', 300, 'II', 3, 2);
            INSERT INTO ZPUBLICATION (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZCODE, ZADDED, ZSHELF, Z_FOK_SHELF, ZFREQUENCY,
                ZFEATUREDON, ZEDITOR, ZCOVER) VALUES (3, 2, 1, 'Sky', 12, 7, 1, 3072, 12, 1, 'Ada', x'01AABB');
            INSERT INTO ZREVIEW VALUES (1, 5, 1, 2, 3, 'good'), (2, 5, 1, NULL, 3, 'long');
            INSERT INTO Z_1MAGAZINES VALUES (1, 3, 2048), (2, 3, 1024);
            """)
        source.close()
        return source
    }

    @Test func theStoreOpensWithTheWrittenClasses() throws {
        let source = try Self.withRows()
        let version = try PublicationModel.version()
        let report = try StoreImport(from: source.url, to: source.destination, schema: version.schema).run()
        #expect(report.isComplete && report.notes.isEmpty, "\(report)")
        #expect(
            report.entities.map { "\($0.name) \($0.sourceCount) \($0.destinationCount)" } == [
                "Label 2 2", "Magazine 1 1", "Monograph 1 1", "Publication 0 0", "Review 2 2", "Serial 1 1",
                "Shelf 2 2",
            ])
        let magazine = report.entities[1].columns
        #expect(
            magazine.map(\.name) == [
                "title", "code", "added", "shelf", "frequency", "volume", "featuredOn", "editor", "cover", "draft",
            ])
        #expect(magazine.map(\.destination.count) == [1, 1, 1, 1, 1, 0, 1, 1, 1, 0])
        let container = try ModelContainer(
            for: Schema(WrittenHierarchyTests.classes),
            configurations: ModelConfiguration(url: source.destination))
        #expect(container.migrationReport.versions.isEmpty)
        let context = ModelContext(container)
        let all = try context.fetch(FetchDescriptor<Publication>(sortBy: [SortDescriptor(\.code)]))
        #expect(all.map { "\(type(of: $0)) \($0.title)" } == ["Serial Annals", "Monograph Sea", "Magazine Sky"])
        #expect(try context.fetch(FetchDescriptor<Serial>()).map(\.volume) == [4, nil])
        let sky = try #require(try context.fetch(FetchDescriptor<Magazine>()).first)
        #expect(sky.persistentModelID.primaryKey == 3 && sky.editor == "Ada" && sky.frequency == 12)
        #expect(sky.cover == Data([0xAA, 0xBB]) && sky.tags.map(\.name) == ["old", "blue"])
        let sea = try #require(try context.fetch(FetchDescriptor<Monograph>()).first)
        #expect(sea.pages == 300 && sea.volume == "II" && sea.sequel === sky)
        #expect(sea.reviews.map(\.text) == ["good"] && sky.reviews.map(\.text) == ["good", "long"])
        let hall = try #require(sky.shelf)
        #expect(hall.publications.map(\.title) == ["Sea", "Annals", "Sky"])
        #expect(hall.publications[2] === sky && hall.feature === sky && sky.featuredOn === hall)
        // A constraint of the root class binds objects of all classes.
        context.uniquenessConflicts = .error
        let copy = Monograph(title: "Copy")
        copy.code = 12
        context.insert(copy)
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        copy.code = 13
        copy.shelf = hall
        try context.save()
        #expect(hall.publications.map(\.title) == ["Sea", "Annals", "Sky", "Copy"])
        #expect(copy.persistentModelID.primaryKey == 4)
    }

    /// The classes themselves are a model, too.
    @Test func classesAreTheModelOfAnImport() throws {
        let source = try Self.withRows()
        let schema = Schema(WrittenHierarchyTests.classes)
        let report = try StoreImport(from: source.url, to: source.destination, schema: schema).run()
        #expect(report.isComplete && report.objectCount == 9, "\(report)")
    }

    /// Kills the process once a part of the work has reached a number.
    @Test(arguments: ["objects 9000", "objects 20000", "links 1", "links 12000", "links 25000", "comparing 20000"])
    func aKilledImportOfAHierarchyGoesOn(moment: String) async throws {
        let source = try Self.source()
        source.run(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(Self.count))
            INSERT INTO ZPUBLICATION (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZCODE, ZADDED, ZFREQUENCY, ZEDITOR, ZPAGES)
                SELECT i, CASE i % 3 WHEN 0 THEN 2 WHEN 1 THEN 3 ELSE 6 END, 1, 'title ' || i, i, i,
                CASE WHEN i % 3 <> 1 THEN i END, CASE i % 3 WHEN 0 THEN 'Ada' END, CASE i % 3 WHEN 1 THEN i % 900 END
                FROM n;
            INSERT INTO ZREVIEW SELECT Z_PK, 5, 1, CASE WHEN Z_ENT = 3 THEN Z_PK END,
                CASE WHEN Z_ENT <> 3 THEN Z_PK END, 'text' FROM ZPUBLICATION;
            """)
        source.close()
        let schema = try PublicationModel.version().schema
        let whole = try StoreImport(
            from: source.url, to: source.destination.appendingPathExtension("whole"), schema: schema
        ).run()
        #expect(whole.isComplete, "\(whole.findings)")
        let line = "\(moment) \(source.url.path) \(source.destination.path)"
        await #expect(processExitsWith: .signal(SIGKILL)) { [line = line as String] in
            let words = line.split(separator: " ").map(String.init)
            var work = StoreImport(
                from: URL(filePath: words[2]), to: URL(filePath: words[3]),
                schema: try PublicationModel.version().schema)
            work.progress = { progress in
                if progress.phase.rawValue == words[0], progress.count >= Int(words[1]) ?? 0 { kill(getpid(), SIGKILL) }
            }
            _ = try work.run()
        }
        let report = try StoreImport(from: source.url, to: source.destination, schema: schema).run()
        #expect(report.isResumed && report.isComplete && report.entities == whole.entities)
        #expect(report.entities[1].destinationCount == Self.count / 3 && report.objectCount == 2 * Self.count)
        let reviews = report.entities.flatMap { $0.columns.filter { $0.name == "reviews" }.map(\.destination.count) }
        #expect(reviews == [Self.count / 3, Self.count * 2 / 3])
    }
}
#endif
