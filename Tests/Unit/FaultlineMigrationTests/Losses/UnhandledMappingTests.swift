import Faultline
import FaultlineMigration
import Testing

/// Mappings without code handle only the values that they read, and the entities that they remove by name.
struct UnhandledMappingTests {
    private typealias Sample = SchemaChange.Sample

    private static func entity(_ name: String, _ properties: any SchemaProperty...) -> Schema.Entity {
        let label: [any SchemaProperty] = [Schema.Attribute(name: "n", valueType: String.self)]
        return Schema.Entity(name, subentities: [], properties: label + properties)
    }

    private static func number(_ name: String) -> Schema.Attribute {
        Schema.Attribute(name: name, valueType: Int?.self)
    }

    private static let old = Schema(
        entities: [
            entity("A", number("x"), number("y"), SchemaChange.one("b", "B")), entity("B"), entity("Gone", number("z")),
        ], version: Schema.Version(1, 0, 0))
    private static let new = Schema(
        entities: [entity("A", number("x")), entity("B")], version: Schema.Version(2, 0, 0))

    final class Policy: EntityMigrationPolicy {}

    /// The losses for which a mapping is refused; nil if it is run.
    private func refusal(
        _ model: MappingModel, to new: Schema = Self.new, _ treatment: MigrationOptions.UnhandledData = .fail
    ) throws -> String? {
        let store = try ChangedStore(
            Self.old,
            [
                Sample("B", "b1"), Sample("A", "a1", ["x": 1, "y": 2], to: ["b": ["b1"]]), Sample("A", "a2"),
                Sample("Gone", "g1"),
            ])
        do { try store.open(new, unhandledData: treatment, mapping: model) { _, _ in } } catch let error
            as MigrationError
        {
            #expect(error.code == .unhandledData)
            try store.open(Self.old) { container, _ in #expect(container.migrationReport.versions.isEmpty) }
            return error.message.replacing(" (1.0.0 → 2.0.0)", with: "")
                .split(separator: ": ", maxSplits: 1).last?.split(separator: ". Take").first.map(String.init)
        }
        return nil
    }

    @Test(arguments: [MigrationOptions.UnhandledData.fail, .byPlan])
    func `inferred mappings handle nothing`(_ treatment: MigrationOptions.UnhandledData) throws {
        let model = try MappingModel.inferred(from: Self.old, to: Self.new)
        #expect(model.entityMappings.map(\.name) == ["A->A", "B->B", "Gone->"])
        #expect(
            try refusal(model, to: Self.new, treatment)
                == "A.y of 1 object, A.b of 1 object, Gone of 1 object")
        #expect(try refusal(model, to: Self.new, .drop) == nil)
    }

    @Test func `a policy, an attribute that is read, and a removal by name handle them`() throws {
        var model = try MappingModel.inferred(from: Self.old, to: Self.new)
        model.entityMappings[0].entityMigrationPolicy = Policy.self
        #expect(try refusal(model) == "Gone of 1 object")
        model.entityMappings[2] = EntityMapping(from: "Gone", to: nil)
        #expect(try refusal(model) == nil)

        model = try MappingModel.inferred(from: Self.old, to: Self.new)
        model.entityMappings[0].attributeMappings[1] = PropertyMapping("x", .source("y"))
        #expect(try refusal(model) == "A.b of 1 object, Gone of 1 object")
        model.entityMappings[2].entityMigrationPolicy = Policy.self
        #expect(try refusal(model) == "A.b of 1 object")
    }

    @Test func `a mapping that was written by hand handles the values that it reads`() throws {
        let removal = EntityMapping(from: "Gone", to: nil)
        let copy = EntityMapping(from: "A", to: "A")
        #expect(try refusal(MappingModel(copy, removal)) == "A.y of 1 object, A.b of 1 object")
        let computed = EntityMapping(
            from: "A", to: "A", attributes: [PropertyMapping("x", .computed { old, _ in old["y"] })])
        #expect(try refusal(MappingModel(computed, removal)) == nil)
    }

    @Test func `objects that become those of another entity are not gone`() throws {
        let c = Self.entity("C", Self.number("y"), SchemaChange.one("b", "B"))
        let new = Schema(entities: [c, Self.entity("B")], version: Schema.Version(2, 0, 0))
        let model = MappingModel(EntityMapping(from: "A", to: "C"), EntityMapping(from: "Gone", to: nil))
        #expect(try refusal(model, to: new) == "A.x of 1 object")
    }
}
