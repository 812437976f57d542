#if Import
internal import Faultline
internal import FaultlineImport
internal import Foundation
internal import Testing

/// Attributes of every type, and values that are none of them.
@Suite struct ValueImportTests {
    /// The types of Core Data's attributes, each with its column, a value in SQL, and the value that the new store has.
    struct Kind: Sendable, CustomTestStringConvertible {
        let type: any Any.Type
        let column: String
        let sql: String
        let value: any (Equatable & Sendable)
        var options: [Schema.Attribute.Option] = []

        var testDescription: String { "\(type) \(sql)" }
    }

    private static let uuid = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
    private static let text = "Grüße, e\u{301}, 東京"

    static let kinds = [
        Kind(type: Int16?.self, column: "INTEGER", sql: "-32768", value: Int16.min),
        Kind(type: Int32?.self, column: "INTEGER", sql: "2147483647", value: Int32.max),
        Kind(type: Int?.self, column: "INTEGER", sql: "-9223372036854775808", value: Int.min),
        Kind(type: Bool?.self, column: "INTEGER", sql: "1", value: true),
        Kind(type: Double?.self, column: "FLOAT", sql: "-0.1", value: -0.1),
        Kind(type: Double?.self, column: "FLOAT", sql: "7", value: 7.0),
        Kind(type: Float?.self, column: "FLOAT", sql: "5.8", value: Float(5.8)),
        Kind(type: Date?.self, column: "TIMESTAMP", sql: "-31622400", value: Date(timeIntervalSince1970: 946_684_800)),
        Kind(type: Date?.self, column: "TIMESTAMP", sql: "0.5", value: Date(timeIntervalSinceReferenceDate: 0.5)),
        Kind(type: Decimal?.self, column: "DECIMAL", sql: "10.11", value: Decimal(string: "10.11") ?? 0),
        Kind(type: Decimal?.self, column: "DECIMAL", sql: "-3", value: Decimal(-3)),
        Kind(
            type: Decimal?.self, column: "VARCHAR", sql: "'12345678901234567890.5'",
            value: Decimal(string: "12345678901234567890.5") ?? 0),
        Kind(
            type: Decimal?.self, column: "VARCHAR", sql: "'+00\(String(repeating: "7", count: 38)).00'",
            value: Decimal(string: String(repeating: "7", count: 38)) ?? 0),
        Kind(type: Decimal?.self, column: "VARCHAR", sql: "'-1.50e+3'", value: Decimal(-1_500)),
        Kind(type: Decimal?.self, column: "VARCHAR", sql: "'-0.0'", value: Decimal(0)),
        Kind(type: Decimal?.self, column: "FLOAT", sql: "1e20", value: Decimal(string: "100000000000000000000") ?? 0),
        Kind(type: UUID?.self, column: "BLOB", sql: "x'0102030405060708090A0B0C0D0E0F10'", value: uuid),
        Kind(type: String?.self, column: "VARCHAR", sql: "'\(text)'", value: text),
        Kind(type: String?.self, column: "VARCHAR", sql: "''", value: ""),
        Kind(
            type: URL?.self, column: "VARCHAR", sql: "'https://example.org/a?b'", value: "https://example.org/a?b"),
        Kind(type: Data?.self, column: "BLOB", sql: "x'00FF01'", value: Data([0, 255, 1])),
        Kind(
            type: Data?.self, column: "BLOB", sql: "x'62706C697374'", value: Data("bplist".utf8),
            options: [.transformable(by: "NSSecureUnarchiveFromData")]),
        Kind(
            type: Data?.self, column: "BLOB", sql: "x'01AABB'", value: Data([0xAA, 0xBB]), options: [.externalStorage]),
        Kind(type: Data?.self, column: "BLOB", sql: "x'01'", value: Data(), options: [.externalStorage]),
    ]

    private func schema(_ type: any Any.Type, _ options: [Schema.Attribute.Option] = []) -> Schema {
        Schema(
            Schema.Entity("Photo", properties: Schema.Attribute(name: "value", options: options, valueType: type)))
    }

    private func source(_ column: String, _ values: String...) throws -> SourceStore {
        let source = try SourceStore([("Photo", 0)])
        source.run("CREATE TABLE ZPHOTO (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZVALUE \(column))")
        for (index, value) in values.enumerated() {
            source.run("INSERT INTO ZPHOTO VALUES (\(index + 1), 1, 1, \(value))")
        }
        source.close()
        return source
    }

