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
}
