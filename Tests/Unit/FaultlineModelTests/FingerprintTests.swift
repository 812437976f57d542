import FaultlineModel
import Testing

@Suite struct FingerprintTests {
    /// Published vectors of FNV-1a 128 for the empty text, "a" and "foobar".
    @Test(arguments: [
        ("", "6c62272e07bb014262b821756295c58d"),
        ("a", "d228cb696f1a8caf78912b704e4a8964"),
        ("foobar", "343e1662793c64bf6f0d3597ba446f18"),
    ])
    func agreesWithPublishedVectors(text: String, digits: String) {
        #expect(Fingerprint(of: text).description == digits)
    }

    @Test func isWrittenWithAllDigits() {
        #expect(Fingerprint(high: 0x1, low: 0xab).description == "000000000000000100000000000000ab")
    }

    private typealias Attribute = Schema.Attribute
    private typealias Relationship = Schema.Relationship

    private func employee(
        _ attribute: Schema.Attribute = Schema.Attribute(name: "level", valueType: Int.self),
        _ relationship: Schema.Relationship = Schema.Relationship(name: "boss", destination: "Boss", isToOne: true),
        name: String = "Employee"
    ) -> Schema.Entity {
        Schema.Entity(name, properties: attribute, relationship)
    }

    /// Pinned: a store compares fingerprints that other versions of the library wrote.
    @Test func doesNotChangeFromVersionToVersion() {
        let entity = employee()
        entity.uniquenessConstraints = [["level", "boss"]]
        #expect(entity.fingerprint.description == "0844d8a24a247276bd079d2ea6c96db5")
        #expect(Schema(entity).fingerprint.description == "8808a16bb79326a0072ec47b1f664644")
    }

    @Test func dependsOnWhatRowsMean() {
        let entity = employee()
        let attributes = [
            Attribute(name: "grade", valueType: Int.self), Attribute(name: "level", valueType: Int32.self),
            Attribute(name: "level", valueType: Int?.self),
            Attribute(name: "level", options: [.unique], valueType: Int.self),
            Attribute(name: "level", options: [.ephemeral], valueType: Int.self),
            Attribute(name: "level", valueType: Int.self, hashModifier: "2"),
        ]
        let relationships = [
            Relationship(name: "chief", destination: "Boss", isToOne: true),
            Relationship(name: "boss", destination: "Chief", isToOne: true),
            Relationship(name: "boss", destination: "Boss", isToOne: false),
            Relationship(name: "boss", destination: "Boss", isToOne: true, isOptional: false),
            Relationship(name: "boss", destination: "Boss", isToOne: true, inverseName: "staff"),
            Relationship(name: "boss", destination: "Boss", isToOne: true, minimumModelCount: 1),
            Relationship(name: "boss", destination: "Boss", isToOne: true, maximumModelCount: 1),
            Relationship(name: "boss", options: [.unique], destination: "Boss", isToOne: true),
            Relationship(name: "boss", destination: "Boss", isToOne: true, hashModifier: "2"),
        ]
        var entities = [entity, employee(name: "Person")]
        entities += attributes.map { employee($0) }
        entities += relationships.map { employee(Attribute(name: "level", valueType: Int.self), $0) }

        #expect(Set(entities.map(\.fingerprint)).count == entities.count)
        #expect(Set(entities.map { Schema($0).fingerprint }).count == entities.count)
    }

    @Test func doesNotDependOnTheRest() {
        let entity = employee()
        let other = Schema.Entity(
            "Employee",
            properties: Relationship(
                name: "boss", originalName: "head", destination: "Boss", isToOne: true, deleteRule: .cascade,
                minimumModelCount: nil, maximumModelCount: nil),
            Attribute(
                name: "level", originalName: "grade", options: [.externalStorage, .spotlight], valueType: Int64.self,
                defaultValue: 3))
        other.indices = [["level"]]

        #expect(entity.fingerprint == other.fingerprint)
        #expect(
            Schema(entity, version: .init(1, 0, 0)).fingerprint == Schema(other, version: .init(2, 0, 0)).fingerprint)
    }

    @Test func seesUniquenessHoweverItIsDeclared() {
        let entity = employee(Attribute(name: "level", options: [.unique], valueType: Int.self))
        let other = employee()
        other.uniquenessConstraints = [["level"], ["level"]]

        #expect(entity.fingerprint == other.fingerprint)
    }

    @Test func doesNotTakeOneNameForTwo() {
        let two = employee()
        let one = employee()
        two.uniquenessConstraints = [["a", "b"]]
        one.uniquenessConstraints = [["a\" \"b"]]
        #expect(two.fingerprint != one.fingerprint)

        one.uniquenessConstraints = [["a\\\" \"b"]]
        #expect(two.fingerprint != one.fingerprint)
    }

    @Test func doesNotDependOnTheOrderOfDeclarations() {
        let a = Attribute(name: "a", valueType: Int.self)
        let b = Attribute(name: "b", valueType: Int.self)

        let one = Schema(Schema.Entity("A", properties: a, b), Schema.Entity("B"))
        let other = Schema(Schema.Entity("B"), Schema.Entity("A", properties: b, a))
        #expect(one.fingerprint == other.fingerprint)
    }

    @Test func includesWhatIsInherited() {
        let base = Schema.Entity("Base", properties: Attribute(name: "a", valueType: Int.self))
        let wide = Schema.Entity("Base", properties: Attribute(name: "a", valueType: String.self))
        let sub = Schema.Entity("Sub")
        let other = Schema.Entity("Sub")
        base.subentities = [sub]
        wide.subentities = [other]

        #expect(sub.fingerprint != other.fingerprint)
        #expect(sub.fingerprint != Schema.Entity("Sub").fingerprint)
    }
}
