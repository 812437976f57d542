package import Faultline
internal import Foundation

/// The schema that a simulated migration starts from.
package enum Simulated1: VersionedSchema {
    package static var models: [any PersistentModel.Type] { [Person.self, Note.self] }
    package static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    @Model package final class Person {
        #Index<Person>([\.town, \.number])
        @Attribute(.unique) var number: Int
        var name: String
        var town: String
        @Attribute(.externalStorage) var photo: Data?
        init(number: Int, name: String, town: String) {
            self.number = number
            self.name = name
            self.town = town
        }
    }

    /// Goes over as it is.
    @Model package final class Note {
        var text: String
        var person: Person?
        init(text: String) { self.text = text }
    }
}

/// What a lightweight step leads to: notes may be of several persons, and no two have one text.
package enum SimulatedLinks2: VersionedSchema {
    package static var models: [any PersistentModel.Type] { [Person.self, Note.self, Town.self] }
    package static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model package final class Person {
        #Index<Person>([\.town, \.number], [\.name])
        @Attribute(.unique) var number: Int
        var name: String
        var town: String
        @Attribute(.externalStorage) var photo: Data?
        init(number: Int, name: String, town: String) {
            self.number = number
            self.name = name
            self.town = town
        }
    }

    @Model package final class Note {
        @Attribute(.unique) var text: String
        @Relationship(originalName: "person") var people: [Person] = []
        init(text: String) { self.text = text }
    }

    /// Tells the new state from the old one.
    @Model package final class Town {
        var name: String
        init(name: String) { self.name = name }
    }
}

/// The schema that it leads to: towns and photos are objects.
package enum Simulated2: VersionedSchema {
    package static var models: [any PersistentModel.Type] { [Person.self, Note.self, Town.self, Photo.self] }
    package static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model package final class Person {
        #Index<Person>([\.last, \.first], [\.town])
        @Attribute(.unique) var number: Int
        var first: String
        var last: String
        var town: Town?
        var photo: Photo?
        init(number: Int, first: String, last: String) {
            self.number = number
            self.first = first
            self.last = last
        }
    }

    @Model package final class Note {
        var text: String
        var person: Person?
        init(text: String) { self.text = text }
    }

    @Model package final class Town {
        @Attribute(.unique) var name: String
        @Relationship(inverse: \Person.town) var people: [Person] = []
        init(name: String) { self.name = name }
    }

    @Model package final class Photo {
        @Attribute(.externalStorage) var bytes: Data?
        init() {}
    }
}

package enum SimulatedPlan: SchemaMigrationPlan {
    package static var schemas: [any VersionedSchema.Type] { [Simulated1.self, Simulated2.self] }
    package static var stages: [MigrationStage] {
        [
            .streamed(
                fromVersion: Simulated1.self, toVersion: Simulated2.self,
                StreamedEntity(Simulated1.Person.self) { old, output in
                    try output.insert(Simulated2.Person(old, output))
                })
        ]
    }
}

extension Simulated2.Person {
    /// A person of the version before; every fourth photo is left behind.
    convenience init(_ old: Simulated1.Person, _ output: MigrationOutput) throws {
        let parts = old.name.split(separator: " ")
        self.init(number: old.number, first: String(parts.first ?? ""), last: String(parts.last ?? ""))
        town = try output.upsert(Simulated2.Town(name: old.town))
        if old.number % 8 != 0, let blob = old.blob(\.photo) {
            let photo = Simulated2.Photo()
            photo.setBlob(blob, for: \.bytes)
            self.photo = photo
        }
    }
}

/// The schema that custom stages lead to: names in two parts beside the old one, towns as objects, notes gone.
package enum SimulatedCustom2: VersionedSchema {
    package static var models: [any PersistentModel.Type] { [Person.self, Town.self] }
    package static var versionIdentifier: Schema.Version { Schema.Version(2, 1, 0) }

    @Model package final class Person {
        #Index<Person>([\.town, \.number], [\.first])
        @Attribute(.unique) var number: Int
        @Attribute(.unique) var name: String
        var town: String
        var first: String = ""
        var last: String = ""
        @Attribute(.externalStorage) var photo: Data?
        @Relationship(inverse: \Town.people) var places: [Town] = []
        init(number: Int, name: String, town: String) {
            self.number = number
            self.name = name
            self.town = town
        }
    }

    @Model package final class Town {
        @Attribute(.unique) var name: String
        @Attribute(.externalStorage) var map: Data?
        var people: [Person] = []
        init(name: String) { self.name = name }
    }
}

/// The schema behind a second custom stage: the old name is gone.
package enum SimulatedCustom3: VersionedSchema {
    package static var models: [any PersistentModel.Type] { [Person.self, Town.self] }
    package static var versionIdentifier: Schema.Version { Schema.Version(3, 1, 0) }

    @Model package final class Person {
        #Index<Person>([\.first, \.last])
        @Attribute(.unique) var number: Int
        var first: String = ""
        var last: String = ""
        @Attribute(.externalStorage) var photo: Data?
        @Relationship(inverse: \Town.people) var places: [Town] = []
        init(number: Int) { self.number = number }
    }

    @Model package final class Town {
        @Attribute(.unique) var name: String
        @Attribute(.externalStorage) var map: Data?
        var people: [Person] = []
        init(name: String) { self.name = name }
    }
}

