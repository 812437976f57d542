#if Import
internal import Faultline
internal import FaultlineImport
internal import Foundation
internal import Testing

/// The file of findings: everything that the new store does not have is in it.
@Suite struct QuarantineTests {
    private static func text(_ name: String) -> Schema.Attribute {
        Schema.Attribute(name: name, valueType: String?.self)
    }

    private static let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }

    private typealias Line = [String: Any]

    private func lines(_ report: ImportReport) throws -> [Line] {
        let text = try String(contentsOfFile: try #require(report.findingsPath), encoding: .utf8)
        return try text.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? Line)
        }
    }

    private func base64(_ value: Any?) -> [UInt8]? {
        ((value as? Line)?["base64"] as? String).flatMap { Data(base64Encoded: $0) }.map(Array.init)
    }

    private func found(_ report: ImportReport) -> [String] {
        report.findings.map { "\($0.entity).\($0.property) \($0.reason.rawValue) \($0.objects)" }
    }

    /// Attributes, a reference, links, and a collection without inverse that the model has no longer.
    @Test func columnsAndTablesThatTheModelLacksAreListedWithTheirValues() throws {
        let source = try SourceStore([("Photo", 0), ("Tag", 0)])
        source.run(
            """
            CREATE TABLE ZPHOTO (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTAG INTEGER, Z2_TAG INTEGER,
                ZNAME VARCHAR, ZPLACE VARCHAR, ZOLD INTEGER, ZPIXELS BLOB, Z2PHOTOS INTEGER, Z_FOK_2PHOTOS INTEGER);
            CREATE TABLE ZTAG (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR);
            CREATE TABLE Z_1TAGS (Z_1PHOTOS INTEGER, Z_2TAGS INTEGER, PRIMARY KEY (Z_1PHOTOS, Z_2TAGS));
            CREATE TABLE ZGHOST (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR);
            CREATE TABLE Z_Photo_byPlace_rowid (rowid INTEGER PRIMARY KEY, nodeno INTEGER);
            INSERT INTO Z_Photo_byPlace_rowid VALUES (1, 1);
            INSERT INTO ZPHOTO VALUES (1, 1, 1, 1, 2, 'a', 'beach', NULL, NULL, NULL, NULL),
                (2, 1, 1, NULL, NULL, 'b', NULL, NULL, \(SourceStore.hex(Self.bytes)), 1, 1024);
            INSERT INTO ZTAG VALUES (1, 2, 1, 'blue');
            INSERT INTO ZGHOST VALUES (5, 9, 1, 'old');
            INSERT INTO Z_1TAGS VALUES (1, 1), (2, 1);
            """)
        source.close()
        let schema = Schema(
            Schema.Entity(
                "Photo", properties: Self.text("name"),
                Schema.Relationship(name: "tag", destination: "Tag", isToOne: true, inverseName: nil)),
            Schema.Entity("Tag", properties: Self.text("name")))
        let report = try StoreImport(from: source.url, to: source.destination, schema: schema).run()
        #expect(!report.isComplete)
        #expect(
            found(report) == [
                ".ZGHOST unknownColumn [5]", "Photo.Z2PHOTOS unknownColumn [2]", "Photo.ZPIXELS unknownColumn [2]",
                "Photo.ZPLACE unknownColumn [1]", "Photo.Z_1TAGS unknownColumn [1, 2]",
                "Photo.Z_FOK_2PHOTOS unknownColumn [2]",
            ])
        let lines = try lines(report)
        func line(_ property: String) -> Line? { lines.first { $0["property"] as? String == property } }
        #expect(base64(line("ZPLACE")) == Array("beach".utf8))
        #expect(base64(line("ZPIXELS")) == Self.bytes)
        let link = try #require(line("Z_1TAGS")?["row"] as? [String: Line])
        #expect(link["Z_1PHOTOS"]?["value"] as? Int == 1 && link["Z_2TAGS"]?["value"] as? Int == 1)
        #expect(base64((line("ZGHOST")?["row"] as? Line)?["ZNAME"]) == Array("old".utf8))
    }

    @Test func largeValuesThatCannotBeCarriedOverAreKept() throws {
        let source = try SourceStore([("Photo", 0)])
        let outside = try source.addExternal(Data(Self.bytes))
        source.run(
            """
            CREATE TABLE ZPHOTO (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZPIXELS BLOB, ZKEY BLOB,
                ZFILE BLOB);
            INSERT INTO ZPHOTO VALUES (1, 1, 1, \(SourceStore.hex([9] + Self.bytes)), \(SourceStore.hex(Self.bytes)),
                \(SourceStore.hex(outside)));
            """)
        source.close()
        func data(_ name: String, _ options: Schema.Attribute.Option...) -> Schema.Attribute {
            Schema.Attribute(name: name, options: options, valueType: Data?.self)
        }
        let schema = Schema(
            Schema.Entity(
                "Photo", properties: data("pixels", .externalStorage), data("key", .unique),
                data("file", .externalStorage, .unique)))
        let report = try StoreImport(from: source.url, to: source.destination, schema: schema).run()
        #expect(
            found(report) == ["Photo.file tooLarge [1]", "Photo.key tooLarge [1]", "Photo.pixels unknownMarker [1]"])
        let lines = try lines(report)
        func kept(_ property: String) -> [UInt8]? { base64(lines.first { $0["property"] as? String == property }) }
        #expect(kept("pixels") == [9] + Self.bytes && kept("key") == Self.bytes && kept("file") == Self.bytes)
    }

    @Test func rowsThatAreNotCarriedOverAreKeptWithAllColumns() throws {
        let source = try SourceStore([("Photo", 0), ("Tag", 0)])
        source.run(
            """
            CREATE TABLE ZPHOTO (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR, ZPIXELS BLOB);
            CREATE TABLE ZTAG (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR);
            CREATE TABLE Z_1TAGS (Z_1PHOTOS INTEGER, Z_2TAGS INTEGER, PRIMARY KEY (Z_1PHOTOS, Z_2TAGS));
            INSERT INTO ZPHOTO VALUES (1, 7, 1, 'lost', \(SourceStore.hex(Self.bytes))), (-5, 1, 1, 'below', x'01'),
                (2, 1, 1, 'kept', NULL);
            INSERT INTO Z_1TAGS VALUES (2, 8);
            """)
        source.close()
        let schema = Schema(
            Schema.Entity(
                "Photo", properties: Self.text("name"), Schema.Attribute(name: "pixels", valueType: Data?.self),
                Schema.Relationship(name: "tags", destination: "Tag", isToOne: false, inverseName: "photos")),
            Schema.Entity(
                "Tag", properties: Self.text("name"),
                Schema.Relationship(name: "photos", destination: "Photo", isToOne: false, inverseName: "tags")))
        let report = try StoreImport(from: source.url, to: source.destination, schema: schema).run()
        #expect(report.objectCount == 1)
        let lines = try lines(report)
        func row(_ reason: String) throws -> [String: Line] {
            try #require(lines.first { $0["reason"] as? String == reason }?["row"] as? [String: Line])
        }
        let unknown = try row("unknownEntity")
        #expect(base64(unknown["ZNAME"]) == Array("lost".utf8) && base64(unknown["ZPIXELS"]) == Self.bytes)
        #expect(unknown["Z_PK"]?["value"] as? Int == 1 && unknown["Z_ENT"]?["value"] as? Int == 7)
        let invalid = try row("invalidNumber")
        #expect(base64(invalid["ZNAME"]) == Array("below".utf8) && base64(invalid["ZPIXELS"]) == [1])
        // Of a link both ends.
        let link = try row("missingObject")
        #expect(link["Z_1PHOTOS"]?["value"] as? Int == 2 && link["Z_2TAGS"]?["value"] as? Int == 8)
    }
}
#endif
