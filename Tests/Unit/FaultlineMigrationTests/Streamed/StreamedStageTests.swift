import Faultline
import FaultlineLog
import FaultlineMigration
import FaultlineStore
import Foundation
import Testing

struct StreamedStageTests {
    private func options(_ batch: Int = 2_000) -> MigrationOptions {
        var options = MigrationOptions()
        options.batchByteCount = batch
        return options
    }

    @Test(arguments: [1, 2_000, 1 << 20])
    func splitsMergesMovesAndKeepsIdentity(batchByteCount: Int) throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        try StageNotes.$current.withValue(StageNotes()) {
            try stores.use(Work2.self, WorkPlan.self, migration: options(batchByteCount)) { container, context in
                let report = container.migrationReport
                #expect(report.versions == ["1.0.0", "2.0.0"])
                #expect(report.objectsRead == 200)
                #expect(report.objectsDropped == 20)
                #expect(report.blobsMoved == 40)
                #expect(report.blobsLeftBehind == 0)
                #expect(report.blobBytesRead == 0)
                #expect(report.objectsWritten == 180 + 40 + 7)
                #expect(report.objectsFound == 180 - 7)
                #expect(report.resumes == 0)
                try WorkStore.check(context)
                // The unique index is maintained.
                context.insert(Work2.Employee(number: 3, firstName: "New", lastName: "One"))
                try context.save()
                #expect(try context.fetchCount(FetchDescriptor<Work2.Employee>()) == 180)
            }
        }
        #expect(try stores.findings(Work2.self) == [])
        try stores.use(Work2.self, WorkPlan.self) { container, context in
            #expect(container.migrationReport.versions.isEmpty)
            try #expect(context.fetchCount(FetchDescriptor<Work2.Employee>()) == 180)
        }
    }

    @Test func givesNewIdentifiersBehindTheOldOnes() throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        try stores.use(Work2.self, WorkPlan.self) { _, context in
            let new = Work2.Employee(number: 1_000, firstName: "N", lastName: "N")
            context.insert(new)
            try context.save()
            let others = try context.all(Work2.Employee.self).filter { $0.number != 1_000 }
            #expect(!others.contains { $0.persistentModelID == new.persistentModelID })
        }
    }

    @Test func copiesABlobThatTwoObjectsTakeOnce() throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        let notes = StageNotes()
        notes.copiesPhotos = true
        try StageNotes.$current.withValue(notes) {
            try stores.use(Work2.self, WorkPlan.self, migration: options()) { container, context in
                #expect(container.migrationReport.blobsMoved == 40)
                try WorkStore.check(context)
                let photos = try context.all(Work2.Photo.self)
                #expect(photos.count == 80)
                let loose = photos.filter { $0.owner == nil }
                #expect(loose.count == 40)
                #expect(loose.allSatisfy { $0.bytes?.count == 9_000 })
                #expect(container.rowStore.log.snapshot().recordCount(of: .blobs) == 80)
            }
        }
        #expect(try stores.findings(Work2.self) == [])
    }

    @Test func deletesBlobsThatNobodyTookAfterTheSwitch() throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        let notes = StageNotes()
        notes.movesPhotos = false
        try StageNotes.$current.withValue(notes) {
            try stores.use(Work2.self, WorkPlan.self, migration: options()) { container, context in
                #expect(container.migrationReport.blobsLeftBehind == 40)
                #expect(container.migrationReport.blobsMoved == 0)
                #expect(container.rowStore.log.snapshot().recordCount(of: .blobs) == 0)
                try WorkStore.check(context, photosMoved: false)
            }
        }
        #expect(try stores.findings(Work2.self) == [])
    }

    @Test func goesOnAfterAClosureThrew() throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        let notes = StageNotes()
        notes.throwsAt = 155
        let options = options(1)
        try StageNotes.$current.withValue(notes) {
            let error = #expect(throws: MigrationError.self) {
                try stores.open(Work2.self, WorkPlan.self, migration: options)
            }
            #expect(error?.code == .stageFailed)
            #expect(error?.cause is StageNotes.Stopped)
            #expect(notes.seen == Array(0..<155))
            notes.throwsAt = nil
            notes.seen = []
            try stores.use(Work2.self, WorkPlan.self, migration: options) { container, context in
                #expect(container.migrationReport.resumes == 1)
                #expect(container.migrationReport.objectsRead == 200)
                #expect(notes.seen == Array(155..<200))
                try WorkStore.check(context)
            }
        }
        #expect(try stores.findings(Work2.self) == [])
    }

    @Test func leavesTheOldStateToOldContainersAfterAClosureThrew() throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        let notes = StageNotes()
        notes.throwsAt = 155
        try StageNotes.$current.withValue(notes) {
            _ = #expect(throws: MigrationError.self) {
                try stores.open(Work2.self, WorkPlan.self, migration: options())
            }
            try stores.use(Work1.self) { container, context in
                let employees = try context.all(Work1.Employee.self)
                #expect(employees.count == 200)
                for employee in employees where employee.number % 5 == 0 {
                    #expect(employee.photo == WorkStore.photo(employee.number))
                }
                #expect(container.rowStore.log.snapshot().recordCount(of: .blobs) == 40)
                context.insert(Work1.Employee(number: 777, name: "A B", city: "c0"))
                try context.save()
            }
            // The abandoned run's rows are removed; a new run starts from the beginning and finds the new object.
            notes.throwsAt = nil
            notes.seen = []
            try stores.use(Work2.self, WorkPlan.self) { container, context in
                #expect(container.migrationReport.resumes == 0)
                #expect(notes.seen.count == 201)
                try #expect(context.fetchCount(FetchDescriptor<Work2.Employee>()) == 181)
            }
        }
        #expect(try stores.findings(Work2.self) == [])
    }

    @Test func deletesTheBlobsOfAnAbandonedMigration() throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        let notes = StageNotes()
        notes.copiesPhotos = true
        notes.throwsAt = 155
        try StageNotes.$current.withValue(notes) {
            _ = #expect(throws: MigrationError.self) {
                try stores.open(Work2.self, WorkPlan.self, migration: options())
            }
            try stores.use(Work1.self) { container, context in
                #expect(container.rowStore.log.snapshot().recordCount(of: .blobs) == 40)
                for employee in try context.all(Work1.Employee.self) where employee.number % 5 == 0 {
                    #expect(employee.photo == WorkStore.photo(employee.number))
                }
            }
        }
        #expect(try stores.findings(Work1.self) == [])
    }

    @Test func letsAnOlderContainerReadAndNotWriteMeanwhile() throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        let old = try stores.open(Work1.self)
        let notes = StageNotes()
        // Safe because the stage runs on the thread of the test.
        nonisolated(unsafe) var refusals = 0
        notes.during = {
            guard notes.seen.count == 100 else { return }
            let context = ModelContext(old)
            let employees = try context.all(Work1.Employee.self)
            #expect(employees.count == 200)
            employees[0].city = "changed"
            let error = #expect(throws: (any Error).self) { try context.save() }
            #expect((error as? StorageError)?.code == .outdated, "\(String(describing: error))")
            refusals += 1
        }
        try StageNotes.$current.withValue(notes) {
            try stores.use(Work2.self, WorkPlan.self, migration: options()) { _, context in try WorkStore.check(context)
            }
        }
        #expect(refusals == 1)
        let context = ModelContext(old)
        context.insert(Work1.Room(label: "late"))
        #expect(throws: (any Error).self) { try context.save() }
        try old.close()
    }

    @Test func reportsProgress() throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        // Safe because the stage runs on the thread of the test.
        nonisolated(unsafe) var last: MigrationProgress?
        var options = options()
        options.progress = { if $0.stage != nil { last = $0 } }
        try stores.use(Work2.self, WorkPlan.self, migration: options) { _, _ in }
        #expect(last?.pass == .instances)
        #expect(last?.entity == "Employee")
        #expect(last?.done == 200)
        #expect(last?.total == 200)
    }
}
