import FaultlineModel
import Testing

@Suite struct SchemaDifferenceTests {
    private typealias Attribute = Schema.Attribute
    private typealias Entity = Schema.Entity
    private typealias Relationship = Schema.Relationship
    private typealias Kind = SchemaDifference.Kind

    private func schema(_ properties: any SchemaProperty..., change: (Schema.Entity) -> Void = { _ in }) -> Schema {
        let entity = Entity("A", subentities: [], properties: properties)
        change(entity)
        return Schema(entity, Entity("B"), Entity("C"))
    }

    private func int(_ name: String = "x", original: String? = nil, default value: Int? = nil) -> Schema.Attribute {
        Attribute(name: name, originalName: original, valueType: Int.self, defaultValue: value)
    }

    private func toOne(_ destination: String = "B", isOptional: Bool = true) -> Schema.Relationship {
        Relationship(name: "r", destination: destination, isToOne: true, isOptional: isOptional)
    }

    private func toMany(_ destination: String = "B") -> Schema.Relationship {
        Relationship(name: "r", destination: destination, isToOne: false)
    }

    /// Expects exactly one change, with a reason.
    private func expect(
        _ kind: SchemaDifference.Kind, _ demand: SchemaDifference.Demand, isChecked: Bool = false, from old: Schema,
        to new: Schema, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let difference = SchemaDifference(from: old, to: new)
        #expect(difference.changes.map(\.kind) == [kind], sourceLocation: sourceLocation)
        #expect(difference.demand == demand, sourceLocation: sourceLocation)
        #expect(difference.changes.map(\.isCheckedAgainstObjects) == [isChecked], sourceLocation: sourceLocation)
        #expect(difference.changes.allSatisfy { $0.reason.hasSuffix(".") }, sourceLocation: sourceLocation)
    }

    @Test func findsNothingBetweenEqualSchemas() {
        let difference = SchemaDifference(from: company(), to: company())

        #expect(difference.isEmpty)
        #expect(difference.isLightweight)
    }

    @Test func classesEntities() {
        expect(.entityAdded, .lightweight, from: Schema(Entity("A")), to: Schema(Entity("A"), Entity("B")))
        expect(.entityRemoved, .lightweight, from: Schema(Entity("A"), Entity("B")), to: Schema(Entity("A")))
        let renamed = Entity("B", properties: int())
        renamed.originalName = "A"
        expect(
            .entityRenamed(from: "A"), .lightweight, from: Schema(Entity("A", properties: int())), to: Schema(renamed))
    }

    @Test func classesAttributes() {
        expect(.attributeAdded, .needsDefault, from: schema(), to: schema(int()))
        expect(.attributeAdded, .lightweight, from: schema(), to: schema(int(default: 1)))
        expect(
            .attributeAdded, .lightweight, from: schema(), to: schema(Attribute(name: "x", valueType: Int?.self)))
        expect(.attributeRemoved, .lightweight, from: schema(int()), to: schema())
        expect(.attributeRenamed(from: "x"), .lightweight, from: schema(int()), to: schema(int("y", original: "x")))
        expect(
            .attributeKindChanged(from: .int64, to: .string), .needsStage, from: schema(int()),
            to: schema(Attribute(name: "x", valueType: String.self)))
        expect(
            .attributeKindChanged(from: .int32, to: .int64), .lightweight,
            from: schema(Attribute(name: "x", valueType: Int32.self)), to: schema(int()))
        expect(
            .externalStorageChanged(isExternal: true), .lightweight, from: schema(int()),
            to: schema(Attribute(name: "x", options: [.externalStorage], valueType: Int.self)))
        expect(.attributeDefaultChanged, .lightweight, from: schema(int(default: 1)), to: schema(int(default: 2)))
        expect(
            .hashModifierChanged, .lightweight, from: schema(int()),
            to: schema(Attribute(name: "x", valueType: Int.self, hashModifier: "2")))
    }

    @Test func classesOptionality() {
        let optional = schema(Attribute(name: "x", valueType: Int?.self))
        expect(.attributeOptionalityChanged(isOptional: true), .lightweight, from: schema(int()), to: optional)
        expect(
            .attributeOptionalityChanged(isOptional: false), .needsDefault, isChecked: true, from: optional,
            to: schema(int()))
        let withDefault = schema(Attribute(name: "x", valueType: Int?.self, defaultValue: 1))
        expect(
            .attributeOptionalityChanged(isOptional: false), .lightweight, from: withDefault,
            to: schema(int(default: 1)))
    }

