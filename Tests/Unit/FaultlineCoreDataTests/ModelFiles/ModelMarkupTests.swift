import FaultlineCoreData
import Testing

/// Models in XML: every part of them, and its counterpart in the schema.
struct ModelMarkupTests {
    private func version(_ inside: String, identifier: String = "") throws -> ModelVersion {
        try ModelVersion(xml: ModelText.model(inside, identifier: identifier), name: "Model")
    }

    // MARK: Attributes

    private static let types: [(name: String, text: String, kind: AttributeKind, value: any Hashable & Sendable)] = [
        ("Integer 16", "defaultValueString=\"-7\"", .int16, Int16(-7)),
        ("Integer 32", "defaultValueString=\"70000\"", .int32, Int32(70_000)),
        ("Integer 64", "defaultValueString=\"9223372036854775807\"", .int64, Int64.max),
        ("Integer 16", "defaultValueString=\"0.0\"", .int16, Int16(0)),
        ("Decimal", "defaultValueString=\"9.99\"", .decimal, Decimal(string: "9.99") ?? 0),
        ("Double", "defaultValueString=\"1.5\"", .double, 1.5),
        ("Float", "defaultValueString=\"0.25\"", .float, Float(0.25)),
        ("String", "defaultValueString=\"a &amp; b\"", .string, "a & b"),
        ("String", "defaultValueString=\"\"", .string, ""),
        ("Boolean", "defaultValueString=\"YES\"", .bool, true),
        ("Boolean", "defaultValueString=\"NO\"", .bool, false),
        ("Date", "defaultDateTimeInterval=\"697386720\"", .date, Date(timeIntervalSinceReferenceDate: 697_386_720)),
        (
            "UUID", "defaultValueString=\"6B29FC40-CA47-1067-B31D-00DD010662DA\"", .uuid,
            UUID(uuidString: "6B29FC40-CA47-1067-B31D-00DD010662DA") ?? UUID()
        ),
        (
            "URI", "defaultValueString=\"https://example.org/a\"", .url,
            URL(string: "https://example.org/a") ?? URL(filePath: "/")
        ),
    ]

    @Test(arguments: types.indices) func `each type has its kind, and its default`(index: Int) throws {
        let type = Self.types[index]
        let version = try version(ModelText.entity("Thing", "", ModelText.attribute("value", type.name, type.text)))
        #expect(version.findings == [])
        let attribute = try #require(version.schema.entities.first?.attributesByName["value"])
        #expect(attribute.kind == type.kind && !attribute.isOptional)
        #expect(attribute.defaultValue as? AnyHashable == AnyHashable(type.value))
    }

    @Test func `bytes, transformables, and types that cannot be stored`() throws {
        let version = try version(
            ModelText.entity(
                "Thing", "",
                ModelText.attribute("photo", "Binary", "optional=\"YES\" allowsExternalBinaryDataStorage=\"YES\"")
                    + ModelText.attribute(
                        "color", "Transformable",
                        "optional=\"YES\" valueTransformerName=\"ColorTransformer\" customClassName=\"Color\"")
                    + ModelText.attribute("any", "Undefined", "optional=\"YES\" transient=\"YES\"")
                    + ModelText.attribute("thing", "Undefined", "optional=\"YES\"")
                    + ModelText.attribute("new", "Quaternion")))
        let entity = try #require(version.entities.first)
        let color = try #require(entity.attribute(named: "color"))
        #expect(color.transformerName == "ColorTransformer" && color.valueClassName == "Color")
        let attributes = try #require(version.schema.entities.first).attributesByName
        #expect(attributes.keys.sorted() == ["any", "color", "photo"])
        #expect(attributes["any"]?.isTransient == true)
        #expect(attributes["photo"]?.kind == .data && attributes["photo"]?.isStoredExternally == true)
        #expect(attributes["color"]?.kind == .data && attributes["color"]?.isOptional == true)
        #expect(version.findings.map(\.place) == ["Thing.color", "Thing.thing", "Thing.new"])
        #expect(version.findings.map(\.kind) == [.unexpressed, .unexpressed, .unknown])
    }

