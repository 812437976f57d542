import Faultline
import FaultlineDisk
import FaultlineLog
import FaultlineMigration
import FaultlineStore
import Testing

/// Resumes that do not count, because no code of the stage has run, or because it was cancelled.
struct VainResumeTests {
    private struct Enough: Error {}
    private struct Stopped: Error {}
    private let stores = Stores()

    private static var options: MigrationOptions {
        var options = MigrationOptions(unhandledData: .drop)
        options.batchByteCount = 1
        options.workerCount = 1
        return options
    }

    private static let first = MigrationStage.streamed(
        fromVersion: Note1.self, toVersion: Note2.self,
        StreamedEntity(Note1.Note.self) { old, output in
            try output.insert(Note2.Note(number: old.number, text: old.text, by: "s"))
        })

    private func migrate(_ stages: [MigrationStage]) throws {
        let version: any VersionedSchema.Type = stages.count == 1 ? Note2.self : Note3.self
        try NotePlan.$current.withValue(stages) {
            try stores.use(version, NotePlan.self, migration: Self.options) { _, _ in }
        }
    }

    private func withLog<R>(_ body: (Log) throws -> R) throws -> R {
        let log = try Log.open(
            stores.directory, on: stores.disk, clock: .system, options: Stores.options, deriver: RowIndexDeriver())
        do {
            let result = try body(log)
            try log.close()
            return result
        } catch {
            try? log.close()
            throw error
        }
    }

    @Test func `an error before the stage runs does not count`() throws {
        try stores.fillWithNotes(5)
        let failing = MigrationStage.streamed(
            fromVersion: Note1.self, toVersion: Note2.self,
            StreamedEntity(Note1.Note.self) { old, output in
                if old.number == 3 { throw Stopped() }
                try output.insert(Note2.Note(number: old.number, text: old.text, by: "s"))
            })
        #expect(throws: MigrationError.self) { try migrate([failing]) }
        // A record in the quarantine that cannot be read.
        let number = try withLog { log in
            try log.write(author: nil) { transaction in
                let number = transaction.nextID(in: .quarantine)
                try transaction.put(
                    number, in: .quarantine, layout: 0, changed: nil, flags: .none, byteCount: 3
                ) { target in
                    for place in 0..<3 { target[place] = 0xff }
                }
                return number
            }.value
        }
        for _ in 0..<6 {
            let error = #expect(throws: (any Error).self) { try migrate([Self.first]) }
            #expect((error as? MigrationError)?.code != .noProgress)
            let attempts = try withLog { try StoredCatalog.read($0.snapshot())?.migration?.attempts }
            #expect(attempts?.resumes ?? 0 == 0)
        }
        try withLog { log in
            _ = try log.write(author: nil) { try $0.delete(number, in: .quarantine) }
        }
        try migrate([Self.first])
    }

    private final class CancellingPolicy: EntityMigrationPolicy, ResumablePolicy {
        @TaskLocal static var cancels = true
        @TaskLocal static var throwsToo = false

        override func createDestinationInstances(
            forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
            guard Self.cancels, sInstance["number"] as? Int == 3 else { return }
            manager.cancelMigrationWithError(Enough())
            if Self.throwsToo { throw Stopped() }
        }
    }

    @Test(arguments: [false, true]) func `a policy that cancels does not count as a failure`(throwsToo: Bool) throws {
        try stores.fillWithNotes(5)
        let stages = [
            Self.first,
            .mapped(
                fromVersion: Note2.self, toVersion: Note3.self,
                MappingModel(EntityMapping(from: "Note", to: "Note", policy: CancellingPolicy.self))),
        ]
        CancellingPolicy.$throwsToo.withValue(throwsToo) {
            for _ in 0..<6 { #expect(throws: Enough.self) { try migrate(stages) } }
        }
        try CancellingPolicy.$cancels.withValue(false) { try migrate(stages) }
    }
}
