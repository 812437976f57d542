import Faultline
import FaultlineBackup
import FaultlineDisk
import FaultlineLog
import FaultlineMigration
import FaultlineTestSupport
import Foundation
import Synchronization
import Testing

/// Dry runs on a copy of a store that is in use.
struct StoreCopyTests {
    private static var options: MigrationOptions {
        var options = Stores.dropping
        options.batchByteCount = 2_000
        options.previewsCopy = true
        return options
    }

    private static func copyDirectory(of stores: Stores) -> String { stores.directory + ".dry-run" }

    @Test func `the store can be written during a dry run on a copy`() throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        let writer = try stores.open(Work1.self)
        let context = ModelContext(writer)
        // Saved, and in no checkpoint.
        context.insert(Work1.Employee(number: 777, name: "A B", city: "c0"))
        try context.save()
        let notes = StageNotes()
        notes.during = {
            guard notes.seen.count == 100 else { return }
            context.insert(Work1.Room(label: "new"))
            try context.save()
        }
        let report = try StageNotes.$current.withValue(notes) {
            try stores.preview(Work2.self, WorkPlan.self, migration: Self.options)
        }
        #expect(report.isDryRun && report.failures.isEmpty && !report.isIncomplete)
        #expect(report.objectsRead == 201 && report.blobsMoved == 40 && report.fitsOnDisk)
        #expect(try !stores.disk.isPresent(Self.copyDirectory(of: stores)))
        try writer.close()
        try stores.use(Work1.self) { container, context in
            #expect(container.migrationReport.versions.isEmpty)
            try #expect(context.fetchCount(FetchDescriptor<Work1.Room>()) == 5)
        }
        #expect(try stores.findings(Work1.self) == [])
    }

    /// Another disk is another process for the library.
    @Test func `beside another process a dry run works on a copy only, and writes nothing to the store`() throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        let writer = try stores.open(Work1.self)
        let counting = CountingDisk(over: stores.disk)
        let beside = Stores(counting, stores.directory)
        let error = #expect(throws: StorageError.self) { try beside.preview(Work2.self, WorkPlan.self) }
        #expect(error?.code == .lockedByAnother)
        counting.reset()
        let report = try StageNotes.$current.withValue(StageNotes()) {
            try beside.preview(Work2.self, WorkPlan.self, migration: Self.options)
        }
        #expect(report.objectsRead == 200)
        for name in try stores.disk.names(in: stores.directory) {
            let counts = counting.counts(of: stores.directory + "/" + name)
            #expect(counts.writes == 0 && counts.entryChanges == 0, "\(name): \(counts)")
        }
        try writer.close()
    }

    @Test func `failures are found on a copy, too`() throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        let notes = StageNotes()
        notes.failing = [7, 9]
        let report = try StageNotes.$current.withValue(notes) {
            try stores.preview(Work2.self, WorkPlan.self, migration: Self.options)
        }
        #expect(report.failures.map(\.object) == [8, 10])
        #expect(try !stores.disk.isPresent(Self.copyDirectory(of: stores)))
    }

    @Test func `a migration that was stopped is not refused, and goes on afterwards`() throws {
        let stores = Stores()
        var options = Self.options
        options.batchByteCount = 1
        try WorkStore.makeStopped(in: stores, StageNotes(), options)
        try StageNotes.$current.withValue(StageNotes()) {
            let refusal = #expect(throws: MigrationError.self) { try stores.preview(Work2.self, WorkPlan.self) }
            #expect(refusal?.code == .underWay)
            let report = try stores.preview(Work2.self, WorkPlan.self, migration: options)
            #expect(report.objectsRead == 200 && report.failures.isEmpty)
            try stores.use(Work2.self, WorkPlan.self, migration: options) { container, context in
                #expect(container.migrationReport.resumes == 1)
                try WorkStore.check(context)
            }
        }
    }

    @Test func `the remains of a killed dry run are replaced, and other files are not`() throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        let directory = Self.copyDirectory(of: stores)
        func file(_ name: String) throws {
            let file = try stores.disk.open(directory + "/" + name, for: .creating)
            try file.write([1, 2, 3], at: 0)
            file.close()
        }
        try stores.disk.createDirectory(directory)
        try file("IDENTITY")
        try file("s-0000000000000001.fls")
        let report = try StageNotes.$current.withValue(StageNotes()) {
            try stores.preview(Work2.self, WorkPlan.self, migration: Self.options)
        }
        #expect(report.objectsRead == 200)
        #expect(try !stores.disk.isPresent(directory))

        try stores.disk.createDirectory(directory)
        try file("letter.txt")
        let foreign = #expect(throws: MigrationError.self) {
            try stores.preview(Work2.self, WorkPlan.self, migration: Self.options)
        }
        #expect(foreign?.code == .storage && foreign?.message.contains("letter.txt") == true)
        #expect(try stores.disk.names(in: directory) == ["letter.txt"])
        try stores.disk.remove(directory + "/letter.txt")

        let lock = try stores.disk.open(stores.directory + "/LOCK", for: .updating)
        #expect(try lock.lock(byte: 2, exclusively: true))
        let second = #expect(throws: MigrationError.self) {
            try stores.preview(Work2.self, WorkPlan.self, migration: Self.options)
        }
        #expect(second?.code == .underWay)
        try lock.unlock(byte: 2)
        lock.close()
    }

    /// Begins a second dry run while the first one has closed its copy, or removes it.
    // Safe because one thread copies the store.
    private final class SecondRunDisk: ForwardingDisk, @unchecked Sendable {
        enum Moment: CaseIterable { case beforeOpening, duringRemoval }

        let directory: String
        let moment: Moment
        private(set) var refusals = 0
        private var openCount = 0

        init(over base: Disk, _ stores: Stores, _ moment: Moment) {
            directory = stores.directory
            self.moment = moment
            super.init(over: base)
        }

        private func makeAnother() {
            let error = #expect(throws: StoreCopyError.self) {
                try StoreCopy.make(of: directory, for: .dryRun, on: base, clock: .system)
            }
            if error == .underWay(directory + ".dry-run", .dryRun) { refusals += 1 }
        }

        override func open(_ path: String, for access: FileAccess) throws(DiskError) -> DiskFile {
            if moment == .beforeOpening, path == directory + ".dry-run/LOCK", access == .updating {
                openCount += 1
                // The first one claims the directory.
                if openCount == 2 { makeAnother() }
            }
            return try base.open(path, for: access)
        }

        override func remove(_ path: String) throws(DiskError) {
            try base.remove(path)
            if moment == .duringRemoval, path == directory + ".dry-run/IDENTITY" { makeAnother() }
        }
    }

    @Test(arguments: SecondRunDisk.Moment.allCases)
    private func `a second dry run is refused until the copy of the first one is removed`(
        moment: SecondRunDisk.Moment
    ) throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        let disk = SecondRunDisk(over: stores.disk, stores, moment)
        let report = try StageNotes.$current.withValue(StageNotes()) {
            try Stores(disk, stores.directory).preview(Work2.self, WorkPlan.self, migration: Self.options)
        }
        #expect(report.objectsRead == 200 && disk.refusals == 1)
        #expect(try !stores.disk.isPresent(Self.copyDirectory(of: stores)))
        try StoreCopy.make(of: stores.directory, for: .dryRun, on: stores.disk, clock: .system).remove()
    }

    @Test func `other users cannot list the copy`() throws {
        let stores = Stores(isOnDisk: true)
        try WorkStore.make(in: stores)
        let copy = try StoreCopy.make(of: stores.directory, for: .dryRun, on: stores.disk, clock: .system)
        defer { copy.remove() }
        let mode = try FileManager.default.attributesOfItem(atPath: copy.directory)[.posixPermissions]
        #expect((mode as? NSNumber)?.intValue == 0o700)
    }

    /// Removes the copy before it is opened.
    // Safe because one thread copies the store.
    private final class RemovingDisk: ForwardingDisk, @unchecked Sendable {
        let directory: String

        init(over base: Disk, _ directory: String) {
            self.directory = directory
            super.init(over: base)
        }

        override func freeByteCount(in path: String) throws(DiskError) -> UInt64 {
            if path == directory { for name in try base.names(in: path) { try base.remove(path + "/" + name) } }
            return try base.freeByteCount(in: path)
        }
    }

    @Test func `a copy that is removed by hand is an error, and no empty store`() throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        let disk = RemovingDisk(over: stores.disk, Self.copyDirectory(of: stores))
        let error = #expect(throws: MigrationError.self) {
            try Stores(disk, stores.directory).preview(Work2.self, WorkPlan.self, migration: Self.options)
        }
        #expect(error?.code == .storage && error?.message.contains(".dry-run") == true)
        #expect(try !stores.disk.isPresent(Self.copyDirectory(of: stores)))
    }

    /// Calls a closure before the first file is linked, and lists the files.
    // Safe because one thread copies the store.
    private final class HookedDisk: ForwardingDisk, @unchecked Sendable {
        var hook: (() throws -> Void)?
        private(set) var linked: [String] = []

        override func link(_ source: String, to target: String) throws(DiskError) {
            // The first link of each attempt tries out whether there are links.
            if source.hasSuffix("/IDENTITY") { return try base.link(source, to: target) }
            let body = hook
            hook = nil
            #expect(throws: Never.self) { try body?() }
            linked.append(String(target.split(separator: "/").last ?? ""))
            try base.link(source, to: target)
        }
    }

    @Test func `a copy does not begin again for a save and a checkpoint meanwhile`() throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        let writer = try stores.open(Work1.self)
        let before = try stores.disk.names(in: stores.directory)
        let hooked = HookedDisk(over: stores.disk)
        hooked.hook = {
            let context = ModelContext(writer)
            context.insert(Work1.Room(label: "new"))
            try context.save()
            try writer.checkpoint()
        }
        let copy = try StoreCopy.make(of: stores.directory, for: .dryRun, on: hooked, clock: .system)
        let linked = try stores.disk.names(in: copy.directory).filter {
            "tr".contains($0.prefix(1)) && $0.contains("-")
        }
        // It has the old files, and none that the checkpoint made.
        #expect(!linked.isEmpty && linked.allSatisfy { before.contains($0) }, "\(linked)")
        #expect(Set(linked).isSubset(of: hooked.linked), "\(linked), \(hooked.linked)")
        #expect(Set(hooked.linked).count == hooked.linked.count, "\(hooked.linked)")
        let copied = Stores(stores.disk, copy.directory)
        try copied.use(Work1.self) { _, context in try #expect(context.fetchCount(FetchDescriptor<Work1.Room>()) == 5) }
        #expect(try copied.findings(Work1.self) == [])
        copy.remove()
        try writer.close()
    }

    /// Saves, checkpoints and compaction go on while the store is copied.
    @Test func `each copy is a state of the store between two saves`() throws {
        var stores = Stores(isOnDisk: true)
        stores.logOptions.segmentByteCount = 256 << 10
        stores.logOptions.checkpointByteCount = 64 << 10
        stores.logOptions.durability = .async
        try stores.use(Work1.self) { _, _ in }
        let writer = try stores.open(Work1.self)
        let isOver = Guarded(false)
        let saved = Guarded(0)
        let hasEnded = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            defer { hasEnded.signal() }
            let context = ModelContext(writer)
            do {
                for number in 0..<100_000 where !isOver.withLock({ $0 }) {
                    // Each save adds one of both, and removes older ones.
                    let employee = Work1.Employee(number: number, name: "F L", city: "c")
                    employee.photo = WorkStore.photo(number)
                    context.insert(employee)
                    context.insert(Work1.Project(title: "p\(number)"))
                    if number % 50 == 49 {
                        for old in try context.all(Work1.Employee.self).dropLast(10) { context.delete(old) }
                        for old in try context.all(Work1.Project.self).dropLast(10) { context.delete(old) }
                    }
                    try context.save()
                    saved.withLock { $0 = number + 1 }
                }
            } catch { Issue.record("\(error)") }
        }
        var counts: [Int] = []
        while counts.count < 12 {
            let before = saved.withLock { $0 }
            let copy = try StoreCopy.make(of: stores.directory, for: .dryRun, on: stores.disk, clock: .system)
            let after = saved.withLock { $0 }
            var copied = Stores(stores.disk, copy.directory)
            copied.logOptions.acceptsLostTail = true
            try copied.use(Work1.self) { _, context in
                let employees = try context.all(Work1.Employee.self)
                let projects = try context.fetchCount(FetchDescriptor<Work1.Project>())
                #expect(employees.count == projects)
                #expect(employees.allSatisfy { $0.photo == WorkStore.photo($0.number) })
                let newest = (employees.map(\.number).max() ?? -1) + 1
                #expect(newest >= before && newest <= after + 1, "\(before)...\(after): \(newest)")
                counts.append(newest)
            }
            #expect(try copied.findings(Work1.self) == [])
            copy.remove()
            #expect(try !stores.disk.isPresent(copy.directory))
        }
        isOver.withLock { $0 = true }
        hasEnded.wait()
        try writer.close()
        #expect(counts == counts.sorted() && Set(counts).count > 4, "\(counts)")
        #expect(try stores.findings(Work1.self) == [])
    }
}