    @Test func classesTransience() {
        let transient = schema(Attribute(name: "x", options: [.ephemeral], valueType: Int.self))
        expect(.attributeTransienceChanged(isTransient: true), .lightweight, from: schema(int()), to: transient)
        expect(.attributeTransienceChanged(isTransient: false), .needsDefault, from: transient, to: schema(int()))
        let optional = schema(Attribute(name: "x", options: [.ephemeral], valueType: Int?.self))
        expect(.attributeTransienceChanged(isTransient: true), .lightweight, from: schema(int()), to: optional)
    }

    @Test func asksForNoStageWhereNothingIsStored() {
        let transient = schema(Attribute(name: "r", options: [.ephemeral], valueType: Int?.self))
        expect(.relationshipAdded, .lightweight, from: transient, to: schema(toOne()))
        expect(.relationshipRemoved, .lightweight, from: schema(toOne()), to: transient)
        let text = SchemaDifference(
            from: schema(Attribute(name: "r", options: [.ephemeral], valueType: Int?.self)),
            to: schema(Attribute(name: "r", valueType: String?.self)))
        #expect(text.demand == .lightweight)
        expect(
            .attributeKindChanged(from: .int64, to: .string), .lightweight, from: transient,
            to: schema(Attribute(name: "r", options: [.ephemeral], valueType: String?.self)))
    }

    @Test func classesRelationships() {
        expect(.relationshipAdded, .lightweight, from: schema(), to: schema(toOne()))
        expect(.relationshipAdded, .lightweight, from: schema(), to: schema(toMany()))
        expect(.relationshipAdded, .needsStage, from: schema(), to: schema(toOne(isOptional: false)))
        expect(.relationshipRemoved, .lightweight, from: schema(toOne()), to: schema())
        expect(
            .relationshipRenamed(from: "r"), .lightweight, from: schema(toOne()),
            to: schema(Relationship(name: "s", originalName: "r", destination: "B", isToOne: true)))
        expect(
            .relationshipCardinalityChanged(isToOne: false), .lightweight, from: schema(toOne()), to: schema(toMany()))
        expect(
            .relationshipCardinalityChanged(isToOne: true), .needsStage, from: schema(toMany()), to: schema(toOne()))
        expect(
            .relationshipDestinationChanged(from: "B", to: "C"), .needsStage, from: schema(toOne()),
            to: schema(toOne("C")))
        expect(
            .relationshipOptionalityChanged(isOptional: true), .lightweight, from: schema(toOne(isOptional: false)),
            to: schema(toOne()))
        expect(
            .relationshipOptionalityChanged(isOptional: false), .lightweight, isChecked: true, from: schema(toOne()),
            to: schema(toOne(isOptional: false)))
        expect(
            .deleteRuleChanged(from: .nullify, to: .cascade), .lightweight, from: schema(toMany()),
            to: schema(Relationship(name: "r", destination: "B", isToOne: false, deleteRule: .cascade)))
        expect(
            .relationshipCountsChanged, .lightweight, from: schema(toMany()),
            to: schema(Relationship(name: "r", destination: "B", isToOne: false, minimumModelCount: 1)))
        expect(
            .relationshipInverseChanged(from: nil, to: "r"), .needsStage, from: schema(toOne("A")),
            to: schema(Relationship(name: "r", destination: "A", isToOne: true, inverseName: "r")))
    }

    @Test func classesAttributesThatBecomeRelationships() {
        expect(.attributeBecameRelationship, .needsStage, from: schema(int("r")), to: schema(toOne()))
        expect(.relationshipBecameAttribute, .needsStage, from: schema(toOne()), to: schema(int("r")))
    }

    @Test func classesConstraintsAndIndexes() {
        let plain = schema(int(), int("y"))
        let unique = schema(int(), int("y")) { $0.uniquenessConstraints = [["y", "x"]] }
        expect(.uniquenessAdded(["x", "y"]), .lightweight, isChecked: true, from: plain, to: unique)
        expect(.uniquenessRemoved(["x", "y"]), .lightweight, from: unique, to: plain)
        let indexed = schema(int(), int("y")) { $0.indices = [["y", "x"]] }
        expect(.indexAdded(["y", "x"]), .lightweight, from: plain, to: indexed)
        expect(.indexRemoved(["y", "x"]), .lightweight, from: indexed, to: plain)
        let single = schema(Attribute(name: "x", options: [.unique], valueType: Int.self), int("y"))
        expect(.uniquenessAdded(["x"]), .lightweight, isChecked: true, from: plain, to: single)
    }

    @Test func doesNotTakeARenameForANewConstraint() {
        let old = schema(int()) {
            $0.uniquenessConstraints = [["x"]]
            $0.indices = [["x"]]
        }
        let new = schema(int("y", original: "x")) {
            $0.uniquenessConstraints = [["y"]]
            $0.indices = [["y"]]
        }
        expect(.attributeRenamed(from: "x"), .lightweight, from: old, to: new)
    }

