import FaultlineCoreData
import FaultlineTestSupport
import Testing

/// Mapping models in files, whose XML and archives the tests write.
struct MappingFileTests {
    private static let company: [WrittenMapping] = [
        WrittenMapping(
            from: "Employee", to: "Employee", policy: "App.SplitPhotoPolicy", userInfo: ["note": "photos"],
            properties: [
                .attribute("name"),
                .attribute("salary", .call("multiply:by:", [.source("salary"), .constant(.number(1.1))])),
                .relationship("department"),
                .relationship("profile", .destinations("EmployeeToPhoto", .variable("source"))),
            ]),
        WrittenMapping(
            name: "Photos", from: "Employee", to: "Photo", condition: "salary < 10 AND name BEGINSWITH[c] 'a'",
            properties: [
                .attribute("photo", .source("photo")),
                .init(name: "employee", isRelationship: true, path: "$source.boss.team", mapping: "EmployeeToEmployee"),
            ]),
        WrittenMapping(to: "Badge", properties: [.attribute("number")]), WrittenMapping(from: "Desk"),
    ]

    @Test func `the XML of Xcode gives mappings in the order of their numbers`() throws {
        let folder = TemporaryDirectory()
        let url = URL(filePath: folder.path).appendingPathComponent("Company1to2.xcmappingmodel")
        try MappingText.write(MappingText.model(Self.company), to: url)
        let file = try MappingModelFile(contentsOf: url)
        #expect(file.name == "Company1to2" && file.findings == [])
        #expect(try MappingModelFile(contentsOf: url.appendingPathComponent("xcmapping.xml")).name == "Company1to2")
        #expect(file.sourceModelPath == "App/Company.xcdatamodeld/Company.xcdatamodel")
        #expect(file.destinationModelPath == "App/Company.xcdatamodeld/Company 2.xcdatamodel")
        #expect(file.mappings.map(\.name) == ["EmployeeToEmployee", "Photos", "Badge", "Desk"])
        #expect(file.policyNames == ["App.SplitPhotoPolicy"])

        let employee = file.mappings[0]
        #expect(employee.userInfo == ["note": "photos"] && employee.filter == nil && employee.line ?? 0 > 20)
        #expect(employee.attributes.map(\.isGenerated) == [true, false])
        #expect(employee.attributes[1].expression?.description == "($source.salary * 1.1)")
        #expect(employee.relationships[0].isGenerated)
        #expect(
            employee.relationships[1].expression?.description
                == "FUNCTION($manager, \"destinationInstancesForEntityMappingNamed:sourceInstances:\", \"EmployeeToPhoto\", $source)"
        )
        #expect(file.mappings[1].filter?.description == "salary < 10 AND name BEGINSWITH[c] \"a\"")
        #expect(
            file.mappings[1].relationships[0].expression == .destinations("EmployeeToEmployee", .source("boss.team")))
        #expect(file.mappings[2].sourceEntityName == nil && file.mappings[3].destinationEntityName == nil)
    }

    @Test func `a compiled mapping model has the same mappings`() throws {
        let folder = TemporaryDirectory()
        let url = URL(filePath: folder.path).appendingPathComponent("Company1to2.cdm")
        try ArchiveWriter.mappingModel(Self.company).write(to: url)
        let compiled = try MappingModelFile(contentsOf: url)
        let edited = try MappingModelFile(xml: MappingText.model(Self.company), name: "Company1to2")
        #expect(compiled.findings == [] && compiled.sourceModelPath == nil && compiled.name == "Company1to2")
        #expect(compiled.mappings.map(\.name) == edited.mappings.map(\.name))
        #expect(compiled.mappings.map(\.kind) == [.custom, .transform, .add, .remove])
        #expect(compiled.mappings.map(\.filter) == edited.mappings.map(\.filter))
        #expect(compiled.mappings.map(\.userInfo) == edited.mappings.map(\.userInfo))
        #expect(compiled.mappings[0].attributes[1].expression == edited.mappings[0].attributes[1].expression)
        // A compiled mapping leaves nothing open.
        #expect(compiled.mappings[0].attributes[0].expression == nil && !compiled.mappings[0].attributes[0].isGenerated)
    }

    @Test func `a relationship without a path, or without a mapping, is completed`() throws {
        let mapping = WrittenMapping(
            from: "A", to: "B",
            properties: [
                .init(name: "owner", isRelationship: true, mapping: "AToB"),
                .init(name: "rest", isRelationship: true, path: "team.members"),
                .init(name: "bad", isRelationship: true, path: "$source.]"),
            ])
        let file = try MappingModelFile(xml: MappingText.model([mapping]), name: "AB")
        let relationships = file.mappings[0].relationships
        #expect(relationships[0].expression == .destinations("AToB", .source("owner")))
        #expect(
            relationships[1].expression
                == .function(
                    .variable("manager"), "destinationInstancesForSourceRelationshipNamed:sourceInstances:",
                    [.text("members"), .source("team.members")]))
        #expect(file.findings.map(\.place) == ["AToB.bad"])
    }

    // MARK: Findings

    @Test func `unknown objects, attributes and classes are reported, and never end the reading`() throws {
        let block = MappingText.archive(.call("sum:", [.unreadable("")]))
        let mapping = WrittenMapping(
            from: "A", to: "B",
            inside:
                "<attribute name=\"glow\" type=\"bool\">1</attribute><attribute name=\"mappingtypename\" type=\"string\">Odd</attribute><note/>",
            properties: [
                .init(
                    name: "x", inside: "<attribute name=\"valueexpressiondata\" type=\"binary\">\(block)</attribute>"),
                .init(name: "y", inside: "<attribute name=\"valueexpressiondata\" type=\"binary\">AAAA</attribute>"),
                .init(name: "z", inside: "<attribute name=\"userinfodata\" type=\"binary\">?</attribute>"),
            ])
        let text = String(decoding: MappingText.model([mapping]), as: UTF8.self)
        let odd = text.replacing(
            "</database>", with: "<object type=\"XDDEVSPARKLE\" id=\"z900\"/><sparkle/></database>"
        )
        .replacing("idrefs=\"z103\"", with: "idrefs=\"z103 z777 z103\"")
        let file = try MappingModelFile(xml: Data(odd.utf8), name: "AB")
        let names = file.findings.map { "\($0.place) \($0.name)" }
        for name in [
            " glow", " note", "AToB mappingtypename", "AToB.x NSBlockExpression", "AToB.y valueexpressiondata",
            "AToB.z userinfodata", " XDDEVSPARKLE", " sparkle", " entitymappings",
        ] { #expect(names.contains(name) || names.contains { $0.hasSuffix(name) }, "\(name) of \(names)") }
        #expect(file.findings.filter { $0.name == "entitymappings" }.count == 2)
        #expect(file.mappings.count == 1 && file.mappings[0].attributes.count == 3)
        #expect(file.mappings[0].attributes[1].expression == .unreadable("<damaged archive>"))

        var writer = ArchiveWriter()
        let written = writer.mapping(
            WrittenMapping(name: "M", from: "A", to: "B"), kind: 9, [("NSGlow", .integer(1))])
        let adding = writer.mapping(WrittenMapping(name: "N", from: "A", to: "B"), kind: 2)
        let strange = writer.object(["NSStrangeMapping"], [])
        let compiled = try MappingModelFile(
            compiled: writer.mappingModel([written, strange, adding], [("NSSparkle", .flag(true))]), name: "AB")
        #expect(
            compiled.findings.map { "\($0.place) \($0.name)" } == [
                " NSSparkle", "M NSGlow", "M NSMappingType", " NSStrangeMapping", "N add",
            ])
        #expect(compiled.mappings.map(\.name) == ["M", "N"])
    }

    @Test func `objects that nothing refers to, or with one identifier, are reported`() throws {
        let orphan =
            "<object type=\"XDDEVATTRIBUTEMAPPING\" id=\"z8\"><attribute name=\"name\" type=\"string\">left</attribute></object>"
        let text = String(decoding: MappingText.model([WrittenMapping(from: "A", to: "B")]), as: UTF8.self)
            .replacing("</database>", with: "\(orphan)\(orphan)</database>")
        let file = try MappingModelFile(xml: Data(text.utf8), name: "AB")
        #expect(file.findings.map(\.name) == ["z8", "left"] && file.findings.allSatisfy { $0.kind == .invalid })
    }

    @Test func `a property that is listed twice, and one with transforms, are reported`() throws {
        var writer = ArchiveWriter()
        let property = writer.object(
            ["NSPropertyMapping"],
            [
                ("NSDestinationPropertyName", writer.text("x")), ("NSPropertyTransforms", writer.array([])),
                ("NSValueExpression", writer.expression(.source("x"))),
            ])
        let mapping = writer.object(
            ["NSEntityMapping"],
            [
                ("NSMappingName", writer.text("M")), ("NSMappingType", .integer(4)),
                ("NSSourceEntityName", writer.text("A")), ("NSDestinationEntityName", writer.text("A")),
                ("NSAttributeMappings", writer.array([property, property])),
            ])
        let file = try MappingModelFile(compiled: writer.mappingModel([mapping]), name: "AA")
        #expect(file.findings.map(\.name) == ["NSPropertyTransforms", "NSPropertyTransforms", "x"])
        // The value is not the one of the expression.
        #expect(file.mappings[0].attributes[0].expression == .unreadable("<NSPropertyTransforms>"))
    }

    @Test func `an expression that fetches other objects stays as it is`() throws {
        let fetch = MappingExpression.fetch(
            .function(.variable("manager"), "everything", []), .keyPath(.variable("manager"), "sourceContext"),
            countsOnly: false)
        let mapping = WrittenMapping(
            from: "A", to: "B",
            inside: "<attribute name=\"sourceexpressiondata\" type=\"binary\">\(MappingText.archive(fetch))</attribute>"
        )
        let file = try MappingModelFile(xml: MappingText.model([mapping]), name: "AB")
        #expect(file.mappings[0].sourceExpression == fetch)
        #expect(fetch.description == "FETCH(FUNCTION($manager, \"everything\"), $manager.sourceContext, NO)")
    }

    // MARK: Bad input

    private func failure(xml contents: Data) -> ModelFileError? {
        do {
            _ = try MappingModelFile(xml: contents, name: "M", path: "M.xcmappingmodel/xcmapping.xml")
            return nil
        } catch { return error }
    }

    private func failure(compiled contents: Data) -> ModelFileError? {
        do {
            _ = try MappingModelFile(compiled: contents, name: "M", path: "M.cdm")
            return nil
        } catch { return error }
    }

    private static let small = [
        WrittenMapping(
            from: "A", to: "B", policy: "P", condition: "x == 1",
            properties: [.attribute("x", .call("add:to:", [.source("x"), .constant(.integer(1))]))])
    ]

    @Test func `every shorter file is refused`() throws {
        let text = MappingText.model(Self.small)
        #expect(failure(xml: text) == nil)
        for length in 0..<text.count {
            let error = failure(xml: text.prefix(length))
            #expect(error?.code == .malformed || error?.code == .foreign, "\(length) bytes")
        }
        let archive = ArchiveWriter.mappingModel(Self.small)
        #expect(failure(compiled: archive) == nil)
        for length in 0..<archive.count {
            let error = failure(compiled: archive.prefix(length))
            #expect([.malformed, .foreign, .tooLarge].contains(error?.code), "\(length) bytes")
        }
    }

    @Test func `no flipped bit traps or takes long`() throws {
        let folder = TemporaryDirectory()
        let url = URL(filePath: folder.path).appendingPathComponent("AB.xcdatamodeld")
        let entities = ["A", "B"].map { ModelText.entity($0, "", ModelText.attribute("x", "Integer 16")) }
        try ModelText.write(["AB": ModelText.model(entities.joined(separator: "\n"))], current: "AB", to: url)
        let schema = try ModelPackage(contentsOf: url).current.schema
        let whole = try MappingModelFile(compiled: ArchiveWriter.mappingModel(Self.small), name: "M")
        #expect(whole.unexpressed(from: schema, to: schema) == [])
        let archive = ArchiveWriter.mappingModel(Self.small)
        for position in archive.indices {
            for bit in 0..<8 {
                var changed = archive
                changed[position] ^= 1 << bit
                _ = try? MappingModelFile(compiled: changed, name: "M").unexpressed(from: schema, to: schema)
            }
        }
        let text = MappingText.model(Self.small)
        for position in text.indices {
            var changed = text
            changed[position] ^= 1 << (position % 7)
            _ = try? MappingModelFile(xml: changed, name: "M").unexpressed(from: schema, to: schema)
        }
    }

    @Test func `foreign and newer files, and packages without a file, are refused`() throws {
        #expect(failure(xml: Data("<model/>".utf8))?.code == .foreign)
        #expect(failure(xml: MappingText.file("<object type=\"BOOK\" id=\"z1\"/>"))?.code == .foreign)
        #expect(failure(xml: MappingText.file("", version: 9 << 24))?.code == .newer)
        #expect(failure(xml: MappingText.file("", version: 9 << 24))?.line == 6)
        #expect(failure(compiled: Data("SQLite format 3".utf8))?.code == .foreign)
        var writer = ArchiveWriter()
        #expect(failure(compiled: writer.model([]))?.code == .foreign)
        var empty = ArchiveWriter()
        let root = empty.object(["NSMappingModel"], [])
        #expect(failure(compiled: empty.archive(root))?.code == .malformed)
        let folder = TemporaryDirectory()
        let url = URL(filePath: folder.path).appendingPathComponent("A.xcmappingmodel")
        func code(_ url: URL) -> ModelFileError.Code? {
            do {
                _ = try MappingModelFile(contentsOf: url)
                return nil
            } catch { return error.code }
        }
        #expect(code(url) == .missing)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        #expect(code(url) == .missing && code(URL(filePath: folder.path)) == .foreign)
    }

    @Test func `bombs are refused`() throws {
        let bomb = "<!DOCTYPE d [<!ENTITY a \"xx\">]><database/>"
        #expect(failure(xml: Data(bomb.utf8))?.code == .tooLarge)
        // Expressions that contain each other, and such as grow without end.
        var writer = ArchiveWriter()
        let number = writer.reserve()
        let parts = writer.array(Array(repeating: .reference(number), count: 50))
        writer.object(
            ["NSAggregateExpression", "NSExpression"], [("NSExpressionType", .integer(14)), ("NSCollection", parts)],
            at: number)
        let property = writer.object(
            ["NSPropertyMapping"],
            [("NSDestinationPropertyName", writer.text("x")), ("NSValueExpression", .reference(number))])
        let mapping = writer.object(
            ["NSEntityMapping"],
            [("NSMappingName", writer.text("M")), ("NSAttributeMappings", writer.array([property]))])
        #expect(failure(compiled: writer.mappingModel([mapping]))?.code == .tooLarge)
        // All archives of an XML file share one budget.
        var inner = ArchiveWriter()
        let loop = inner.reserve()
        let members = inner.array(Array(repeating: .reference(loop), count: 50))
        inner.object(
            ["NSAggregateExpression", "NSExpression"], [("NSExpressionType", .integer(14)), ("NSCollection", members)],
            at: loop)
        let archive = inner.archive(.reference(loop)).base64EncodedString()
        let many = WrittenMapping(
            from: "A", to: "B",
            properties: (0..<200).map { number in
                .init(
                    name: "p\(number)",
                    inside: "<attribute name=\"valueexpressiondata\" type=\"binary\">\(archive)</attribute>")
            })
        #expect(failure(xml: MappingText.model([many]))?.code == .tooLarge)
    }
}
