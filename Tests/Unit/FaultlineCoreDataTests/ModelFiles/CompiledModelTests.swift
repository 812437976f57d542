import FaultlineCoreData
import FaultlineTestSupport
import Testing

/// Compiled models: archives that this file makes, with the parts that those of Core Data have.
struct CompiledModelTests {
    /// The archive of `ModelText.library()`.
    private static func library() -> Data {
        var writer = ArchiveWriter()
        let name = writer.attribute("name", 700, [("NSDefaultValue", writer.text(""))])
        let books = writer.relationship(
            "books", to: "Book", inverse: "author",
            [("NSIsOptional", .flag(true)), ("NSMaxCount", .integer(0)), ("NSDeleteRule", .integer(2))])
        let title = writer.attribute("title", 700, [("NSDefaultValue", writer.text(""))])
        let author = writer.relationship(
            "author", to: "Author", inverse: "books",
            [("NSIsOptional", .flag(true)), ("NSMaxCount", .integer(1)), ("NSDeleteRule", .integer(1))])
        return writer.model([writer.entity("Author", [name, books]), writer.entity("Book", [title, author])])
    }

    @Test func `a compiled model gives the schema of its XML`() throws {
        let compiled = try ModelVersion(compiled: Self.library(), name: "Library")
        let text = try ModelVersion(xml: ModelText.library(), name: "Library")
        #expect(compiled.schema == text.schema && compiled.findings == [])
        #expect(compiled.entities.map(\.className) == ["Author", "Book"])
    }

