import Faultline
import FaultlineDisk
import FaultlineMigration
import Foundation
import Synchronization

/// Persons with one kilobyte each.
///
/// One in sixteen has a photo, which is a value of the person.
enum Large1: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Person.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    @Model final class Person {
        var number: Int
        var name: String
        var notes: String
        @Attribute(.externalStorage) var photo: Data?
        init(number: Int, name: String, notes: String) {
            self.number = number
            self.name = name
            self.notes = notes
        }
    }
}

/// Persons with the name in two parts, and photos as objects.
enum Large2: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Person.self, Photo.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model final class Person {
        var number: Int
        var firstName: String
        var lastName: String
        var notes: String
        var photo: Photo?
        init(number: Int, firstName: String, lastName: String, notes: String) {
            self.number = number
            self.firstName = firstName
            self.lastName = lastName
            self.notes = notes
        }
    }

    @Model final class Photo {
        @Attribute(.externalStorage) var bytes: Data?
        init() {}
    }
}

enum LargeStreamedPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Large1.self, Large2.self] }
    static var stages: [MigrationStage] { [.large { _ in }] }
}

/// The same plan with a stage that keeps every note that it reads.
enum LargeKeepingPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Large1.self, Large2.self] }
    static var stages: [MigrationStage] {
        [.large { old in kept.withLock { $0.append(Array(old.notes.utf8)) } }]
    }

    private static let kept = Guarded<[[UInt8]]>([])
}

extension MigrationStage {
    /// Splits the name of each person, and creates an object for the photo.
    ///
    /// - Parameter meet: Called with each person before its migration.
    /// - Returns: The stage.
    fileprivate static func large(_ meet: @escaping @Sendable (Large1.Person) -> Void) -> MigrationStage {
        .streamed(
            fromVersion: Large1.self, toVersion: Large2.self,
            StreamedEntity(Large1.Person.self) { old, output in
                meet(old)
                let parts = old.name.split(separator: " ")
                let new = Large2.Person(
                    number: old.number, firstName: String(parts[0]), lastName: String(parts[1]), notes: old.notes)
                if let blob = old.blob(\.photo) {
                    let photo = Large2.Photo()
                    photo.setBlob(blob, for: \.bytes)
                    new.photo = photo
                }
                try output.insert(new)
            })
    }
}

/// Splits the name of each person, and creates an object for the photo.
final class LargeSplitting: EntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        let person = try manager.destinationContext.insertNewObject(forEntityName: "Person")
        let parts = (sInstance["name"] as? String ?? "").split(separator: " ")
        person["number"] = sInstance["number"]
        person["firstName"] = String(parts[0])
        person["lastName"] = String(parts[1])
        person["notes"] = sInstance["notes"]
        if sInstance.blob(forKey: "photo") != nil {
            let photo = try manager.destinationContext.insertNewObject(forEntityName: "Photo")
            manager.moveBlob(from: sInstance, "photo", to: photo, "bytes")
            person["photo"] = photo
        }
        try manager.associate(sourceInstance: sInstance, withDestinationInstance: person, for: mapping)
    }
}

enum LargePolicyPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Large1.self, Large2.self] }
    static var stages: [MigrationStage] {
        [
            .mapped(
                fromVersion: Large1.self, toVersion: Large2.self,
                MappingModel(EntityMapping(from: "Person", to: "Person", policy: LargeSplitting.self)))
        ]
    }
}
