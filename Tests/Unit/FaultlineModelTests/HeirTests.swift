import FaultlineModel
import Testing

/// The subclasses that the entity of a table lists.
@Suite struct HeirTests {
    private typealias Attribute = Schema.Attribute
    private typealias Heir = Schema.Heir

    private func table() -> Schema.Entity {
        let entity = Schema.Entity(
            "Trip", properties: Attribute(name: "name", valueType: String.self),
            Attribute(name: "$Work", valueType: Bool?.self), Attribute(name: "firm", valueType: String?.self),
            Attribute(name: "cost", valueType: Int?.self), Attribute(name: "$Talk", valueType: Bool?.self),
            Attribute(name: "topic", valueType: String?.self))
        entity.heirs = [
            Heir(
                name: "Work", superName: "Trip",
                columns: [
                    Heir.Column(property: "firm", column: "firm", isOptional: false),
                    Heir.Column(property: "cost", column: "cost", isOptional: true),
                ]),
            Heir(
                name: "Talk", superName: "Work",
                columns: [Heir.Column(property: "topic", column: "topic", isOptional: true)]),
        ]
        return entity
    }

    /// The mistake of a table after a change of it.
    private func mistake(_ change: (Schema.Entity) -> Void) -> SchemaError.Code? {
        let entity = table()
        change(entity)
        do throws(SchemaError) { try Schema(entity).validate() } catch { return error.code }
        return nil
    }

    @Test func `a fingerprint does not depend on the order in which a subclass declares its properties`() {
        let other = table()
        other.heirs[0].columns.reverse()
        #expect(other.fingerprint == table().fingerprint)
        other.heirs[0].columns[0].isOptional = false
        #expect(other.fingerprint != table().fingerprint)
    }

    @Test func `each class is listed once, behind its superclass`() {
        #expect(mistake({ _ in }) == nil)
        #expect(mistake({ $0.heirs[1].name = "Work" }) == .duplicateName)
        #expect(mistake({ $0.heirs[1].name = "Trip" }) == .duplicateName)
        #expect(mistake({ $0.heirs[0].superName = "Talk" }) == .unknownSuperentity)
        #expect(mistake({ $0.heirs[0].superName = "Missing" }) == .unknownSuperentity)
        #expect(mistake({ $0.heirs.reverse() }) == .unknownSuperentity)
    }

    @Test func `a mark is an optional stored Bool`() {
        let marks = [
            Attribute(name: "$Work", valueType: Bool.self), Attribute(name: "$Work", valueType: Int?.self),
            Attribute(name: "$Work", options: [.ephemeral], valueType: Bool?.self),
            Attribute(name: "$Other", valueType: Bool?.self),
        ]
        for mark in marks { #expect(mistake({ $0.storedProperties[1] = mark }) == .unknownProperty) }
    }

    @Test func `each property of a class has a column of its own, which is no mark`() {
        #expect(mistake({ $0.heirs[0].columns[0].column = "nowhere" }) == .unknownProperty)
        #expect(mistake({ $0.heirs[0].columns[0].column = "$Talk" }) == .unknownProperty)
        #expect(mistake({ $0.heirs[0].columns[0].column = "cost" }) == .duplicateName)
        #expect(mistake({ $0.heirs[1].columns[0].column = "firm" }) == .duplicateName)
    }

    @Test(.timeLimit(.minutes(1))) func `the columns of classes that inherit from each other are found`() {
        let entity = table()
        entity.heirs[0].superName = "Talk"
        #expect(Set(entity.columnNames(ofClass: "Talk").keys) == ["name", "firm", "cost", "topic"])
    }
}
