import Faultline
import FaultlineDisk
import FaultlineTestSupport
import Foundation
import Synchronization
import Testing

/// How the entities of a schema are divided over stores, and which divisions are refused.
@Suite(.timeLimit(.minutes(2))) struct StoreDivisionTests {
    private let folder = TemporaryDirectory()

    private func place(_ name: String, _ schema: Schema? = nil) -> ModelConfiguration {
        HarborStores.configuration(name, folder.path, schema)
    }

    private func open(_ configurations: ModelConfiguration...) throws -> ModelContainer {
        try ModelContainer(for: Schema([HarborPier.self, HarborVisit.self]), configurations: configurations)
    }

    /// Two entities, the first of which may refer to the second.
    private func values(related: Bool = false, inherits: Bool = false) -> Schema {
        let name = Schema.Attribute(name: "name", valueType: String?.self)
        let link = Schema.Relationship(name: "load", destination: "Load", isToOne: true)
        let crane = related ? Schema.Entity("Crane", properties: name, link) : Schema.Entity("Crane", properties: name)
        let load = Schema.Entity("Load", properties: Schema.Attribute(name: "weight", valueType: Int?.self))
        if inherits { crane.subentities = [load] }
        return Schema(crane, load)
    }

    private func named(_ names: String..., in schema: Schema) -> Schema {
        Schema(entities: schema.entities.filter { names.contains($0.name) })
    }

    private func refusal(_ body: () throws -> ModelContainer) -> SeveralStoresError.Code? {
        do {
            _ = try body()
            return nil
        } catch let error as SeveralStoresError {
            #expect(error.message.count > 60 && error.description == error.message)
            if error.code != .ofOneStore { #expect(SwiftDataError.loadIssueModelContainer ~= error) }
            return error.code
        } catch {
            Issue.record("\(error)")
            return nil
        }
    }

    @Test func `a configuration without a schema has the rest`() throws {
        let container = try open(place("rest"), place("visits", Schema([HarborVisit.self])))
        #expect(
            container.stores.map { $0.schema.entities.map(\.name).sorted() } == [
                ["HarborBoat", "HarborPier"], ["HarborVisit"],
            ])
        #expect(container.schema.entities.count == 3 && container.configurations.count == 2)
        #expect(try container.store(for: HarborBoat.self) === container.stores[0])
        #expect(try container.store(forEntityNamed: "HarborVisit") === container.stores[1])
        #expect(throws: SwiftDataError.unknownSchema) { try container.store(for: Song.self) }
        let one = try container.store(for: HarborVisit.self)
        #expect(one.stores.count == 1 && one.stores[0] === one)
    }

    @Test func `one place, one name, and two without a schema are refused`() throws {
        let visits = Schema([HarborVisit.self])
        #expect(throws: SwiftDataError.duplicateConfiguration) { try open(place("a"), place("a", visits)) }
        let twin = ModelConfiguration("b", schema: visits, url: URL(filePath: "\(folder.path)/x/../a.store"))
        #expect(throws: SwiftDataError.duplicateConfiguration) { try open(place("a"), twin) }
        #expect(throws: SwiftDataError.duplicateConfiguration) { try open(place("a"), place("b")) }
        #expect(throws: SwiftDataError.configurationSchemaNotFoundInContainerSchema) {
            try open(place("a"), place("b", Schema([Song.self])))
        }
        // Nothing was made.
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test func `an entity has one store`() throws {
        let (piers, visits) = (Schema([HarborPier.self]), Schema([HarborVisit.self]))
        #expect(refusal { try open(place("a", piers), place("b", Schema([HarborBoat.self]))) } == .entityInTwoStores)
        #expect(refusal { try open(place("a", visits), place("b", visits), place("c")) } == .entityInTwoStores)
        let whole = Schema([HarborPier.self, HarborVisit.self])
        #expect(refusal { try open(place("a", whole), place("b")) } == .storeWithoutEntities)
        let three = Schema([HarborPier.self, HarborVisit.self, Song.self])
        #expect(
            refusal {
                try ModelContainer(for: three, configurations: [place("a", piers), place("b", visits)])
            } == .entityInNoStore)
    }

    @Test func `relationships and inheritance across stores are refused, with both entities`() throws {
        for (schema, code) in [
            (values(related: true), SeveralStoresError.Code.relationshipAcrossStores),
            (values(inherits: true), .inheritanceAcrossStores),
        ] {
            let configurations = [place("cranes"), place("loads", named("Load", in: schema))]
            let error = #expect(throws: SeveralStoresError.self) {
                try ModelContainer(for: schema, configurations: configurations)
            }
            #expect(error?.code == code)
            #expect(
                error?.message.contains("Crane (cranes)") == true && error?.message.contains("Load (loads)") == true)
        }
        let apart = values()
        let container = try ModelContainer(
            for: apart, configurations: [place("cranes"), place("loads", named("Load", in: apart))])
        let context = ModelContext(container)
        try context.insertNewObject(forEntityName: "Crane").setValue("c", forKey: "name")
        try context.insertNewObject(forEntityName: "Load").setValue(3, forKey: "weight")
        try context.save()
        #expect(try container.stores.map { try ModelContext($0).historyToken() != nil } == [true, true])
    }

    @Test func `a class that another store's class leads to is named with it`() throws {
        let error = #expect(throws: SeveralStoresError.self) {
            try open(place("a", Schema([HarborBoat.self])), place("b", Schema([HarborPier.self])), place("c"))
        }
        #expect(error?.code == .entityInTwoStores && error?.message.contains("a and b") == true)
    }

    @Test func `a plan is of one store`() throws {
        #expect(
            refusal {
                try ModelContainer(
                    for: HarborPier.self, HarborVisit.self, migrationPlan: HarborPlan.self,
                    configurations: place("a", Schema([HarborPier.self])), place("b"))
            } == .planOverSeveralStores)
        #expect(
            throws: SeveralStoresError.self,
            performing: {
                try ModelContainer.previewMigration(
                    for: HarborPier.self, HarborVisit.self, configurations: place("a"), place("b"))
            })
    }

    @Test func `each store is brought to its part of a new schema`() throws {
        let before = values()
        let url = place("cranes").url
        do {
            let container = try ModelContainer(
                for: before, configurations: [place("cranes"), place("loads", named("Load", in: before))])
            let context = ModelContext(container)
            try context.insertNewObject(forEntityName: "Crane").setValue("c", forKey: "name")
            try context.insertNewObject(forEntityName: "Load").setValue(3, forKey: "weight")
            try context.save()
            #expect(container.migrationReport.versions.isEmpty)
            try container.close()
        }
        let after = Schema(entities: values().entities, version: Schema.Version(2, 0, 0))
        after.entitiesByName["Load"]?.storedProperties.append(Schema.Attribute(name: "color", valueType: String?.self))
        let container = try ModelContainer(
            for: after, configurations: [place("cranes"), place("loads", named("Load", in: after))])
        #expect(container.stores.map { $0.configurations.first?.url } == [url, place("loads").url])
        let context = ModelContext(container)
        let load = try #require(try context.fetch(FetchRequest(entityName: "Load")).first)
        load.setValue("red", forKey: "color")
        try context.save()
        #expect(load.value(forKey: "weight") as? Int == 3)
        #expect(try context.count(for: FetchRequest(entityName: "Crane")) == 1)
    }

    @Test func `if one store cannot be opened, the others are closed again`() throws {
        try FileManager.default.createDirectory(atPath: "\(folder.path)/b.store", withIntermediateDirectories: true)
        try Data("no store".utf8).write(to: URL(filePath: "\(folder.path)/b.store/other"))
        #expect(throws: StorageError.self) {
            try open(place("a"), place("b", Schema([HarborVisit.self])))
        }
        // Another process, or this one, may open it for writing.
        let alone = try ModelContainer(for: HarborPier.self, configurations: place("a"))
        #expect(!alone.health.reasons.contains { $0.code == .closed })
    }

    @Test func `a user's data store is one of them`() throws {
        let server = Server("server \(UUID().uuidString)")
        var remote = ServerConfiguration(server)
        remote.schema = Schema([Voyage.self])
        let container = try ModelContainer(
            for: Schema([Voyage.self, HarborVisit.self]),
            configurations: [remote, ModelConfiguration("visits", isStoredInMemoryOnly: true)])
        let context = ModelContext(container)
        context.insert(Voyage("a"))
        context.insert(HarborVisit(1))
        try context.save()
        #expect(server.state.withLock { $0.objects.count } == 1)
        #expect(try ModelContext(container).fetch(FetchDescriptor<Voyage>()).map(\.code) == ["a"])

        // A rule of the other store is checked before the server is asked.
        context.uniquenessConflicts = .error
        context.insert(Voyage("b"))
        context.insert(HarborVisit(1))
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        #expect(server.state.withLock { $0.objects.count } == 1)
        context.rollback()

        // A refusal of the server leaves the other store as it was.
        server.state.withLock { $0.onCall = { throw CancellationError() } }
        context.insert(Voyage("b"))
        context.insert(HarborVisit(2))
        #expect(throws: CancellationError.self) { try context.save() }
        server.state.withLock { $0.onCall = nil }
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<HarborVisit>()) == 1)
        try context.save()
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<HarborVisit>()) == 2)
        #expect(server.state.withLock { $0.objects.count } == 2)
    }
}

private enum HarborVersion: VersionedSchema {
    static var models: [any PersistentModel.Type] { [HarborPier.self, HarborBoat.self, HarborVisit.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
}

private enum HarborPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [HarborVersion.self] }
    static var stages: [MigrationStage] { [] }
}
