import Faultline
import FaultlineMigration
import Foundation

enum Flat1: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Person.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    @Model final class Person {
        var number: Int
        var name: String
        var note: String
        init(number: Int, name: String, note: String) {
            self.number = number
            self.name = name
            self.note = note
        }
    }
}

/// The same with an initial, and with an index of the names.
enum Flat2: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Person.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model final class Person {
        #Index<Person>([\.name])
        var number: Int
        var name: String
        var note: String
        var initial: String = ""
        init(number: Int, name: String, note: String, initial: String) {
            self.number = number
            self.name = name
            self.note = note
            self.initial = initial
        }
    }
}

/// Sets the initial of each person.
final class FlatPolicy: EntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        let person = try manager.destinationContext.insertNewObject(forEntityName: "Person")
        person["number"] = sInstance["number"]
        person["name"] = sInstance["name"]
        person["note"] = sInstance["note"]
        person["initial"] = (sInstance["name"] as? String).map { String($0.prefix(1)) }
        try manager.associate(sourceInstance: sInstance, withDestinationInstance: person, for: mapping)
    }
}

enum FlatPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Flat1.self, Flat2.self] }
    static var stages: [MigrationStage] {
        [
            MatrixKind.stage(
                from: Flat1.self, to: Flat2.self,
                streamed: {
                    .streamed(
                        fromVersion: Flat1.self, toVersion: Flat2.self,
                        StreamedEntity(Flat1.Person.self) { old, output in
                            let name = old.name
                            try output.insert(
                                Flat2.Person(
                                    number: old.number, name: name, note: old.note, initial: String(name.prefix(1))))
                        })
                },
                mapped: MappingModel(
                    EntityMapping(
                        from: "Person", to: "Person", attributes: [PropertyMapping("initial", .constant("F"))])),
                policy: MappingModel(EntityMapping(from: "Person", to: "Person", policy: FlatPolicy.self)),
                custom: { context in
                    try saveInBatches(context, Flat2.Person.self) { $0.initial = String($0.name.prefix(1)) }
                })
        ]
    }
}

enum FlatSubject: MatrixSubject {
    static var oldModels: [any PersistentModel.Type] { Flat1.models }
    static func newModels(_ kind: MatrixCell.Kind) -> [any PersistentModel.Type] { Flat2.models }
    static func plan(_ kind: MatrixCell.Kind) -> any SchemaMigrationPlan.Type { FlatPlan.self }

    static func fill(_ context: ModelContext, _ size: Int) throws {
        for number in 0..<size {
            context.insert(
                Flat1.Person(
                    number: number, name: "First\(number) Last\(number)", note: "A note of forty bytes, for \(number)"))
            if number % 10_000 == 9_999 { try context.save() }
        }
        try context.save()
    }

    static func isRight(_ context: ModelContext, _ size: Int, _ kind: MatrixCell.Kind) throws -> Bool {
        let initial = kind == .lightweight ? "" : "F"
        let numbers = size / 2
        let middle = "First\(numbers) Last\(numbers)"
        return try context.fetchCount(
            FetchDescriptor<Flat2.Person>(predicate: #Predicate { $0.initial == initial && $0.note != "" })) == size
            && context.fetch(FetchDescriptor<Flat2.Person>(predicate: #Predicate { $0.name == middle })).map(\.number)
                == [numbers]
    }
}