/// Two custom stages, so that the first one's result is where the second begins again.
package enum SimulatedCustomPlan: SchemaMigrationPlan {
    package static var schemas: [any VersionedSchema.Type] {
        [Simulated1.self, SimulatedCustom2.self, SimulatedCustom3.self]
    }
    package static var stages: [MigrationStage] {
        [
            .custom(
                fromVersion: Simulated1.self, toVersion: SimulatedCustom2.self,
                willMigrate: { context in
                    // Every fourth person goes, with a photo of the old state; the first of them with the note's.
                    for person in try context.fetch(FetchDescriptor<Simulated1.Person>())
                    where person.number % 4 == 2 {
                        context.delete(person)
                    }
                    try context.save()
                },
                didMigrate: { context in
                    var towns: [String: SimulatedCustom2.Town] = [:]
                    for person in try context.fetch(FetchDescriptor<SimulatedCustom2.Person>()) {
                        let parts = person.name.split(separator: " ")
                        person.first = String(parts.first ?? "")
                        person.last = String(parts.last ?? "")
                        // The old state's photo gives way to one of the stage's.
                        if person.number % 8 == 0 { person.photo = SimulatedWork.photo(of: person.number, 2) }
                        let town = towns[person.town] ?? SimulatedCustom2.Town(name: person.town)
                        towns[person.town] = town
                        town.map = SimulatedWork.photo(of: person.number, 3)
                        person.places.append(town)
                        try context.save()
                    }
                }),
            .custom(
                fromVersion: SimulatedCustom2.self, toVersion: SimulatedCustom3.self, willMigrate: nil,
                didMigrate: { context in
                    // The first stage's maps and photos give way.
                    for town in try context.fetch(FetchDescriptor<SimulatedCustom3.Town>()) {
                        town.map = SimulatedWork.photo(of: town.people.count, 4)
                    }
                    for person in try context.fetch(FetchDescriptor<SimulatedCustom3.Person>())
                    where person.number % 8 == 0 {
                        person.photo = nil
                    }
                    try context.save()
                }),
        ]
    }
}

/// The way of `SimulatedPlan` by mappings, which goes on where it was cut.
package enum SimulatedResumablePlan: SchemaMigrationPlan {
    package static var schemas: [any VersionedSchema.Type] { SimulatedMappedPlan.schemas }
    package static var stages: [MigrationStage] {
        SimulatedMappedPlan.stages(SimulatedResumableTownPolicy.self)
    }
}

/// The way of `SimulatedPlan` by mappings.
package enum SimulatedMappedPlan: SchemaMigrationPlan {
    package static var schemas: [any VersionedSchema.Type] { [Simulated1.self, Simulated2.self] }
    package static var stages: [MigrationStage] { stages(SimulatedTownPolicy.self) }

    fileprivate static func stages(_ policy: EntityMigrationPolicy.Type) -> [MigrationStage] {
        [
            .mapped(
                fromVersion: Simulated1.self, toVersion: Simulated2.self,
                MappingModel(
                    EntityMapping(
                        from: "Person", to: "Person",
                        attributes: [PropertyMapping("first", part(0)), PropertyMapping("last", part(1))],
                        relationships: [
                            PropertyMapping("town", .counterparts(by: "towns")),
                            PropertyMapping("photo", .counterparts(by: "photos")),
                        ]),
                    EntityMapping(from: "Person", to: "Town", name: "towns", policy: policy),
                    // Every fourth photo is left behind.
                    EntityMapping(
                        from: "Person", to: "Photo", name: "photos",
                        attributes: [PropertyMapping("bytes", .source("photo"))],
                        where: Filter.key("photo") != nil && .matching { ($0["number"] as? Int ?? 0) % 8 != 0 })))
        ]
    }

    private static func part(_ place: Int) -> ValueExpression {
        .computed { person, _ in (person["name"] as? String)?.split(separator: " ")[place].description }
    }
}

/// The same, for a stage that goes on.
final class SimulatedResumableTownPolicy: SimulatedTownPolicy, ResumablePolicy {}

/// Makes one town of all persons that name it.
class SimulatedTownPolicy: EntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        let name = sInstance["town"] as? String ?? ""
        let request = FetchRequest(entityName: "Town", filter: Filter.key("name") == name)
        let found = try manager.destinationContext.fetch(request).first
        let town = try found ?? manager.destinationContext.insertNewObject(forEntityName: "Town")
        if found == nil { town["name"] = name }
        try manager.associate(sourceInstance: sInstance, withDestinationInstance: town, for: mapping)
    }
}
