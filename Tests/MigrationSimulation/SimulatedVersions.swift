package import Faultline
internal import Foundation

/// The schema that a simulated migration starts from.
package enum Simulated1: VersionedSchema {
    package static var models: [any PersistentModel.Type] { [Person.self, Note.self] }
    package static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    @Model package final class Person {
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

/// The schema that it leads to: towns and photos are objects.
package enum Simulated2: VersionedSchema {
    package static var models: [any PersistentModel.Type] { [Person.self, Note.self, Town.self, Photo.self] }
    package static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model package final class Person {
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
                    let parts = old.name.split(separator: " ")
                    let new = Simulated2.Person(
                        number: old.number, first: String(parts.first ?? ""), last: String(parts.last ?? ""))
                    new.town = try output.upsert(Simulated2.Town(name: old.town))
                    // Every fourth photo is left behind.
                    if old.number % 8 != 0, let blob = old.blob(\.photo) {
                        let photo = Simulated2.Photo()
                        photo.setBlob(blob, for: \.bytes)
                        new.photo = photo
                    }
                    try output.insert(new)
                })
        ]
    }
}
