import Faultline
import FaultlineMigration
import Foundation
import Synchronization

/// Additional behavior for the closures of `CrewPlan`, on any thread.
final class CrewNotes: Sendable {
    /// Called before anything else.
    let during: @Sendable (_ number: Int) throws -> Void
    @TaskLocal static var current = CrewNotes { _ in }

    init(_ during: @escaping @Sendable (_ number: Int) throws -> Void) { self.during = during }
}

/// Does the same work as `WorkPlan`, with closures that several threads may run, and with values that depend on earlier
/// objects.
enum CrewPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Work1.self, Work2.self] }
    static var stages: [MigrationStage] {
        [.streamed(fromVersion: Work1.self, toVersion: Work2.self, StreamedEntity(Work1.Employee.self, convert))]
    }

    /// The number of old objects in each share that `options` requests.
    static let shareCount = 8

    static func options(_ workerCount: Int?, batch: Int? = nil) -> MigrationOptions {
        var options = MigrationOptions()
        options.workerCount = workerCount
        options.shareCount = shareCount
        options.batchByteCount = batch
        return options
    }

    @Sendable static func convert(_ old: Work1.Employee, _ output: MigrationOutput) throws {
        try CrewNotes.current.during(old.number)
        if old.number % 10 == 9 { return }
        let parts = old.name.split(separator: " ")
        let new = Work2.Employee(number: old.number, firstName: String(parts[0]), lastName: String(parts[1]))
        // In every second share the closures find and read objects that others have made.
        if old.number / shareCount % 2 == 1 {
            new.city = try output.upsert(Work2.City(name: old.city, lastNumber: old.number))
            if let boss = try output.object(migratedFrom: old.boss, as: Work2.Employee.self),
                old.number > 100, old.number < 190
            {
                new.lastName = boss.lastName + "<" + new.lastName
            }
        }
        new.boss = try output.object(migratedFrom: old.boss)
        new.room = try output.object(migratedFrom: old.room)
        if let blob = old.blob(\.photo) {
            let photo = Work2.Photo()
            photo.setBlob(blob, for: \.bytes)
            new.photo = photo
        } else if old.number % 7 == 3 {
            let photo = Work2.Photo()
            photo.bytes = WorkStore.photo(old.number)
            new.photo = photo
        }
        try output.insert(new)
    }
}

/// The same work, one object after the other.
enum OrderedCrewPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { CrewPlan.schemas }
    static var stages: [MigrationStage] {
        [
            .streamed(
                fromVersion: Work1.self, toVersion: Work2.self,
                StreamedEntity(Work1.Employee.self, inOrder: true, CrewPlan.convert))
        ]
    }
}
