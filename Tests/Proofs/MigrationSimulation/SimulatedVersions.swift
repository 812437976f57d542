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

    /// Carried over as it is.
    @Model package final class Note {
        var text: String
        var person: Person?
        init(text: String) { self.text = text }
    }
}

/// The target of a lightweight step: notes may belong to several persons, and no two have the same text.
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

    /// Distinguishes the new state from the old one.
    @Model package final class Town {
        var name: String
        init(name: String) { self.name = name }
    }
}

/// The target of a simulated migration: towns and photos are objects.
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
    /// Makes a person from one of the previous version; every fourth photo is left behind.
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

/// The target of custom stages: names in two parts beside the old one, towns as objects, and no notes.
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

/// The target of a second custom stage, without the old name.
package enum SimulatedCustom3: VersionedSchema {
    package static var models: [any PersistentModel.Type] { [Person.self, Town.self, Memo.self] }
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

    @Model package final class Memo {
        var text: String
        var person: Person?
        init(text: String) { self.text = text }
    }
}

/// Two custom stages, so that a resumed second stage begins with the first one's result.
package enum SimulatedCustomPlan: SchemaMigrationPlan {
    package static var schemas: [any VersionedSchema.Type] {
        [Simulated1.self, SimulatedCustom2.self, SimulatedCustom3.self]
    }
    package static var stages: [MigrationStage] {
        [
            .custom(
                fromVersion: Simulated1.self, toVersion: SimulatedCustom2.self,
                willMigrate: { context in
                    // Deletes every fourth person, together with a photo of the old state; the first of them also
                    // deletes the note's.
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
                        // A photo from the stage replaces the old state's.
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
                    // Replaces the first stage's maps and photos.
                    for town in try context.fetch(FetchDescriptor<SimulatedCustom3.Town>()) {
                        town.map = SimulatedWork.photo(of: town.people.count, 4)
                    }
                    let people = try context.fetch(FetchDescriptor<SimulatedCustom3.Person>())
                    for person in people where person.number % 8 == 0 { person.photo = nil }
                    try SimulatedWork.insertMemos(context, people)
                    try context.save()
                }),
        ]
    }
}

/// The same conversion as `SimulatedPlan` by mappings, which continues after a cut.
package enum SimulatedResumablePlan: SchemaMigrationPlan {
    package static var schemas: [any VersionedSchema.Type] { SimulatedMappedPlan.schemas }
    package static var stages: [MigrationStage] {
        SimulatedMappedPlan.stages(SimulatedResumableTownPolicy.self)
    }
}

/// The same conversion as `SimulatedPlan` by mappings.
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

/// The same for a stage that can continue.
final class SimulatedResumableTownPolicy: SimulatedTownPolicy, ResumablePolicy {}

/// Makes one town for all persons that name it.
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
