import FaultlineCoreData
import Testing

/// Unknown parts, and models that contradict themselves: each is reported, none ends the reading.
struct ModelContradictionTests {
    private func version(_ inside: String) throws -> ModelVersion {
        let version = try ModelVersion(xml: ModelText.model(inside), name: "Model")
        try version.schema.validate()
        return version
    }

    @Test func `unknown elements, attributes and values have their names, places and lines`() throws {
        let version = try version(
            """
            <future name="a"/>
            <entity name="Book" glow="YES" isAbstract="MAYBE">
                <attribute name="title" attributeType="String" shine="NO"><sparkle/></attribute>
                <relationship name="next" optional="YES" destinationEntity="Book" deletionRule="Explode" maxCount="many"/>
                <aura/>
            </entity>
            """)
        #expect(
            version.findings.map { "\($0.line ?? 0) \($0.place) \($0.name)" } == [
                "3  future", "4 Book glow", "4 Book isAbstract", "5 Book.title shine", "5 Book.title sparkle",
                "6 Book.next maxCount", "6 Book.next deletionRule", "7 Book aura",
            ])
        #expect(version.findings.allSatisfy { $0.kind == .unknown })
        #expect(version.schema.entities.map(\.name) == ["Book"])
        #expect(
            version.findings.last?.description == "Book: aura (line 7): This element is not known, and was passed over."
        )
    }

    @Test func `a name that is there twice counts once`() throws {
        let version = try version(
            ModelText.entity(
                "Book", "",
                ModelText.attribute("a", "String") + ModelText.attribute("a", "Date")
                    + ModelText.relationship("a", to: "Book"))
                + ModelText.entity("Book", "", ModelText.attribute("b", "String"))
                + ModelText.entity("Comic", "parentEntity=\"Book\"", ModelText.attribute("a", "Boolean")))
        #expect(version.schema.entities.map(\.name) == ["Book", "Comic"])
        #expect(version.schema.entitiesByName["Comic"]?.properties.map(\.name) == ["a"])
        #expect(version.findings.map(\.place).sorted() == ["", "Book.a", "Book.a", "Comic.a"])
        #expect(version.findings.allSatisfy { $0.kind == .invalid })
    }

    @Test func `entities that inherit from each other are cut`() throws {
        let version = try version(
            ModelText.entity("A", "parentEntity=\"B\"") + ModelText.entity("B", "parentEntity=\"A\"")
                + ModelText.entity("C", "parentEntity=\"Nothing\""))
        #expect(version.schema.entities.map(\.superentityName) == [nil, "A", nil])
        #expect(version.findings.map(\.place) == ["A", "C"])
    }

    @Test func `relationships that lead nowhere, and inverses that do not lead back`() throws {
        let version = try version(
            ModelText.entity(
                "A", "",
                ModelText.relationship("lost", to: "Nothing") + ModelText.relationship("b", to: "B", inverse: "missing")
                    + ModelText.relationship("c", to: "B", inverse: "d")
                    + "<relationship name=\"bare\" optional=\"YES\"/>")
                + ModelText.entity("B", "", ModelText.relationship("d", to: "A", inverse: "b")))
        #expect(version.schema.entitiesByName["A"]?.relationshipsByName.keys.sorted() == ["b", "c"])
        #expect(version.schema.entities.flatMap(\.relationships).allSatisfy { $0.inverseName == nil })
        #expect(version.findings.map(\.place) == ["A.lost", "A.b", "A.c", "A.bare", "B.d"])
    }

    @Test func `an inverse that leads to another entity is none`() throws {
        let version = try version(
            ModelText.entity("A", "", ModelText.relationship("x", to: "B", inverse: "y"))
                + ModelText.entity("B", "", ModelText.relationship("y", to: "C", inverse: "x"))
                + ModelText.entity("C", "", ModelText.attribute("x", "String")))
        #expect(version.schema.entities.flatMap(\.relationships).allSatisfy { $0.inverseName == nil })
        #expect(version.findings.map(\.place) == ["A.x", "B.y"])
    }

    @Test func `values, bounds, constraints and renaming identifiers that fit nothing`() throws {
        let version = try version(
            ModelText.entity(
                "A", "",
                ModelText.attribute("n", "Integer 16", "defaultValueString=\"70000\" elementID=\"x\"")
                    + ModelText.attribute("t", "Boolean", "defaultValueString=\"maybe\" elementID=\"x\"")
                    + ModelText.relationship("many", to: "A", "toMany=\"YES\" minCount=\"5\" maxCount=\"2\"")
                        + """
                        <uniquenessConstraints>
                            <uniquenessConstraint><constraint value="many"/></uniquenessConstraint>
                            <uniquenessConstraint><constraint value="gone"/></uniquenessConstraint>
                            <uniquenessConstraint><constraint value="n"/></uniquenessConstraint>
                        </uniquenessConstraints>
                        """))
        let entity = try #require(version.schema.entities.first)
        #expect(entity.uniquenessConstraints == [["n"]] && entity.attributesByName["n"]?.hasDefaultValue == false)
        #expect(
            version.findings.map(\.name) == [
                "uniquenessConstraint", "uniquenessConstraint", "defaultValueString", "defaultValueString", "elementID",
                "maxCount",
            ])
    }

    @Test(arguments: ["1.2.3", "2024-01-05", "-", "e", "0.1234567890123456789012345678901234567890123456", "1e300"])
    func `a decimal that does not fit whole is no default`(text: String) throws {
        let version = try version(
            ModelText.entity("A", "", ModelText.attribute("d", "Decimal", "defaultValueString=\"\(text)\"")))
        #expect(version.schema.entities.first?.attributesByName["d"]?.hasDefaultValue == false)
        #expect(version.findings.map(\.name) == ["defaultValueString"])
    }

    @Test func `composite types with parts of each other are bounded`() throws {
        let types = (0..<8).map { level in
            let part =
                level == 0 ? "attributeType=\"String\"" : "attributeType=\"Composite\" composite=\"T\(level - 1)\""
            let parts = (0..<20).map { "<attribute name=\"p\($0)\" optional=\"YES\" \(part)/>" }.joined()
            return "<composite name=\"T\(level)\">\(parts)</composite>"
        }
        let version = try version(
            ModelText.entity("A", "", ModelText.attribute("t", "Composite", "composite=\"T7\"")) + types.joined())
        #expect(version.schema.entities.map(\.properties.count) == [0])
        #expect(version.findings.contains { $0.place == "T2" && $0.name == "composite" })
    }

    @Test func `many names, and long lines of entities, take no long time`() throws {
        let attributes = (0..<20_000).map { ModelText.attribute("a\($0)", "String", "indexed=\"YES\"") }.joined()
        let chain = (0..<5_000).map { ModelText.entity("E\($0)", "parentEntity=\"E\($0 + 1)\"") }.joined()
        let version = try ModelVersion(
            xml: ModelText.model(ModelText.entity("Wide", "", attributes) + chain), name: "Model")
        // A schema with so many properties is refused by name.
        #expect(version.findings.contains { $0.place == "Wide" && $0.reason.contains("1000 is the most") })
        #expect(version.schema.entities.count == 5_001)
    }
}
