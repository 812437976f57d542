import Faultline
import FaultlineDisk
import FaultlineLog
import FaultlineMigration
import FaultlineStore
import FaultlineTestSupport
import Foundation
import Testing

/// Dry runs that are refused, cancelled or killed.
extension MigrationPreviewTests {
    @Test func `a migration that can go on is not given up for a dry run`() throws {
        let stores = Stores()
        let notes = StageNotes()
        try WorkStore.makeStopped(in: stores, notes, options(1))
        try StageNotes.$current.withValue(notes) {
            let error = #expect(throws: MigrationError.self) { try stores.preview(Work2.self, WorkPlan.self) }
            #expect(error?.code == .underWay)
            try stores.use(Work2.self, WorkPlan.self) { container, _ in
                #expect(container.migrationReport.resumes == 1)
            }
        }
    }

    @Test func `a dry run can be cancelled, and leaves nothing`() throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        let rows = try stores.rows()
        let control = MigrationControl()
        var options = options(1)
        options.control = control
        let notes = StageNotes()
        notes.during = { if notes.seen.count == 100 { control.cancel() } }
        StageNotes.$current.withValue(notes) {
            let error = #expect(throws: MigrationError.self) {
                try stores.preview(Work2.self, WorkPlan.self, migration: options)
            }
            #expect(error?.code == .cancelled)
        }
        #expect(try stores.rows() == rows)
        #expect(try stores.findings(Work1.self) == [])
    }

    @Test func `the next opening drops a dry run that was killed`() throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        let rows = try stores.rows()
        let notes = StageNotes()
        let images = Box<[SimulatedDisk]>([])
        notes.copiesPhotos = true
        notes.during = {
            guard notes.seen.count == 100, let disk = stores.disk as? SimulatedDisk else { return }
            for _ in 0..<3 {
                if let image = disk.crashImages(CrashOptions()).first(where: { _ in true }) {
                    images.value.append(image.disk)
                }
            }
        }
        _ = try StageNotes.$current.withValue(notes) {
            try stores.preview(Work2.self, WorkPlan.self, migration: options(1))
        }
        notes.during = nil
        try #require(images.value.count == 3)
        // Opened without a schema.
        let first = Stores(images.value[0], stores.directory)
        let log = try Log.open(
            first.directory, on: first.disk, clock: .system, options: Stores.options, deriver: RowIndexDeriver())
        #expect(try StoredCatalog.read(log.snapshot())?.migration?.isNeverResumed == true)
        _ = try StoredOpening.open(log, isReadOnly: true)
        #expect(try StoredCatalog.read(log.snapshot())?.migration?.isNeverResumed == true)
        _ = try StoredOpening.open(log, isReadOnly: false)
        try log.close()
        #expect(try first.rows() == rows)
        // Opened under the old schema.
        let second = Stores(images.value[1], stores.directory)
        try second.use(Work1.self) { _, context in
            try #expect(context.fetchCount(FetchDescriptor<Work1.Employee>()) == 200)
        }
        #expect(try second.rows() == rows)
        #expect(try second.findings(Work1.self) == [])
        // Opened by another dry run, and by the migration: neither continues it.
        let third = Stores(images.value[2], stores.directory)
        try StageNotes.$current.withValue(StageNotes()) {
            try #expect(third.preview(Work2.self, WorkPlan.self).objectsRead == 200)
            try third.use(Work2.self, WorkPlan.self) { container, context in
                #expect(container.migrationReport.resumes == 0)
                try WorkStore.check(context)
            }
        }
        #expect(try third.findings(Work2.self) == [])
    }
}
