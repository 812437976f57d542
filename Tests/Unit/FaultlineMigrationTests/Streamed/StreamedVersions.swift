import Faultline
import Foundation

enum Work1: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Employee.self, Project.self, Room.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    @Model final class Employee {
        @Attribute(.unique) var number: Int
        var name: String
        var city: String
        var photo: Data?
        var boss: Employee?
        var room: Room?
        init(number: Int, name: String, city: String) {
            self.number = number
            self.name = name
            self.city = city
        }
    }

    /// Carried over as it is, and refers to employees.
    @Model final class Project {
        var title: String
        var lead: Employee?
        init(title: String) { self.title = title }
    }

    @Model final class Room {
        var label: String
        @Relationship(inverse: \Employee.room) var people: [Employee] = []
        init(label: String) { self.label = label }
    }
}

/// Names are split in two parts, and cities and photos are separate objects.
enum Work2: VersionedSchema {
    static var models: [any PersistentModel.Type] {
        [Employee.self, Project.self, Room.self, City.self, Photo.self]
    }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model final class Employee {
        @Attribute(.unique) var number: Int
        var firstName: String
        var lastName: String
        var boss: Employee?
        var room: Room?
        var city: City?
        var photo: Photo?
        init(number: Int, firstName: String, lastName: String) {
            self.number = number
            self.firstName = firstName
            self.lastName = lastName
        }
    }

    @Model final class Project {
        var title: String
        var lead: Employee?
        init(title: String) { self.title = title }
    }

    @Model final class Room {
        var label: String
        @Relationship(inverse: \Employee.room) var people: [Employee] = []
        init(label: String) { self.label = label }
    }

    @Model final class City {
        @Attribute(.unique) var name: String
        var lastNumber: Int
        @Relationship(inverse: \Employee.city) var people: [Employee] = []
        init(name: String, lastNumber: Int) {
            self.name = name
            self.lastNumber = lastNumber
        }
    }

    @Model final class Photo {
        @Attribute(.externalStorage) var bytes: Data?
        @Relationship(inverse: \Employee.photo) var owner: Employee?
        init() {}
    }
}

/// Tells the closures of a test's stages how to behave, and keeps the numbers of the objects that they have seen.
///
/// It is set before the migration and read after it. A test without notes of its own has none: tests run side by side,
/// and two threads would change notes that two tests share at the same time.
// Safe because the one migration that has it as its task-local value runs its closure on one thread.
final class StageNotes: @unchecked Sendable {
    var throwsAt: Int?
    var failing: Set<Int> = []
    var isDryRun: Bool?
    var seen: [Int] = []
    var copiesPhotos = false
    var movesPhotos = true
    var during: (() throws -> Void)?
    @TaskLocal static var current: StageNotes?

    struct Stopped: Error {}
}

enum WorkPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Work1.self, Work2.self] }
    static var stages: [MigrationStage] {
        [
            .streamed(
                fromVersion: Work1.self, toVersion: Work2.self,
                StreamedEntity(Work1.Employee.self) { old, output in
                    let notes = StageNotes.current
                    if notes?.throwsAt == old.number { throw StageNotes.Stopped() }
                    notes?.isDryRun = output.isDryRun
                    if notes?.failing.contains(old.number) == true {
                        // The objects made from it in part must be removed.
                        try output.insert(Work2.Photo())
                        throw StageNotes.Stopped()
                    }
                    try notes?.during?()
                    notes?.seen.append(old.number)
                    // One object becomes none.
                    if old.number % 10 == 9 { return }
                    let parts = old.name.split(separator: " ")
                    let new = Work2.Employee(
                        number: old.number, firstName: String(parts[0]), lastName: String(parts[1]))
                    new.city = try output.upsert(Work2.City(name: old.city, lastNumber: old.number))
                    new.boss = try output.object(migratedFrom: old.boss)
                    new.room = try output.object(migratedFrom: old.room)
                    if let blob = old.blob(\.photo), notes?.movesPhotos != false {
                        let photo = Work2.Photo()
                        photo.setBlob(blob, for: \.bytes)
                        new.photo = photo
                        if notes?.copiesPhotos == true {
                            let second = Work2.Photo()
                            second.setBlob(blob, for: \.bytes)
                            try output.insert(second)
                        }
                    }
                    try output.insert(new)
                })
        ]
    }
}