    @Test func doesNotTakeARenameForANewDestination() {
        func schema(_ name: String) -> Schema {
            let target = Entity(
                name, properties: Relationship(name: "back", destination: "A", isToOne: true, inverseName: "r"))
            target.originalName = "B"
            let source = Entity(
                "A", properties: Relationship(name: "r", destination: name, isToOne: true, inverseName: "back"))
            return Schema(source, target)
        }
        expect(.entityRenamed(from: "B"), .lightweight, from: schema("B"), to: schema("D"))
    }

    /// A canonical name is the name under which a property was first stored, and works from every version since.
    @Test func followsCanonicalNames() {
        let first = schema(int("a"))
        let second = schema(int("b", original: "a"))
        let third = schema(int("c", original: "a"))
        let chained = schema(int("c", original: "b"))

        expect(.attributeRenamed(from: "a"), .lightweight, from: first, to: third)
        expect(.attributeRenamed(from: "b"), .lightweight, from: second, to: third)
        expect(.attributeRenamed(from: "b"), .lightweight, from: second, to: chained)
        #expect(
            SchemaDifference(from: first, to: chained).changes.map(\.kind) == [.attributeAdded, .attributeRemoved])
        #expect(SchemaDifference(from: second, to: second).isEmpty)
        #expect(SchemaDifference(from: second, to: schema(int("b"))).isEmpty)
    }

    @Test func prefersARenameThatIsSpelledOut() {
        let old = schema(int("a"), int("b"))
        let new = schema(int("b", original: "a"))
        let difference = SchemaDifference(from: old, to: new)
        #expect(difference.changes.map(\.kind) == [.attributeRenamed(from: "a"), .attributeRemoved])
        #expect(difference.oldPropertyNames["A"] == ["b": "a"])

        let second = schema(int("b", original: "a"), int("c"))
        let third = SchemaDifference(from: second, to: schema(int("c", original: "a")))
        #expect(third.changes.map(\.kind) == [.attributeRenamed(from: "b"), .attributeRemoved])

        let reused = SchemaDifference(from: schema(int("a")), to: schema(int("b", original: "a"), int("a", default: 0)))
        #expect(reused.changes.map(\.kind) == [.attributeRenamed(from: "a"), .attributeAdded])

        let steady = schema(int("b", original: "a"), int("a", default: 0))
        #expect(SchemaDifference(from: steady, to: steady).isEmpty)
    }

    @Test func letsPropertiesMoveInAHierarchy() {
        let old = Schema(
            Entity("Base", subentities: Entity("Sub", properties: int()), properties: int("y")))
        let new = Schema(
            Entity("Base", subentities: Entity("Sub"), properties: int("y"), int(default: 0)))
        let difference = SchemaDifference(from: old, to: new)

        #expect(difference.changes.map(\.entityName) == ["Base", "Sub"])
        #expect(difference.changes.map(\.kind) == [.attributeAdded, .attributeDefaultChanged])
        #expect(difference.isLightweight)
    }

    @Test func letsParentsAndChildrenComeAndGo() {
        let alone = Schema(Entity("A", properties: int()))
        let child = Schema(Entity("P", subentities: Entity("A", properties: int())))

        for (old, new) in [(alone, child), (child, alone)] {
            #expect(SchemaDifference(from: old, to: new).isLightweight)
            #expect(!SchemaDifference(from: old, to: new).isEmpty)
        }
    }

    @Test func refusesToMergeHierarchies() {
        let apart = Schema(Entity("A"), Entity("B"))
        let joined = Schema(Entity("P", subentities: Entity("A"), Entity("B")))
        let under = Schema(Entity("A", subentities: Entity("B")))

        for new in [joined, under] {
            let difference = SchemaDifference(from: apart, to: new)
            #expect(difference.demand == .needsStage)
            #expect(difference.changes.contains { $0.kind == .entityHierarchiesMerged })
        }
        #expect(SchemaDifference(from: joined, to: apart).isLightweight)
    }

    @Test func seesMembersOfComposites() {
        func schema(_ members: String...) -> Schema {
            Schema(
                Entity(
                    "A",
                    properties: Schema.CompositeAttribute(
                        name: "point", valueType: [Int].self, properties: members.map { int($0) })))
        }
        expect(.attributeMembersChanged, .lightweight, from: schema("x"), to: schema("x", "y"))
    }

    @Test func saysWhatTheWorstChangeAsksFor() {
        let difference = SchemaDifference(from: schema(int()), to: schema(toOne(isOptional: false), int("y")))

        #expect(difference.demand == .needsStage)
        #expect(difference.changes.map(\.demand) == [.needsStage, .needsDefault, .lightweight])
        #expect(difference.description.contains("A.y: needs a default value: "))
    }
}
