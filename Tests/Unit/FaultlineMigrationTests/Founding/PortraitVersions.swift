import Faultline
import Foundation

/// People whose photos are attributes of their own.
enum Portraits1: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Person.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    @Model final class Person {
        var name: String
        var photo: Data?
        init(name: String, photo: Data?) {
            self.name = name
            self.photo = photo
        }
    }
}

/// People whose photos are separate objects, outside the rows.
enum Portraits2: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Person.self, Photo.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model final class Person {
        var name: String
        @Relationship(deleteRule: .cascade, inverse: \Photo.person) var photo: Photo?
        init(name: String) { self.name = name }
    }

    @Model final class Photo {
        @Attribute(.externalStorage) var bytes: Data
        var person: Person?
        init(bytes: Data) { self.bytes = bytes }
    }
}

/// Makes a photo for each person that has one.
final class PhotoSplitting: EntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        let person = try manager.destinationContext.insertNewObject(forEntityName: "Person")
        person["name"] = sInstance["name"]
        if sInstance.blob(forKey: "photo") != nil {
            let photo = try manager.destinationContext.insertNewObject(forEntityName: "Photo")
            manager.moveBlob(from: sInstance, "photo", to: photo, "bytes")
            person["photo"] = photo
        }
        try manager.associate(sourceInstance: sInstance, withDestinationInstance: person, for: mapping)
    }
}

enum PortraitPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Portraits1.self, Portraits2.self] }
    static var stages: [MigrationStage] {
        [
            .mapped(
                fromVersion: Portraits1.self, toVersion: Portraits2.self,
                MappingModel(EntityMapping(from: "Person", to: "Person", policy: PhotoSplitting.self)))
        ]
    }
}
