#if Import
internal import Faultline
internal import FaultlineImport
internal import Foundation
internal import Testing

/// References, collections and their order, links.
@Suite struct RelationshipImportTests {
    /// An album with photos in an order, tags on photos in an order, a cover for each album, and places without
    /// inverse.
    private static let schema = Schema(
        Schema.Entity(
            "Album", properties: SourceModel.name(), SourceModel.many("photos", "Photo", "album"),
            SourceModel.one("cover", "Photo", "coverOf"),
            SourceModel.many("places", "Place", nil)),
        Schema.Entity(
            "Photo", properties: SourceModel.name(), SourceModel.one("album", "Album", "photos"),
            SourceModel.one("coverOf", "Album", "cover"),
            SourceModel.many("tags", "Tag", "photos"), SourceModel.one("place", "Place", nil)),
        Schema.Entity("Place", properties: SourceModel.name()),
        Schema.Entity("Tag", properties: SourceModel.name(), SourceModel.many("photos", "Photo", "tags")))

    private static func source() throws -> SourceStore {
        let source = try SourceStore([("Album", 0), ("Photo", 0), ("Place", 0), ("Tag", 0)])
        let own = "Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR"
        source.run(
            """
            CREATE TABLE ZALBUM (\(own), ZCOVER INTEGER);
            CREATE TABLE ZPHOTO (\(own), ZALBUM INTEGER, Z_FOK_ALBUM INTEGER, ZCOVEROF INTEGER, ZPLACE INTEGER);
            CREATE TABLE ZPLACE (\(own), Z1PLACES INTEGER);
            CREATE TABLE ZTAG (\(own));
            CREATE TABLE Z_2TAGS (Z_2PHOTOS INTEGER, Z_4TAGS INTEGER, Z_FOK_4TAGS INTEGER,
                PRIMARY KEY (Z_2PHOTOS, Z_4TAGS));
            INSERT INTO ZALBUM VALUES (1, 1, 1, 'summer', 12), (3, 1, 1, 'winter', NULL);
            INSERT INTO ZPHOTO VALUES (10, 2, 1, 'a', 1, 3072, NULL, 5), (11, 2, 1, 'b', 1, -1024, NULL, NULL),
                (12, 2, 1, 'c', 1, 1024, 1, 5), (13, 2, 1, 'd', 3, 0, NULL, NULL), (14, 2, 1, 'e', NULL, NULL, NULL, 6);
            INSERT INTO ZPLACE VALUES (5, 3, 1, 'beach', 1), (6, 3, 1, 'hill', 1), (7, 3, 1, 'sea', NULL);
            INSERT INTO ZTAG VALUES (1, 4, 1, 'blue'), (2, 4, 1, 'old'), (3, 4, 1, 'wide');
            INSERT INTO Z_2TAGS VALUES (10, 1, 3072), (10, 2, 1024), (10, 3, 2048), (12, 2, 1024);
            """)
        return source
    }

    private func names(_ object: ManagedObject?, _ key: String) -> [String] {
        (object?.value(forKey: key) as? [ManagedObject])?.compactMap { $0.value(forKey: "name") as? String } ?? []
    }

    private func name(_ object: ManagedObject?, _ key: String) -> String? {
        (object?.value(forKey: key) as? ManagedObject)?.value(forKey: "name") as? String
    }

