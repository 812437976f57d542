import Faultline
import FaultlineDisk
import FaultlineLog
import FaultlineMigration
import FaultlineStore
import FaultlineTestSupport
import Foundation
import Testing

/// A container that opens the state in force of an unfinished migration does not know the migration's layouts: when it
/// is dropped, others get their numbers.
struct UnfinishedReadingTests {
    private struct Stopped: Error {}

    /// Notes with a rank in the place of the author.
    enum Ranked: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Note.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

        @Model final class Note {
            var number: Int
            var text: String
            var rank: String = ""
            init(number: Int, text: String) {
                self.number = number
                self.text = text
            }
        }
    }

    private let stores = Stores(isOnDisk: true)
    private let before: NumberCounters

    /// A migration whose second stage has failed.
    init() throws {
        try stores.fillWithNotes(10)
        before = try stores.counters()
        let stages: [MigrationStage] = [
            .streamed(
                fromVersion: Note1.self, toVersion: Note2.self,
                StreamedEntity(Note1.Note.self) { old, output in
                    try output.insert(Note2.Note(number: old.number, text: old.text, by: "first"))
                }),
            .streamed(
                fromVersion: Note2.self, toVersion: Note3.self,
                StreamedEntity(Note2.Note.self) { _, _ in throw Stopped() }),
        ]
        NotePlan.$current.withValue(stages) {
            #expect(throws: MigrationError.self) { try stores.open(Note3.self, NotePlan.self) }
        }
        #expect(try stores.counters().layout > before.layout)
    }

    @Test func `a reader takes later rows for newer ones, and not for those of the migration`() throws {
        let reader = try ModelContainer(
            for: Note1.Note.self,
            configurations: ModelConfiguration(url: URL(filePath: stores.directory), allowsSave: false))
        defer { try? reader.close() }
        let entity = try #require(reader.rowStore.storage.entities.first { $0.name == "Note" })
        func read() throws -> [UInt16] {
            var layouts: [UInt16] = []
            var failure: (any Error)?
            try reader.rowStore.log.snapshot().scan(
                entity.table, from: 1, through: Limits.recordIDMax, readAhead: 4_096
            ) { records in
                for record in records {
                    layouts.append(record.layout)
                    do { _ = try reader.rowStore.view(record, of: entity) } catch { failure = failure ?? error }
                }
                return true
            }
            if let failure { throw failure }
            return layouts
        }
        #expect(try read().count == 10)
        // Drops the migration, and gives its layout's number to another.
        try stores.use(Note1.self) { _, _ in }
        try stores.use(Ranked.self) { container, context in
            for note in try context.all(Ranked.Note.self) { note.rank = "r\(note.number)" }
            try context.save()
            #expect(container.rowStore.storage.map.entity(named: "Note")?.layout == before.layout)
        }
        #expect(try reader.refresh())
        #expect { _ = try read() } throws: { ($0 as? StoreError)?.code == .outdated }
    }

    @Test func `an opening under the stored schema has the numbers from before`() throws {
        let log = try Log.open(
            stores.directory, on: stores.disk, clock: .system, options: Stores.options, deriver: RowIndexDeriver())
        defer { log.abandonForTests() }
        let opened = try #require(try StoredOpening.open(log, isReadOnly: false))
        let counters = opened.store.storage.map.counters
        #expect(counters.layout == before.layout && counters.table == before.table)
        let entity = try #require(opened.store.storage.entities.first)
        #expect(opened.store.table(forLayout: before.layout, of: entity) == nil)
        #expect(try StoredCatalog.read(log.snapshot())?.migration != nil)
    }

    /// The catalog is data from a file: a wrong counter must not hide layouts that are in force.
    @Test func `a wrong number of unused layouts hides none in force`() throws {
        let log = try Log.open(
            stores.directory, on: stores.disk, clock: .system, options: Stores.options, deriver: RowIndexDeriver())
        defer { log.abandonForTests() }
        var record = try #require(try StoredCatalog.read(log.snapshot())?.migration)
        record.unusedNumbers?.layout = 0
        record.unusedNumbers?.table = 0
        _ = try log.write(author: nil) { transaction in
            try StoredCatalog.put(record, StoredCatalog.RecordNumber.migration, in: &transaction)
        }
        let opened = try #require(try StoredOpening.open(log, isReadOnly: true))
        let entity = try #require(opened.store.storage.entities.first)
        #expect(opened.store.storage.map.counters.layout > entity.layout.number)
        #expect(opened.store.table(forLayout: entity.layout.number, of: entity) != nil)
    }
}