    @Test func `every setting of an attribute is kept`() throws {
        let version = try version(
            ModelText.entity(
                "Thing", "",
                """
                <attribute name="code" optional="YES" attributeType="String" defaultValueString="x" minValueString="1" \
                maxValueString="64" regularExpressionString="[a-z]+" indexed="YES" elementID="oldCode" \
                versionHashModifier="2" preserveAfterDeletion="YES" allowsCloudEncryption="YES" \
                spotlightIndexingEnabled="YES" usesScalarValueType="NO" syncable="YES">
                    <userInfo><entry key="column" value="CODE"/></userInfo>
                </attribute>
                <attribute name="age" attributeType="Integer 16" minValueString="0" maxValueString="150"/>
                <attribute name="born" attributeType="Date" minDateTimeInterval="0" maxDateTimeInterval="86400"/>
                <attribute name="draft" attributeType="String" optional="YES" transient="YES"/>
                <attribute name="shout" attributeType="String" optional="YES" derived="YES" \
                derivationExpression="uppercase:(code)"/>
                """))
        let entity = try #require(version.entities.first)
        let code = try #require(entity.attribute(named: "code"))
        #expect(code.minimum == .integer(1) && code.maximum == .integer(64) && code.regularExpression == "[a-z]+")
        #expect(code.userInfo == ["column": "CODE"] && code.versionHashModifier == "2")
        #expect(entity.attribute(named: "age")?.maximum == .integer(150))
        #expect(entity.attribute(named: "born")?.maximum == .date(Date(timeIntervalSinceReferenceDate: 86_400)))
        #expect(entity.attribute(named: "shout")?.derivation == "uppercase:(code)")
        #expect(entity.attribute(named: "shout")?.isDerived == true && code.isDerived == false)

        let made = try #require(version.schema.entities.first)
        let attribute = try #require(made.attributesByName["code"])
        #expect(attribute.originalName == "oldCode" && attribute.hashModifier == "2" && attribute.isOptional)
        #expect(attribute.options == [.preserveValueOnDeletion, .allowsCloudEncryption, .spotlight])
        #expect(made.attributesByName["draft"]?.isTransient == true && made.indices == [["code"]])
        #expect(made.attributesByName["shout"]?.isTransient == false)
        #expect(
            version.findings.map { "\($0.place) \($0.name)" } == [
                "Thing.code minimum", "Thing.code maximum", "Thing.code regularExpression", "Thing.code userInfo",
                "Thing.age minimum", "Thing.age maximum", "Thing.born minimum", "Thing.born maximum",
                "Thing.shout derivationExpression",
            ])
    }

    @Test func `a composite attribute has its parts, also of other composites`() throws {
        let version = try version(
            ModelText.entity(
                "Person", "", ModelText.attribute("home", "Composite", "optional=\"YES\" composite=\"Address\""))
                    + """
                    <composite name="Address">
                        <attribute name="city" optional="YES" attributeType="String"/>
                        <attribute name="place" optional="YES" attributeType="Composite" composite="Place"/>
                    </composite>
                    <composite name="Place">
                        <attribute name="latitude" attributeType="Double" defaultValueString="0"/>
                    </composite>
                    """)
        #expect(version.findings == [])
        let home = try #require(
            version.schema.entities.first?.attributesByName["home"] as? Schema.CompositeAttribute)
        #expect(home.valueTypeName == "Address" && home.properties.map(\.name) == ["city", "place"])
        let place = try #require(home.properties.last as? Schema.CompositeAttribute)
        #expect(place.properties.map(\.kind) == [.double])
    }

    // MARK: Entities

    @Test func `every part of an entity and of a model is kept`() throws {
        let version = try version(
            ModelText.entity(
                "Book",
                "elementID=\"Volume\" versionHashModifier=\"3\" isAbstract=\"YES\" codeGenerationType=\"class\"",
                """
                <attribute name="title" attributeType="String" defaultValueString=""/>
                <attribute name="year" attributeType="Integer 16" defaultValueString="0"/>
                <fetchedProperty name="similar" optional="YES">
                    <fetchRequest name="fetchedPropertyFetchRequest" entity="Book" predicateString="year == $FETCH_SOURCE.year"/>
                </fetchedProperty>
                <compoundIndexes><compoundIndex><index value="title"/><index value="year"/></compoundIndex></compoundIndexes>
                <fetchIndex name="byYear"><fetchIndexElement property="year" type="Binary" order="descending"/></fetchIndex>
                <fetchIndex name="byLength">
                    <fetchIndexElement expression="length:(title)" expressionType="Integer 16" type="Binary" order="ascending"/>
                </fetchIndex>
                <uniquenessConstraints>
                    <uniquenessConstraint><constraint value="title"/><constraint value="year"/></uniquenessConstraint>
                </uniquenessConstraints>
                <userInfo><entry key="exported" value="yes"/></userInfo>
                """) + "\n" + ModelText.entity("Comic", "parentEntity=\"Book\"")
                    + """
                    <configuration name="Cloud" usedWithCloudKit="YES"><memberEntity name="Book"/></configuration>
                    <fetchRequest name="Old" entity="Book" predicateString="year &lt; 1900" fetchLimit="5"/>
                    """, identifier: "1.2")
        #expect(version.identifiers == ["1.2"] && version.schema.version == Schema.Version(1, 2, 0))
        let book = try #require(version.entities.first)
        #expect(book.className == "Book" && book.isAbstract && book.renamingIdentifier == "Volume")
        #expect(book.fetchedProperties.first?.request?.predicate == "year == $FETCH_SOURCE.year")
        #expect(book.indexes.map(\.name) == [nil, "byYear", "byLength"])
        #expect(book.indexes[1].elements.first?.isAscending == false)
        #expect(book.indexes[2].elements.first?.expression == "length:(title)")
        #expect(version.configurations.map(\.entityNames) == [["Book"]])
        #expect(version.fetchRequests.first?.settings == ["fetchLimit": "5"])
        #expect(version.fetchRequests.first?.predicate == "year < 1900")

        let entity = try #require(version.schema.entitiesByName["Book"])
        #expect(entity.originalName == "Volume" && entity.indices == [["title", "year"], ["year"]])
        #expect(entity.uniquenessConstraints == [["title", "year"]])
        let comic = try #require(version.schema.entitiesByName["Comic"])
        #expect(comic.superentityName == "Book" && comic.properties.map(\.name) == ["title", "year"])
        #expect(
            version.findings.map(\.name) == [
                "configuration", "isAbstract", "versionHashModifier", "userInfo", "fetchIndex", "fetchedProperty",
                "fetchRequest",
            ])
    }

    @Test func `every setting of a relationship is kept`() throws {
        let version = try version(
            ModelText.entity(
                "Album", "",
                ModelText.relationship(
                    "photos", to: "Photo", inverse: "album",
                    "toMany=\"YES\" ordered=\"YES\" minCount=\"2\" maxCount=\"12\" deletionRule=\"Cascade\" elementID=\"pictures\" versionHashModifier=\"m\""
                )
                    + ModelText.relationship(
                        "tags", to: "Photo", "optional=\"YES\" toMany=\"YES\" minCount=\"3\" deletionRule=\"Deny\""
                    )
                    + ModelText.relationship("all", to: "Photo", "toMany=\"YES\"")
                    + ModelText.relationship(
                        "recent", to: "Photo", "optional=\"YES\" maxCount=\"1\" transient=\"YES\"")
                    + ModelText.relationship(
                        "cover", to: "Photo", "maxCount=\"1\" deletionRule=\"No Action\" indexed=\"YES\""))
                + ModelText.entity(
                    "Photo", "", ModelText.relationship("album", to: "Album", inverse: "photos", "maxCount=\"1\"")))
        let album = try #require(version.schema.entitiesByName["Album"])
        let photos = try #require(album.relationshipsByName["photos"])
        #expect(!photos.isToOneRelationship && photos.deleteRule == .cascade && photos.inverseName == "album")
        #expect(photos.minimumModelCount == 2 && photos.maximumModelCount == 12)
        #expect(photos.originalName == "pictures" && photos.hashModifier == "m")
        #expect(version.entities.first?.relationship(named: "photos")?.isOrdered == true)
        let tags = try #require(album.relationshipsByName["tags"])
        #expect(tags.minimumModelCount == 0 && tags.deleteRule == .deny && tags.inverseName == nil)
        // Core Data saves no required relationship without objects.
        #expect(album.relationshipsByName["all"]?.minimumModelCount == 1)
        let cover = try #require(album.relationshipsByName["cover"])
        #expect(cover.isToOneRelationship && !cover.isOptional && cover.deleteRule == .noAction)
        #expect(album.relationshipsByName["recent"] == nil && album.indices == [["cover"]])
        #expect(album.attributesByName["recent"]?.isTransient == true)
        #expect(version.findings.map(\.name) == ["minCount"])
    }

    @Test func `the schema of a model opens a store`() throws {
        let version = try ModelVersion(xml: ModelText.library(), name: "Library")
        #expect(version.findings == [])
        let context = ModelContext(
            try ModelContainer(for: version.schema, configurations: ModelConfiguration(isStoredInMemoryOnly: true)))
        let author = try context.insertNewObject(forEntityName: "Author")
        let book = try context.insertNewObject(forEntityName: "Book")
        book.setValue("Emma", forKey: "title")
        book.setValue(author, forKey: "author")
        try context.save()
        #expect((author.value(forKey: "books") as? NSSet)?.count == 1)
    }

    @Test func `a schema with inheritance opens a store, and each entity keeps its own objects`() throws {
        let version = try version(
            ModelText.entity("Item", "isAbstract=\"YES\"", ModelText.attribute("name", "String"))
                + ModelText.entity("Book", "parentEntity=\"Item\"", ModelText.attribute("year", "Integer 16")))
        let context = ModelContext(
            try ModelContainer(for: version.schema, configurations: ModelConfiguration(isStoredInMemoryOnly: true)))
        let book = try context.insertNewObject(forEntityName: "Book")
        book.setValue("Emma", forKey: "name")
        book.setValue(1815, forKey: "year")
        try context.save()
        let books = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book"))
        #expect(books.map { $0.value(forKey: "name") as? String } == ["Emma"])
        #expect(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item")).isEmpty)
    }
}
