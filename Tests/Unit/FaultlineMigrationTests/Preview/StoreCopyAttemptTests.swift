import Faultline
import FaultlineBackup
import FaultlineDisk
import FaultlineLog
import FaultlineMigration
import FaultlineStore
import FaultlineTestSupport
import Foundation
import Testing

/// Copies of a store that changes meanwhile, or that has lost its end.
struct StoreCopyAttemptTests {
    /// Has no hard links: copies a file instead, lists the copies, and calls a closure after some of them.
    // Safe because one thread copies the store.
    private final class CopyingDisk: ForwardingDisk, @unchecked Sendable {
        /// By the number of copies before.
        var hooks: [Int: () throws -> Void] = [:]
        private(set) var copied: [String] = []
        private(set) var byteCount: UInt64 = 0
        private(set) var sizes: [String: UInt64] = [:]

        override func link(_ source: String, to target: String) throws(DiskError) {
            try base.copy(source, to: target)
            // Each attempt tries out whether there are links.
            if source.hasSuffix("/IDENTITY") { return }
            copied.append(String(target.split(separator: "/").last ?? ""))
            let file = try base.open(target, for: .reading)
            defer { file.close() }
            let size = try file.byteCount()
            byteCount += size
            sizes[source] = size
            if let hook = hooks.removeValue(forKey: copied.count) { #expect(throws: Never.self) { try hook() } }
        }
    }

    @Test func `without hard links a file that does not change is copied once`() throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        let writer = try stores.open(Work1.self)
        let disk = CopyingDisk(over: stores.disk)
        // The manifest changes after the last file.
        let count = try stores.disk.names(in: stores.directory)
            .count(where: { [.tableCheckpoint, .indexRun].contains(FileName.parse($0)?.kind) })
        disk.hooks[count] = {
            let context = ModelContext(writer)
            context.insert(Work1.Room(label: "a"))
            try context.save()
            try writer.checkpoint()
        }
        let copy = try StoreCopy.make(of: stores.directory, for: .dryRun, on: disk, clock: .system)
        #expect(disk.hooks.isEmpty && disk.copied.count == count, "\(disk.copied)")
        #expect(Set(disk.copied).count == disk.copied.count, "\(disk.copied)")
        #expect(disk.byteCount == disk.sizes.values.reduce(0, +))
        let copied = Stores(stores.disk, copy.directory)
        try copied.use(Work1.self) { _, context in try #expect(context.fetchCount(FetchDescriptor<Work1.Room>()) == 5) }
        #expect(try copied.findings(Work1.self) == [])
        copy.remove()
        try writer.close()
    }

    /// Calls a closure before each segment of a copy is written.
    // Safe because one thread copies the store.
    private final class InterruptingDisk: ForwardingDisk, @unchecked Sendable {
        var interrupt: (() throws -> Void)?
        private(set) var interruptionCount = 0

        override func open(_ path: String, for access: FileAccess) throws(DiskError) -> DiskFile {
            let name = String(path.split(separator: "/").last ?? "")
            if access == .creating, FileName.parse(name)?.kind == .hotSegment, let interrupt {
                interruptionCount += 1
                #expect(throws: Never.self) { try interrupt() }
            }
            return try super.open(path, for: access)
        }
    }

    @Test func `a store whose manifest changes with each copied segment is copied`() throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        let writer = try stores.open(Work1.self)
        let context = ModelContext(writer)
        let disk = InterruptingDisk(over: stores.disk)
        disk.interrupt = {
            context.insert(Work1.Room(label: "meanwhile"))
            try context.save()
            try writer.checkpoint()
        }
        let copy = try StoreCopy.make(of: stores.directory, for: .dryRun, on: disk, clock: .system)
        // In the first attempt, after the state of the copy was chosen.
        #expect(disk.interruptionCount == 1)
        let copied = Stores(stores.disk, copy.directory)
        try copied.use(Work1.self) { _, context in try #expect(context.fetchCount(FetchDescriptor<Work1.Room>()) == 4) }
        #expect(try copied.findings(Work1.self) == [])
        copy.remove()
        try writer.close()
    }

    @Test func `a copy ends before a value in a segment that was begun meanwhile`() throws {
        var stores = Stores()
        stores.logOptions.segmentByteCount = 64 << 10
        try WorkStore.make(in: stores)
        let writer = try stores.open(Work1.self)
        let disk = CopyingDisk(over: stores.disk)
        let count = try stores.disk.names(in: stores.directory)
            .count(where: { [.tableCheckpoint, .indexRun].contains(FileName.parse($0)?.kind) })
        var random = Seed(5)
        let photo = Data((0..<100_000).map { _ in UInt8.random(in: 0...255, using: &random) })
        disk.hooks[count] = {
            let context = ModelContext(writer)
            for number in [777, 778] {
                let employee = Work1.Employee(number: number, name: "A B", city: "c0")
                employee.photo = photo
                context.insert(employee)
                try context.save()
                // The full segment of values is sealed, so that the next value begins another one.
                try writer.checkpoint()
            }
        }
        let copy = try StoreCopy.make(of: stores.directory, for: .dryRun, on: disk, clock: .system)
        #expect(disk.hooks.isEmpty)
        let copied = Stores(stores.disk, copy.directory)
        try copied.use(Work1.self) { _, context in
            let employees = try context.fetch(FetchDescriptor<Work1.Employee>())
            let added = employees.filter { $0.number >= 777 }
            #expect(added.map(\.number) == [777])
            #expect(added.first?.photo == photo)
        }
        #expect(try copied.findings(Work1.self) == [])
        copy.remove()
        try writer.close()
    }

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
