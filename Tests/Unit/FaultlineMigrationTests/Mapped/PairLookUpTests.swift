import Faultline
import FaultlineMigration
import Testing

/// Look-ups of old and new objects by a mapping.
struct PairLookUpTests {
    final class AskingPolicy: EntityMigrationPolicy {
        override func createRelationships(
            forDestination dInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
            let own = try manager.sourceInstances(
                forEntityMappingName: mapping.name, destinationInstances: [dInstance])
            let others = try manager.destinationInstances(forEntityMappingName: "B->B", sourceInstances: own)
            let sources = try manager.sourceInstances(
                forEntityMappingName: "B->B", destinationInstances: [dInstance])
            PolicyNotes.current.add("\(own.count) \(others.count) \(sources.count)")
        }
    }

    /// The objects have the same numbers.
    @Test func `a mapping has no pairs of objects of another entity`() throws {
        let label = Schema.Attribute(name: "n", valueType: String.self)
        let old = Schema(
            entities: [Schema.Entity("A", properties: label), Schema.Entity("B", properties: label)],
            version: Schema.Version(1, 0, 0))
        let size = Schema.Attribute(name: "size", valueType: Int?.self)
        let new = Schema(
            entities: [Schema.Entity("A", properties: label, size), Schema.Entity("B", properties: label)],
            version: Schema.Version(2, 0, 0))
        let store = try ChangedStore(
            old, ["A", "B"].flatMap { [SchemaChange.Sample($0, "1"), SchemaChange.Sample($0, "2")] })
        let model = MappingModel(
            EntityMapping(from: "B", to: "B"), EntityMapping(from: "A", to: "A", policy: AskingPolicy.self))
        let notes = PolicyNotes()
        try PolicyNotes.$current.withValue(notes) { try store.open(new, mapping: model) { _, _ in } }
        #expect(notes.all == ["1 0 0", "1 0 0"])
    }

    private static let label = Schema.Attribute(name: "n", valueType: String.self)

    /// A version with objects that have a label, and from the second one on a place.
    private func version(_ number: Int) -> Schema {
        let place = Schema.Attribute(name: "place", valueType: Int?.self)
        let entity =
            number == 1
            ? Schema.Entity("A", properties: Self.label) : Schema.Entity("A", properties: Self.label, place)
        return Schema(entities: [entity], version: Schema.Version(number, 0, 0))
    }

    private func store(of count: Int) throws -> ChangedStore {
        try ChangedStore(version(1), (1...count).map { SchemaChange.Sample("A", "\($0)") })
    }

    /// Makes two objects of each old one.
    final class DoublingPolicy: EntityMigrationPolicy {
        override func createDestinationInstances(
            forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            for _ in 0..<2 {
                try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
            }
        }
    }

    @Test func `a new object that code saves before it has all values leaves the number to the next`() throws {
        let store = try store(of: 6)
        let place = PropertyMapping(
            "place",
            .computed { _, manager in
                let place = manager.userInfo["place"] as? Int ?? 0
                manager.userInfo["place"] = place + 1
                // Saves the first of the two.
                if place % 2 == 0 {
                    _ = try manager.destinationInstances(forEntityMappingName: "A->A", sourceInstances: nil)
                }
                return place
            })
        let model = MappingModel(
            EntityMapping(
                from: "A", to: "A", attributes: [PropertyMapping("n", .source("n")), place],
                policy: DoublingPolicy.self))
        try store.open(version(2), mapping: model) { container, context in
            let objects = try context.fetch(FetchRequest(entityName: "A"))
            let seconds = objects.filter { ($0["place"] as? Int ?? 0) % 2 == 1 }
            #expect(objects.count == 12)
            #expect(seconds.map { $0["n"] as? String } == (1...6).map { "\($0)" })
            #expect(seconds.map { $0.objectID.primaryKey } == (1...6).map { $0 })
            try #expect(store.findings(container) == [])
        }
    }

    /// Makes one object of the first three, and three objects of the third and each later one.
    final class ChainingPolicy: EntityMigrationPolicy {
        override func createDestinationInstances(
            forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            let number = Int(sInstance["n"] as? String ?? "") ?? 0
            if number <= 3 {
                let known = manager.userInfo["one"] as? ManagedObject
                let one = try known ?? Self.make("one", manager)
                manager.userInfo["one"] = one
                try manager.associate(sourceInstance: sInstance, withDestinationInstance: one, for: mapping)
            }
            for place in number < 3 ? 0..<0 : 0..<3 {
                let made = try Self.make("\(number).\(place)", manager)
                try manager.associate(sourceInstance: sInstance, withDestinationInstance: made, for: mapping)
            }
        }

        private static func make(_ label: String, _ manager: MigrationManager) throws -> ManagedObject {
            let object = try manager.destinationContext.insertNewObject(forEntityName: "A")
            object["n"] = label
            return object
        }

        override func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
            func labels(_ objects: [ManagedObject]) -> String {
                objects.map { $0["n"] as? String ?? "" }.joined(separator: " ")
            }
            for old in try manager.sourceContext.fetch(FetchRequest(entityName: "A")) {
                let found = try manager.destinationInstances(
                    forEntityMappingName: mapping.name, sourceInstances: [old])
                let areUnsaved = found.allSatisfy { $0.isInserted }
                #expect(areUnsaved)
                PolicyNotes.current.add("\(labels([old])): \(labels(found))")
                guard let last = found.last else { continue }
                let sources = try manager.sourceInstances(
                    forEntityMappingName: mapping.name, destinationInstances: [last])
                PolicyNotes.current.add("\(labels([last])): \(labels(sources))")
            }
        }
    }

    @Test func `one to many and many to one are found in one batch`() throws {
        let store = try store(of: 4)
        let model = MappingModel(EntityMapping(from: "A", to: "A", policy: ChainingPolicy.self))
        let notes = PolicyNotes()
        try PolicyNotes.$current.withValue(notes) {
            try store.open(version(2), mapping: model) { container, context in
                try #expect(context.fetch(FetchRequest(entityName: "A")).count == 7)
                try #expect(store.findings(container) == [])
            }
        }
        #expect(
            notes.all == [
                "1: one", "one: 1 2 3", "2: one", "one: 1 2 3", "3: one 3.0 3.1 3.2", "3.2: 3", "4: 4.0 4.1 4.2",
                "4.2: 4",
            ])
    }
}