    @Test func relationshipsOfAllKindsKeepTheirOrder() throws {
        let source = try Self.source()
        source.close()
        let report = try StoreImport(from: source.url, to: source.destination, schema: Self.schema).run()
        #expect(report.isComplete, "\(report)")
        let context = try ModelContext(ModelContainer(opening: ModelConfiguration(url: source.destination)))
        func all(_ entity: String) throws -> [ManagedObject] { try context.fetch(FetchRequest(entityName: entity)) }
        let (albums, photos, tags) = (try all("Album"), try all("Photo"), try all("Tag"))
        #expect(names(albums[0], "photos") == ["b", "c", "a"])
        #expect(names(albums[1], "photos") == ["d"])
        #expect(name(albums[0], "cover") == "c" && name(photos[2], "coverOf") == "summer")
        #expect(name(photos[0], "album") == "summer" && name(photos[4], "album") == nil)
        #expect(names(albums[0], "places") == ["beach", "hill"] && names(albums[1], "places") == [])
        #expect(name(photos[0], "place") == "beach" && name(photos[4], "place") == "hill")
        #expect(names(photos[0], "tags") == ["old", "wide", "blue"] && names(photos[2], "tags") == ["old"])
        #expect(names(tags[1], "photos") == ["a", "c"])
        // A new member comes behind the imported ones.
        let added = try context.insertNewObject(forEntityName: "Photo")
        added.setValue("new", forKey: "name")
        added.setValue(albums[0], forKey: "album")
        try context.save()
        #expect(added.persistentModelID.primaryKey == 15)
        #expect(names(albums[0], "photos") == ["b", "c", "a", "new"])
    }

    @Test func referencesAndLinksToMissingObjectsAreListed() throws {
        let source = try Self.source()
        source.run(
            """
            UPDATE ZPHOTO SET ZALBUM = 99 WHERE Z_PK = 10;
            UPDATE ZPHOTO SET ZCOVEROF = 3 WHERE Z_PK = 13;
            UPDATE ZPHOTO SET ZPLACE = 'x' WHERE Z_PK = 14;
            INSERT INTO Z_2TAGS VALUES (10, 9, 0), (99, 1, 0);
            INSERT INTO ZPHOTO VALUES (-5, 2, 1, 'z', 1, 0, NULL, NULL), (15, 7, 1, 'y', 1, 0, NULL, NULL);
            UPDATE ZPLACE SET Z1PLACES = 77 WHERE Z_PK = 6;
            """)
        source.close()
        let report = try StoreImport(from: source.url, to: source.destination, schema: Self.schema).run()
        #expect(!report.isComplete)
        let found = report.findings.map { "\($0.entity).\($0.property) \($0.reason.rawValue) \($0.objects)" }
        #expect(
            found == [
                ". unknownEntity [15]", "Album.places missingObject [6]", "Photo. invalidNumber [-5]",
                "Photo.album missingObject [10]", "Photo.coverOf oneSided [13]", "Photo.place wrongType [14]",
                "Photo.tags missingObject [5, 6]",
            ])
        #expect(report.entities.allSatisfy { $0.columns.allSatisfy(\.isEqual) })
        let lines = try String(contentsOfFile: try #require(report.findingsPath), encoding: .utf8)
            .split(separator: "\n")
        #expect(lines.count == 8)
    }

    @Test func equalUniqueValuesKeepAllObjects() throws {
        let source = try SourceStore([("Tag", 0)])
        source.run(
            """
            CREATE TABLE ZTAG (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZKEY INTEGER, ZNAME VARCHAR);
            INSERT INTO ZTAG VALUES (1, 1, 1, 1, 'é'), (2, 1, 1, 2, 'x'), (3, 1, 1, 3, 'e\u{301}');
            """)
        source.close()
        let schema = Schema(
            Schema.Entity(
                "Tag", properties: Schema.Attribute(name: "key", options: [.unique], valueType: Int?.self),
                Schema.Attribute(name: "name", options: [.unique], valueType: String?.self)))
        let report = try StoreImport(from: source.url, to: source.destination, schema: schema).run()
        #expect(report.findings.map(\.reason) == [.duplicateValues])
        #expect(report.findings[0].property == "name" && report.findings[0].objects == [1, 3])
        #expect(report.objectCount == 3 && report.entities[0].columns.allSatisfy(\.isEqual))
        let container = try ModelContainer(opening: ModelConfiguration(url: source.destination))
        #expect(container.schema.entities[0].allUniquenessConstraints == [["key"]])
    }
}
#endif
