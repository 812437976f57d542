import Faultline
import FaultlineDisk
import FaultlineLog
import FaultlineMigration
import FaultlineStore
import FaultlineTestSupport
import Foundation
import Testing

/// Copies of a store that has lost its end.
struct StoreCopyAttemptTests {
    @Test func `a store that has lost its end is refused`() throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        let disk = try #require(stores.disk as? SimulatedDisk)
        let writer = try stores.open(Work1.self)
        let context = ModelContext(writer)
        let name = try #require(try disk.names(in: stores.directory).last { FileName.parse($0)?.kind == .hotSegment })
        let path = stores.directory + "/" + name
        let before = try disk.contents(of: path)
        for label in ["a", "b"] {
            context.insert(Work1.Room(label: label))
            try context.save()
        }
        let employee = Work1.Employee(number: 777, name: "A B", city: "c0")
        employee.photo = Data(repeating: 7, count: 100_000)
        context.insert(employee)
        try context.save()
        writer.rowStore.log.abandonForTests()
        let killed = disk.afterProcessDeath()
        var options = Stores.dropping
        options.previewsCopy = true
        // Whole, it is tried out.
        let whole = try StageNotes.$current.withValue(StageNotes()) {
            try Stores(killed, stores.directory).preview(Work2.self, WorkPlan.self, migration: options)
        }
        #expect(whole.isDryRun && whole.failures.isEmpty)
        try killed.remove(path)
        try killed.createDurably(path, before, in: stores.directory)
        let error = #expect(throws: StorageError.self) {
            try StageNotes.$current.withValue(StageNotes()) {
                try Stores(killed, stores.directory).preview(Work2.self, WorkPlan.self, migration: options)
            }
        }
        #expect(error?.code == .damaged && error?.missingTransactionCount ?? 0 > 0)
        #expect(try !killed.isPresent(stores.directory + ".dry-run"))
    }
}