    @Test(arguments: kinds) func aValueIsCarriedOver(_ kind: Kind) throws {
        let source = try source(kind.column, kind.sql, "NULL")
        let report = try StoreImport(
            from: source.url, to: source.destination, schema: schema(kind.type, kind.options)
        ).run()
        #expect(report.isComplete, "\(report)")
        #expect(report.entities[0].columns[0].destination.count == 1)
        let context = try ModelContext(
            ModelContainer(opening: ModelConfiguration(url: source.destination)))
        let objects = try context.fetch(FetchRequest(entityName: "Photo"))
        #expect(objects.map(\.persistentModelID.primaryKey) == [1, 2])
        let value = objects[0].value(forKey: "value")
        #expect("\((value as? URL)?.absoluteString ?? value ?? "nil")" == "\(kind.value)")
        #expect(objects[1].value(forKey: "value") == nil)
    }

    /// A value that is none of an attribute's type.
    struct Misfit: Sendable, CustomTestStringConvertible {
        let type: any Any.Type
        let column: String
        let sql: String
        let reason: ImportFinding.Reason

        init(_ type: any Any.Type, _ column: String, _ sql: String, _ reason: ImportFinding.Reason) {
            self.type = type
            self.column = column
            self.sql = sql
            self.reason = reason
        }

        var testDescription: String { "\(type) \(sql)" }
    }

    @Test(arguments: [
        Misfit(Int16?.self, "INTEGER", "40000", .outOfRange), Misfit(Int?.self, "INTEGER", "'seven'", .wrongType),
        Misfit(Int?.self, "INTEGER", "1.5", .wrongType), Misfit(Bool?.self, "INTEGER", "2", .outOfRange),
        Misfit(Float?.self, "FLOAT", "1e300", .outOfRange), Misfit(Date?.self, "TIMESTAMP", "'today'", .wrongType),
        Misfit(Decimal?.self, "DECIMAL", "'1,5'", .wrongType),
        Misfit(Decimal?.self, "VARCHAR", "'2024-01-05'", .wrongType),
        Misfit(Decimal?.self, "VARCHAR", "'1.2.3'", .wrongType), Misfit(Decimal?.self, "VARCHAR", "'-'", .wrongType),
        Misfit(Decimal?.self, "VARCHAR", "'e'", .wrongType), Misfit(Decimal?.self, "VARCHAR", "'1e'", .wrongType),
        Misfit(Decimal?.self, "VARCHAR", "'\(String(repeating: "7", count: 60))'", .outOfRange),
        Misfit(Decimal?.self, "VARCHAR", "'0.\(String(repeating: "7", count: 45))'", .outOfRange),
        Misfit(Decimal?.self, "VARCHAR", "'1e300'", .outOfRange),
        Misfit(Decimal?.self, "FLOAT", "1e300", .outOfRange),
        Misfit(UUID?.self, "BLOB", "x'0102'", .wrongType),
        Misfit(String?.self, "VARCHAR", "x'61'", .wrongType),
        Misfit(String?.self, "VARCHAR", "CAST(x'61FF' AS TEXT)", .invalidText),
        Misfit(Data?.self, "BLOB", "'text'", .wrongType), Misfit(URL?.self, "VARCHAR", "'http://[:'", .invalidURL),
    ])
    func aValueOfAnotherTypeIsCountedAndKept(_ misfit: Misfit) throws {
        let source = try source(misfit.column, misfit.sql, "NULL")
        let report = try StoreImport(from: source.url, to: source.destination, schema: schema(misfit.type)).run()
        #expect(!report.isComplete)
        let finding = try #require(report.findings.first)
        #expect(finding.reason == misfit.reason && finding.count == 1 && finding.objects == [1], "\(finding)")
        #expect(finding.entity == "Photo" && finding.property == "value")
        #expect(report.entities[0].destinationCount == 2)
        let path = try #require(report.findingsPath)
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        #expect(lines.count == 1 && lines[0].contains("\"column\":\"ZPHOTO.ZVALUE\""), "\(lines)")
        #expect(lines[0].contains("\"value\":") || lines[0].contains("\"base64\":"))
    }

    @Test func aRequiredAttributeWithoutValueHasItsDefault() throws {
        let source = try source("VARCHAR", "NULL", "'beach'")
        let schema = Schema(
            Schema.Entity(
                "Photo",
                properties: Schema.Attribute(name: "value", valueType: String.self, defaultValue: "untitled")))
        let report = try StoreImport(from: source.url, to: source.destination, schema: schema).run()
        #expect(report.findings.map(\.reason) == [.missingValue])
        #expect(report.entities[0].columns[0].isEqual)
        let context = try ModelContext(ModelContainer(opening: ModelConfiguration(url: source.destination)))
        let names = try context.fetch(FetchRequest(entityName: "Photo")).map { $0.value(forKey: "value") as? String }
        #expect(names == ["untitled", "beach"])
    }

