import Dispatch
import Faultline
import FaultlineDisk
import FaultlineMigration
import Synchronization
import Testing

/// Workers of a streamed stage always get and end their turns, even if objects of a share fail.
struct StreamedTurnTests {
    /// A store whose last share has numbers, but no objects.
    private func storesWithEmptyShare() throws -> Stores {
        let stores = Stores()
        try WorkStore.make(in: stores)
        try stores.use(Work1.self) { _, context in
            for employee in try context.all(Work1.Employee.self)
            where employee.number >= WorkStore.count - CrewPlan.shareCount {
                context.delete(employee)
            }
            try context.save()
        }
        return stores
    }

    @Test(.timeLimit(.minutes(5)), arguments: [1, 2, 4])
    func `a share without objects delays no other share`(workerCount: Int) throws {
        let stores = try storesWithEmptyShare()
        try stores.use(Work2.self, RoomPlan.self, migration: CrewPlan.options(workerCount)) { _, context in
            let rooms = try context.all(Work2.Room.self)
            #expect(rooms.map(\.label).sorted() == ["r0", "r1", "r2", "r3"])
            let employees = try context.all(Work2.Employee.self)
            #expect(employees.count == 173)
        }
        #expect(try stores.findings(Work2.self) == [])
    }

    @Test(.timeLimit(.minutes(5))) func `nor does it in a dry run`() throws {
        let stores = try storesWithEmptyShare()
        let report = try stores.preview(Work2.self, CrewPlan.self, migration: CrewPlan.options(1))
        #expect(report.objectsRead == WorkStore.count - CrewPlan.shareCount)
        #expect(report.failures.isEmpty)
    }

    /// Reads the data that its share would have waited for.
    @Test(.timeLimit(.minutes(5)), arguments: [1, 2])
    func `an object that code has kept can be read when the stage has failed`(workerCount: Int) throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        let kept = Box<Work2.Room?>(nil)
        let notes = KeepingNotes(kept)
        #expect(throws: MigrationError.self) {
            try KeepingNotes.$current.withValue(notes) {
                try stores.open(Work2.self, KeepingPlan.self, migration: CrewPlan.options(workerCount))
            }
        }
        #expect(kept.value?.label == "r2")
    }

    /// Only the code itself knows how much it has done by then.
    @Test(arguments: [1, 2, 4]) func `an object whose code was cancelled is not done`(workerCount: Int) throws {
        let whole = Stores()
        try WorkStore.make(in: whole)
        try whole.use(Work2.self, CrewPlan.self, migration: CrewPlan.options(1)) { _, _ in }
        let stores = Stores()
        try WorkStore.make(in: stores)
        let error = CrewNotes.$current.withValue(
            CrewNotes { number in if number == 91 { throw MigrationError(.cancelled, "The code has had enough.") } }
        ) {
            #expect(throws: MigrationError.self) {
                try stores.open(Work2.self, CrewPlan.self, migration: CrewPlan.options(workerCount))
            }
        }
        #expect(error?.code == .cancelled)
        let seen = Guarded<Set<Int>>([])
        try CrewNotes.$current.withValue(CrewNotes { number in seen.withLock { _ = $0.insert(number) } }) {
            try stores.use(Work2.self, CrewPlan.self, migration: CrewPlan.options(workerCount)) { container, _ in
                #expect(container.migrationReport.resumes == 1)
                #expect(container.migrationReport.objectsRead == WorkStore.count)
            }
        }
        #expect(seen.withLock { $0 } == Set(88..<WorkStore.count))
        let rows = try stores.rows()
        let expected = try whole.rows()
        #expect(Set(rows.keys).union(expected.keys).filter { $0 != "schema" && rows[$0] != expected[$0] } == [])
    }

    /// Values of 9,000 bytes: more than a quarter of a batch of 3,000 bytes, but less than that of 64 KiB.
    @Test(arguments: [3_000, 64 << 10])
    func `large values are read by the worker whose turn it is`(batchByteCount: Int) throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        let isLarge = batchByteCount == 3_000
        let other = DispatchSemaphore(value: 0)
        let order = Guarded<[Int]>([])
        let notes = CrewNotes { number in
            if number == 0 {
                // The other worker would read its values at the same time.
                #expect(other.wait(timeout: .now() + (isLarge ? 0.5 : 30)) == (isLarge ? .timedOut : .success))
            } else {
                other.signal()
            }
            order.withLock { $0.append(number) }
        }
        try CrewNotes.$current.withValue(notes) {
            try stores.use(
                Work2.self, PhotoReadingPlan.self, migration: CrewPlan.options(4, batch: batchByteCount)
            ) { container, context in
                #expect(container.migrationReport.blobBytesRead == 40 * 9_000)
                let photos = try context.all(Work2.Photo.self)
                #expect(photos.count == 40)
            }
        }
        let found = order.withLock { $0 }
        #expect(found.sorted() == Array(stride(from: 0, to: WorkStore.count, by: 5)))
        #expect((found == found.sorted()) == isLarge)
    }
}

/// The work of `CrewPlan`, followed by the rooms.
private enum RoomPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { CrewPlan.schemas }
    static var stages: [MigrationStage] {
        [
            .streamed(
                fromVersion: Work1.self, toVersion: Work2.self, StreamedEntity(Work1.Employee.self, CrewPlan.convert),
                StreamedEntity(Work1.Room.self) { old, output in try output.insert(Work2.Room(label: old.label)) })
        ]
    }
}

/// Carries photos over as values, each read completely.
private enum PhotoReadingPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { CrewPlan.schemas }
    static var stages: [MigrationStage] {
        [
            .streamed(
                fromVersion: Work1.self, toVersion: Work2.self,
                StreamedEntity(Work1.Employee.self) { old, output in
                    let new = Work2.Employee(number: old.number, firstName: old.name, lastName: "")
                    if let bytes = old.photo {
                        try CrewNotes.current.during(old.number)
                        let photo = Work2.Photo()
                        photo.bytes = bytes
                        new.photo = photo
                    }
                    try output.insert(new)
                })
        ]
    }
}

/// The object that the code of `KeepingPlan` keeps.
// Safe because one object of the store is kept, and read only after the migration.
private final class KeepingNotes: @unchecked Sendable {
    let kept: Box<Work2.Room?>
    @TaskLocal static var current: KeepingNotes?

    init(_ kept: Box<Work2.Room?>) { self.kept = kept }
}

/// Keeps the room of an employee, and stops at the next one.
private enum KeepingPlan: SchemaMigrationPlan {
    private struct Stopped: Error {}

    static var schemas: [any VersionedSchema.Type] { CrewPlan.schemas }
    static var stages: [MigrationStage] {
        [
            .streamed(
                fromVersion: Work1.self, toVersion: Work2.self,
                StreamedEntity(Work1.Employee.self) { old, output in
                    if old.number == 98 { KeepingNotes.current?.kept.value = try output.object(migratedFrom: old.room) }
                    if old.number == 99 { throw Stopped() }
                    try output.insert(Work2.Employee(number: old.number, firstName: old.name, lastName: ""))
                })
        ]
    }
}
