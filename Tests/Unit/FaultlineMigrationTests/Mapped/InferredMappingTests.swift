import Faultline
import FaultlineMigration
import FaultlineTestSupport
import Testing

/// Mappings that are inferred from two schemas, and renames over several versions.
struct InferredMappingTests {
    private static let old = Schema(
        Schema.Entity(
            "Person",
            properties: Schema.Attribute(name: "fullName", originalName: "name", valueType: String.self),
            Schema.Attribute(name: "age", valueType: Int16?.self),
            Schema.Relationship(
                name: "home", originalName: "town", destination: "Town", isToOne: true, inverseName: "people")),
        Schema.Entity(
            "Town", properties: Schema.Attribute(name: "name", valueType: String.self),
            Schema.Relationship(name: "people", destination: "Person", isToOne: false, inverseName: "home")),
        Schema.Entity("Old", properties: Schema.Attribute(name: "x", valueType: Int.self)))

    /// The second rename of a property has the name of the first version as its original name.
    private static let new = Schema(
        Schema.Entity(
            "Person",
            properties: Schema.Attribute(name: "label", originalName: "name", valueType: String.self),
            Schema.Attribute(name: "age", valueType: Int.self, defaultValue: 18),
            Schema.Attribute(name: "note", valueType: String.self, defaultValue: "none"),
            Schema.Relationship(
                name: "place", originalName: "town", destination: "Town", isToOne: true, inverseName: "people")),
        Schema.Entity(
            "Town", properties: Schema.Attribute(name: "name", valueType: String.self),
            Schema.Relationship(name: "people", destination: "Person", isToOne: false, inverseName: "place")),
        Schema.Entity("New", properties: Schema.Attribute(name: "x", valueType: Int.self)))

    final class Shouting: EntityMigrationPolicy {
        override func createDestinationInstances(
            forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
            let made = try manager.destinationInstances(
                forEntityMappingName: mapping.name, sourceInstances: [sInstance])
            made.first?.setValue((sInstance.value(forKey: "fullName") as? String)?.uppercased(), forKey: "label")
        }
    }

    private func migrated(by model: MappingModel, _ body: (ModelContext, MigrationReport) throws -> Void) throws {
        let folder = TemporaryDirectory()
        var configuration = ModelConfiguration(
            url: URL(filePath: folder.path).appending(path: "store", directoryHint: .isDirectory))
        let container = try ModelContainer(for: Self.old, configurations: configuration)
        let context = ModelContext(container)
        let town = try context.insertNewObject(forEntityName: "Town")
        town["name"] = "Rome"
        for (name, age) in [("Ada", 36), ("Bob", nil)] {
            let person = try context.insertNewObject(forEntityName: "Person")
            person.setValues(forKeys: ["fullName": name, "age": age, "home": town])
        }
        try context.save()
        try container.close()
        configuration.options.migration.mapping = model
        configuration.options.migration.unhandledData = .drop
        let reopened = try ModelContainer(for: Self.new, configurations: configuration)
        try body(ModelContext(reopened), reopened.migrationReport)
        try reopened.close()
    }

    private func check(_ context: ModelContext, _ names: [String]) throws {
        let people = try context.fetch(FetchRequest(entityName: "Person", sortedBy: [.ascending("label")]))
        #expect(people.map { $0["label"] as? String } == names)
        #expect(people.map { $0["age"] as? Int } == [36, 18])
        #expect(people.allSatisfy { $0["note"] as? String == "none" })
        #expect(people.allSatisfy { $0.value(forKeyPath: "place.name") as? String == "Rome" })
        let town = try #require(try context.fetch(FetchRequest(entityName: "Town")).first)
        #expect((town["people"] as? [ManagedObject])?.count == 2)
    }

    @Test func `a mapping without properties follows a second rename`() throws {
        let model = MappingModel(EntityMapping(from: "Person", to: "Person"))
        try migrated(by: model) { context, _ in try check(context, ["Ada", "Bob"]) }
    }

    @Test func `inferred mappings name each entity and attribute, and can be run`() throws {
        let model = try MappingModel.inferred(from: Self.old, to: Self.new)
        #expect(model.entityMappings.map(\.name) == ["Person->Person", "Town->Town", "->New", "Old->"])
        #expect(model.entityMappings.map(\.mappingType) == [.transform, .copy, .add, .remove])
        #expect(model.entityMappings[0].attributeMappings.map(\.name) == ["label", "age", "note"])
        #expect(model.entityMappings[0].attributeMappings.map { $0.valueExpression == nil } == [false, false, true])
        try migrated(by: model) { context, report in
            #expect(report.stages.map(\.kind) == [.mapped])
            try check(context, ["Ada", "Bob"])
        }
    }

    @Test func `one of them can get a policy`() throws {
        var model = try MappingModel.inferred(from: Self.old, to: Self.new)
        for place in model.entityMappings.indices where model.entityMappings[place].name == "Person->Person" {
            model.entityMappings[place].entityMigrationPolicy = Shouting.self
        }
        model.entityMappings.removeAll { $0.mappingType == .copy }
        try migrated(by: model) { context, _ in try check(context, ["ADA", "BOB"]) }
    }

    @Test func `a change that needs code is refused with its place`() throws {
        let wider = Schema(
            Schema.Entity(
                "Person", properties: Schema.Attribute(name: "fullName", valueType: Int.self)),
            version: Schema.Version(3, 0, 0))
        let error = #expect(throws: MigrationError.self) { try MappingModel.inferred(from: Self.old, to: wider) }
        #expect(error?.code == .notLightweight && error?.stage == "1.0.0 → 3.0.0")
        #expect(error?.entityName == "Person" && error?.propertyName == "fullName")
    }
}