    @Test func `defaults of all classes are read`() throws {
        var writer = ArchiveWriter()
        let date = writer.object(["NSDate"], [("NS.time", .number(86_400))])
        let id = writer.object(["NSUUID"], [("NS.uuidbytes", .data(Data(0..<16)))])
        let url = writer.object(
            ["NSURL"], [("NS.base", ArchiveWriter.null), ("NS.relative", writer.text("https://a.b"))])
        let price = writer.object(
            ["NSDecimalNumber", "NSNumber"],
            [
                ("NS.mantissa", .data(Data([0xE7, 0x03] + [UInt8](repeating: 0, count: 14)))),
                ("NS.exponent", .integer(-2)), ("NS.length", .integer(1)), ("NS.mantissa.bo", .integer(1)),
                ("NS.negative", .flag(true)), ("NS.compact", .flag(true)),
            ])
        let long = writer.object(["NSMutableString"], [("NS.string", .text("änderbar"))])
        let values: [(String, Int, ListValue)] = [
            ("a", 100, writer.add(.integer(-3))), ("b", 200, writer.add(.integer(3))),
            ("c", 300, writer.add(.flag(true))), ("d", 400, price), ("e", 500, writer.add(.number(1.5))),
            ("f", 600, writer.add(.integer(2))), ("g", 700, long), ("h", 800, writer.add(.flag(false))),
            ("i", 900, date), ("j", 1000, writer.add(.data(Data([1, 2])))), ("k", 1100, id), ("l", 1200, url),
        ]
        let properties = values.map { writer.attribute($0.0, $0.1, [("NSDefaultValue", $0.2)]) }
        let version = try ModelVersion(compiled: writer.model([writer.entity("Thing", properties)]), name: "Model")
        #expect(version.findings == [])
        let attributes = try #require(version.schema.entities.first?.attributesByName)
        let defaults: [String: AnyHashable] = [
            "a": Int16(-3), "b": Int32(3), "c": Int64(1), "d": Decimal(string: "-9.99") ?? 0, "e": 1.5, "f": Float(2),
            "g": "änderbar", "h": false, "i": Date(timeIntervalSinceReferenceDate: 86_400), "j": Data([1, 2]),
            "k": UUID(uuidString: "00010203-0405-0607-0809-0A0B0C0D0E0F") ?? UUID(),
            "l": URL(string: "https://a.b") ?? URL(filePath: "/"),
        ]
        for (name, value) in defaults { #expect(attributes[name]?.defaultValue as? AnyHashable == value, "\(name)") }
    }

    /// The expression of a key path.
    private func path(_ name: String, _ writer: inout ArchiveWriter) -> ListValue {
        let specifier = writer.object(
            ["NSKeyPathSpecifierExpression", "NSExpression"],
            [("NSExpressionType", .integer(10)), ("NSKeyPath", writer.text(name))])
        let own = writer.object(["NSSelfExpression", "NSExpression"], [("NSExpressionType", .integer(1))])
        return writer.object(
            ["NSKeyPathExpression", "NSFunctionExpression", "NSExpression"],
            [
                ("NSExpressionType", .integer(3)), ("NSSelectorName", writer.text("valueForKey:")),
                ("NSOperand", own), ("NSArguments", writer.array([specifier])),
            ])
    }

    private func comparison(
        _ left: ListValue, _ type: Int, _ constant: ListValue, _ writer: inout ArchiveWriter
    ) -> ListValue {
        let right = writer.object(
            ["NSConstantValueExpression", "NSExpression"],
            [("NSExpressionType", .integer(0)), ("NSConstantValue", constant)])
        let sign = writer.object(["NSPredicateOperator"], [("NSOperatorType", .integer(type))])
        return writer.object(
            ["NSComparisonPredicate", "NSPredicate"],
            [("NSLeftExpression", left), ("NSRightExpression", right), ("NSPredicateOperator", sign)])
    }

    @Test func `conditions become bounds, expressions, and texts`() throws {
        var writer = ArchiveWriter()
        let own = writer.object(["NSSelfExpression", "NSExpression"], [("NSExpressionType", .integer(1))])
        let least = comparison(path("length", &writer), 3, writer.add(.integer(3)), &writer)
        let most = comparison(path("length", &writer), 1, writer.add(.integer(50)), &writer)
        let both = writer.object(
            ["NSCompoundPredicate", "NSPredicate"],
            [("NSCompoundPredicateType", .integer(1)), ("NSSubpredicates", writer.array([least, most]))])
        let matches = comparison(own, 6, writer.text("[a-z]+"), &writer)
        let contains = comparison(own, 99, writer.text("a \"b\""), &writer)
        let conditions = writer.array([both, matches, contains])
        let title = writer.attribute("title", 700, [("NSValidationPredicates", conditions)])
        let age = writer.attribute(
            "age", 100,
            [("NSValidationPredicates", writer.array([comparison(own, 3, writer.add(.integer(0)), &writer)]))])
        let request = writer.object(
            ["NSFetchRequest"],
            [
                ("NSPredicate", comparison(path("age", &writer), 2, writer.add(.integer(17)), &writer)),
                ("NSEntity", writer.object(["NSEntityDescription"], [("NSEntityName", writer.text("Person"))])),
                ("NSFetchLimit", .integer(5)),
            ])
        let version = try ModelVersion(
            compiled: writer.model(
                [writer.entity("Person", [title, age])],
                [("NSFetchRequestTemplates", writer.dictionary([("Adults", request)]))]), name: "Model")
        let attributes = try #require(version.entities.first).attributes
        #expect(attributes[0].minimum == .integer(3) && attributes[0].maximum == .integer(50))
        #expect(
            attributes[0].regularExpression == "[a-z]+" && attributes[0].conditions == ["SELF CONTAINS \"a \\\"b\\\"\""]
        )
        #expect(attributes[1].minimum == .integer(0) && attributes[1].maximum == nil)
        let adults = try #require(version.fetchRequests.first)
        #expect(
            adults.predicate == "age > 17" && adults.entityName == "Person" && adults.settings == ["fetchLimit": "5"])
    }

    @Test func `inheritance, composites, derived attributes, indexes and settings`() throws {
        var writer = ArchiveWriter()
        let parent = writer.reserve()
        let name = writer.attribute("name", 700, [("NSRenamingIdentifier", writer.text("title"))])
        let street = writer.attribute("street", 700, [("NSIsOptional", .flag(true))])
        let address = writer.attribute(
            "address", 2100, [("NSCompositeElements", writer.array([street.1])), ("NSIsOptional", .flag(true))],
            of: ["NSCompositeAttributeDescription"])
        let count = writer.attribute(
            "count", 300,
            [
                (
                    "NSDerivationExpression",
                    writer.object(
                        ["NSFunctionExpression", "NSExpression"],
                        [
                            ("NSExpressionType", .integer(4)), ("NSSelectorName", writer.text("count:")),
                            ("NSArguments", writer.array([path("pets", &writer)])),
                        ])
                ), ("NSIsReadOnly", .flag(true)),
            ], of: ["NSDerivedAttributeDescription"])
        let photo = writer.attribute(
            "photo", 1000, [("NSFlagsKey", .integer(4 + 16 + 64)), ("NSIsOptional", .flag(true))])
        let element = writer.object(
            ["NSFetchIndexElementDescription"],
            [
                ("NSPropertyName", writer.text("name")), ("NSFetchIndexElementType", .integer(0)),
                ("NSAscending", .flag(true)),
            ])
        let index = writer.object(
            ["NSFetchIndexDescription"],
            [("NSIndexName", writer.text("byName")), ("NSIndexElements", writer.array([element]))])
        let person = writer.entity(
            "Person", [name, address, count, photo],
            [
                ("NSIsAbstract", .flag(true)), ("NSFetchIndexDescriptions", writer.array([index])),
                ("NSUniqueTuples", writer.array([writer.array([writer.text("name")])])),
                (
                    "NSUserInfo",
                    writer.dictionary([("note", writer.array([writer.text("a"), writer.add(.flag(true))]))])
                ),
            ], at: parent)
        let ranked = writer.attribute("rank", 100, [("NSIsIndexed", .flag(true))])
        let worker = writer.entity(
            "Worker", [name, address, count, photo, ranked], [("NSSuperentity", .reference(parent))])
        let version = try ModelVersion(compiled: writer.model([worker, person]), name: "Model")
        let made = try #require(version.schema.entitiesByName["Worker"])
        #expect(made.superentityName == "Person" && made.storedProperties.map(\.name) == ["rank"])
        #expect(made.properties.map(\.name) == ["name", "address", "count", "photo", "rank"])
        let above = try #require(version.schema.entitiesByName["Person"])
        #expect(above.indices == [["name"]] && above.uniquenessConstraints == [["name"]] && made.indices == [["rank"]])
        #expect(above.attributesByName["name"]?.originalName == "title")
        #expect(above.attributesByName["photo"]?.options == [.externalStorage, .preserveValueOnDeletion])
        #expect((above.attributesByName["address"] as? Schema.CompositeAttribute)?.properties.map(\.name) == ["street"])
        #expect(version.entities.last?.attribute(named: "count")?.derivation == "count:(pets)")
        #expect(version.entities.last?.userInfo == ["note": "(a, YES)"])
        #expect(
            version.findings.map(\.name).sorted() == ["NSFlagsKey", "derivationExpression", "isAbstract", "userInfo"])
    }

    @Test func `unknown classes, fields and types are reported`() throws {
        var writer = ArchiveWriter()
        let future = writer.attribute("future", 9_000, [("NSSparkle", .flag(true))])
        let strange = ("strange", writer.object(["NSStrangeDescription", "NSPropertyDescription"], []))
        let version = try ModelVersion(
            compiled: writer.model([writer.entity("Thing", [future, strange], [("NSGlow", .integer(1))])]),
            name: "Model")
        #expect(
            version.findings.map { "\($0.place) \($0.name)" } == [
                "Thing NSGlow", "Thing.future NSSparkle", "Thing.future NSAttributeType",
                "Thing.strange NSStrangeDescription",
            ])
        #expect(version.schema.entities.map(\.properties.count) == [0])
    }

    @Test func `a compiled package names its current version`() throws {
        let folder = TemporaryDirectory()
        let package = URL(filePath: folder.path).appendingPathComponent("Library.momd")
        try FileManager.default.createDirectory(at: package, withIntermediateDirectories: true)
        for name in ["Library", "Library 2"] {
            try Self.library().write(to: package.appendingPathComponent("\(name).mom"))
        }
        let names = ListValue.dictionary([("NSManagedObjectModel_CurrentVersionName", .text("Library"))])
        try names.bytes.write(to: package.appendingPathComponent("VersionInfo.plist"))
        try Data([1]).write(to: package.appendingPathComponent("Library.omo"))
        let read = try ModelPackage(contentsOf: package)
        #expect(read.versions.map(\.name) == ["Library", "Library 2"] && read.current.name == "Library")
        #expect(try Schema(contentsOf: package.appendingPathComponent("Library 2.mom")) == read.current.schema)
    }

    // MARK: Bad input

    private func failure(_ contents: Data) -> ModelFileError? {
        do {
            _ = try ModelVersion(compiled: contents, name: "Model", path: "Model.mom")
            return nil
        } catch { return error }
    }

    @Test func `every shorter file is refused, and no changed byte traps`() throws {
        let whole = Self.library()
        #expect(failure(whole) == nil)
        for length in 0..<whole.count {
            let error = failure(whole.prefix(length))
            #expect([.malformed, .foreign, .tooLarge].contains(error?.code), "\(length) bytes: \(error?.code as Any)")
        }
        for position in whole.indices {
            var changed = whole
            changed[position] = [0x00, 0x0F, 0x7F, 0x80, 0xFF][position % 5]
            _ = failure(changed)
        }
    }

    @Test func `foreign and newer files are refused with their place`() throws {
        #expect(failure(Data("SQLite format 3".utf8))?.code == .foreign)
        #expect(failure(Data("bplist15".utf8) + Self.library().dropFirst(8))?.code == .newer)
        #expect(failure(ListValue.list([.integer(1)]).bytes)?.code == .foreign)
        var writer = ArchiveWriter()
        let mapping = writer.object(["NSMappingModel"], [])
        #expect(failure(writer.archive(mapping))?.code == .foreign)
        #expect(failure(writer.archive(mapping, version: 200_000))?.code == .newer)
        let cut = try #require(failure(Self.library().dropLast(40)))
        #expect(cut.offset != nil && cut.description.hasPrefix("Model.mom at byte "))
    }

    @Test func `values that contain each other are refused`() throws {
        #expect(failure(ListValue.list([.integer(1), .positions([0])]).bytes)?.code == .cyclic)
        // Objects of an archive that are parts of each other without end.
        var writer = ArchiveWriter()
        let number = writer.reserve()
        let parts = writer.array(Array(repeating: .reference(number), count: 100))
        writer.object(
            ["NSCompositeAttributeDescription", "NSAttributeDescription"],
            [
                ("NSPropertyName", writer.text("a")), ("NSAttributeType", .integer(2100)),
                ("NSCompositeElements", parts),
            ],
            at: number)
        #expect(failure(writer.model([writer.entity("Thing", [("a", .reference(number))])]))?.code == .tooLarge)
        var texts = ArchiveWriter()
        let text = texts.reserve()
        texts.object(["NSMutableString"], [("NS.string", .reference(text))], at: text)
        #expect(failure(texts.model([texts.entity("Thing", [], [("NSClassNameForEntity", .reference(text))])])) == nil)
    }
}