    private struct Place: Codable, Equatable {
        struct Point: Codable, Equatable {
            var latitude: Double
            var longitude: Double
        }

        var name: String
        var point: Point?
        var seen: Date?
    }

    @Test func aCompositeAttributeIsAStructure() throws {
        let source = try SourceStore([("Photo", 0)])
        source.run(
            """
            CREATE TABLE ZPHOTO (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZLATITUDE FLOAT,
                ZLONGITUDE FLOAT, ZSEEN TIMESTAMP, ZNAME VARCHAR, ZNAME1 VARCHAR);
            INSERT INTO ZPHOTO VALUES (1, 1, 1, 48.1, 11.5, 10, 'beach', 'Munich');
            INSERT INTO ZPHOTO VALUES (2, 1, 1, NULL, NULL, NULL, 'hill', NULL);
            """)
        source.close()
        func part(_ name: String, _ type: any Any.Type) -> Schema.Attribute {
            Schema.Attribute(name: name, valueType: type)
        }
        let point = Schema.CompositeAttribute(
            name: "point", options: [.codable], valueType: Any?.self,
            properties: [part("latitude", Double.self), part("longitude", Double.self)])
        let place = Schema.CompositeAttribute(
            name: "place", options: [.codable], valueType: Any?.self,
            properties: [part("name", String.self), point, part("seen", Date?.self)])
        place.isOptional = true
        let schema = Schema(Schema.Entity("Photo", properties: part("name", String.self), place))
        let report = try StoreImport(from: source.url, to: source.destination, schema: schema).run()
        #expect(report.isComplete, "\(report)")
        #expect(report.notes.count == 1 && report.notes[0].contains("place.name"), "\(report.notes)")
        let context = try ModelContext(ModelContainer(opening: ModelConfiguration(url: source.destination)))
        let photos = try context.fetch(FetchRequest(entityName: "Photo"))
        #expect(photos.map { $0.value(forKey: "name") as? String } == ["beach", "hill"])
        let stored = try #require(photos[0].value(forKey: "place") as? CodableValue)
        #expect(
            try stored.decode(as: Place.self)
                == Place(
                    name: "Munich", point: .init(latitude: 48.1, longitude: 11.5),
                    seen: Date(timeIntervalSinceReferenceDate: 10)))
        #expect(photos[1].value(forKey: "place") == nil)
    }

    /// A structure that the compiler has made the decoding of needs all its members.
    @Test func aRequiredMemberOfACompositeAttributeHasItsDefault() throws {
        struct Size: Codable, Equatable {
            var width: Int16
            var unit: String
            var depth: Double?
        }
        let source = try SourceStore([("Photo", 0)])
        source.run(
            """
            CREATE TABLE ZPHOTO (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZWIDTH INTEGER, ZUNIT VARCHAR,
                ZDEPTH FLOAT);
            INSERT INTO ZPHOTO VALUES (1, 1, 1, NULL, 'mm', NULL), (2, 1, 1, 40000, NULL, 2), (3, 1, 1, NULL, NULL, NULL);
            """)
        source.close()
        let size = Schema.CompositeAttribute(
            name: "size", options: [.codable], valueType: Any?.self,
            properties: [
                Schema.Attribute(name: "width", valueType: Int16.self),
                Schema.Attribute(name: "unit", valueType: String.self, defaultValue: "cm"),
                Schema.Attribute(name: "depth", valueType: Double?.self),
            ])
        size.isOptional = true
        let report = try StoreImport(
            from: source.url, to: source.destination, schema: Schema(Schema.Entity("Photo", properties: size))
        ).run()
        let found = report.findings.map { "\($0.property) \($0.reason.rawValue) \($0.objects)" }
        #expect(found == ["size.unit missingValue [2]", "size.width missingValue [1]", "size.width outOfRange [2]"])
        let context = try ModelContext(ModelContainer(opening: ModelConfiguration(url: source.destination)))
        let sizes = try context.fetch(FetchRequest(entityName: "Photo")).map {
            try ($0.value(forKey: "size") as? CodableValue)?.decode(as: Size.self)
        }
        #expect(sizes == [Size(width: 0, unit: "mm"), Size(width: 0, unit: "cm", depth: 2), nil])
    }
}
#endif
