import Faultline
import FaultlineDisk
import FaultlineMigration
import FaultlineTestSupport
import Synchronization
import Testing

/// A resumed stage gives new objects no number that an old object keeps.
struct ResumedNumberTests {
    private static let count = 40

    /// Called by the stage with the number of each note.
    struct Watch: Sendable {
        let reach: @Sendable (Int) -> Void
    }

    /// Makes two notes of each of the second half.
    private static let streamed = MigrationStage.streamed(
        fromVersion: Note1.self, toVersion: Note2.self,
        StreamedEntity(Note1.Note.self) { old, output in
            Copying.watch?.reach(old.number)
            try output.insert(Note2.Note(number: old.number, text: old.text, by: "note"))
            if old.number >= count / 2 {
                try output.insert(Note2.Note(number: old.number, text: old.text, by: "copy"))
            }
        })

    private static let mapped = MigrationStage.mapped(
        fromVersion: Note1.self, toVersion: Note2.self,
        MappingModel(EntityMapping(from: "Note", to: "Note", policy: Copying.self)))

    final class Copying: EntityMigrationPolicy, ResumablePolicy {
        @TaskLocal static var watch: Watch?

        override func createDestinationInstances(
            forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            let number = sInstance["number"] as? Int ?? 0
            Self.watch?.reach(number)
            for by in number < count / 2 ? ["note"] : ["note", "copy"] {
                let new = try manager.destinationContext.insertNewObject(forEntityName: "Note")
                new["number"] = number
                new["text"] = sInstance["text"]
                new["by"] = by
                try manager.associate(sourceInstance: sInstance, withDestinationInstance: new, for: mapping)
            }
        }
    }

    /// The process dies when the stage's record was written, and none, half or more of the objects.
    @Test(arguments: ["streamed", "mapped"], [0, 20, 30])
    func `a stage that was killed before its first object, or later`(kind: String, number: Int) throws {
        let stores = Stores()
        try stores.fillWithNotes(Self.count)
        let disk = try #require(stores.disk as? SimulatedDisk)
        let killed = Guarded<SimulatedDisk?>(nil)
        var options = MigrationOptions(unhandledData: .drop)
        options.batchByteCount = 1
        options.workerCount = 1
        func check(_ stores: Stores, resumes: Int) throws {
            try stores.use(Note2.self, NotePlan.self, migration: options) { container, context in
                #expect(container.migrationReport.resumes == resumes)
                let notes = try context.all(Note2.Note.self)
                #expect(notes.count == Self.count * 3 / 2)
                #expect(Set(notes.map { "\($0.number) \($0.text) \($0.by)" }).count == Self.count * 3 / 2)
            }
            #expect(try stores.findings(Note2.self) == [])
        }
        try NotePlan.$current.withValue([kind == "mapped" ? Self.mapped : Self.streamed]) {
            let watch = Watch { reached in
                if reached == number { killed.withLock { if $0 == nil { $0 = disk.afterProcessDeath() } } }
            }
            try Copying.$watch.withValue(watch) { try check(stores, resumes: 0) }
            let cut = Stores(try #require(killed.withLock { $0 }), stores.directory)
            try check(cut, resumes: 1)
        }
    }
}
