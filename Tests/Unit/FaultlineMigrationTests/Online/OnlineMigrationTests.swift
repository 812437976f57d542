import Dispatch
import Faultline
import FaultlineDisk
import FaultlineLog
import FaultlineMigration
import FaultlineStore
import FaultlineTestSupport
import Foundation
import Synchronization
import Testing

/// Migrations while containers of the old schema save.
struct OnlineMigrationTests {
    private static let count = 2_500

    private func online(_ progress: (@Sendable (MigrationProgress) -> Void)? = nil) -> MigrationOptions {
        var options = MigrationOptions(progress: progress)
        options.isOnline = true
        return options
    }

    private func makeDepot(_ stores: Stores, count: Int = Self.count) throws {
        try stores.use(Depot1.self) { container, _ in try DepotWriter.make(container, count: count) }
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `saves go on, and are in the new schema and its indexes`(seed: UInt64) throws {
        var stores = Stores()
        // So small that checkpoints happen between saves.
        stores.logOptions.checkpointByteCount = 20_000
        try makeDepot(stores)
        let old = try stores.open(Depot1.self)
        let writer = try DepotWriter(old, seed: seed)
        let failures = Guarded<[String]>([])
        let new = try stores.open(
            Depot2.self, ShortDepotPlan.self,
            migration: online { progress in
                guard progress.pass == .indexes else { return }
                do { try writer.save(40) } catch { failures.withLock { $0.append("\(error)") } }
            })
        #expect(failures.withLock { $0 } == [])
        #expect(writer.saveCount > 100)
        try DepotWriter.check(ModelContext(new), [writer])
        #expect(throws: StorageError.self) { for _ in 0..<20 { try writer.save() } }
        try DepotWriter.check(ModelContext(new), [writer])
        // As a kill leaves it: entries that only memory had are lost.
        new.rowStore.log.abandonForTests()
        try stores.use(Depot2.self, ShortDepotPlan.self) { container, context in
            #expect(container.migrationReport.versions.isEmpty)
            try DepotWriter.check(context, [writer])
        }
        #expect(try stores.findings(Depot2.self) == [])
    }

    @Test func `several stages build indexes of one entity`() throws {
        let stores = Stores()
        try makeDepot(stores)
        let old = try stores.open(Depot1.self)
        let writer = try DepotWriter(old, seed: 7)
        let failures = Guarded<[String]>([])
        let new = try stores.open(
            Depot3.self, DepotPlan.self,
            migration: online { progress in
                guard progress.pass == .indexes else { return }
                do { try writer.save(10) } catch { failures.withLock { $0.append("\(error)") } }
            })
        #expect(failures.withLock { $0 } == [] && writer.saveCount > 20)
        #expect(new.migrationReport.versions == ["1.0.0", "2.0.0", "3.0.0"])
        new.rowStore.log.abandonForTests()
        try stores.use(Depot3.self, DepotPlan.self) { _, context in
            let found = try context.all(Depot3.Item.self).map { ($0.number, $0.name) }
            #expect(Dictionary(found) { one, _ in one } == writer.items.mapValues(\.name))
        }
        #expect(try stores.findings(Depot3.self) == [])
    }

    @Test func `an index alone is added online`() throws {
        let stores = Stores()
        try stores.use(Books1.self) { _, context in
            for number in 0..<1_500 { context.insert(Books1.Book("title \(number % 100)", pages: 1)) }
            try context.save()
        }
        let old = try stores.open(Books1.self)
        // Safe because the migration reports its progress on this thread.
        nonisolated(unsafe) let context = ModelContext(old)
        let new = try stores.open(
            IndexedBooks1.self,
            migration: online { _ in
                context.insert(Books1.Book("late", pages: 2))
                try? context.save()
            })
        let late = FetchDescriptor<IndexedBooks1.Book>(predicate: #Predicate { $0.title == "late" })
        #expect(try ModelContext(new).fetchCount(late) > 2)
        try new.close()
        try old.close()
        #expect(try stores.findings(IndexedBooks1.self) == [])
    }

    @Test(.timeLimit(.minutes(2)))
    func `writers of several threads save until the switch`() throws {
        let stores = Stores(isOnDisk: true)
        try makeDepot(stores, count: 6_000)
        let old = try stores.open(Depot1.self)
        let writers = try (0..<3).map { try DepotWriter(old, seed: UInt64($0) &+ 11, place: $0, of: 3) }
        let ends = Guarded<[String]>([])
        let begun = DispatchSemaphore(value: 0)
        let threads = TestThreads()
        for writer in writers {
            threads.run {
                do {
                    try writer.save()
                    begun.signal()
                    while true { try writer.save() }
                } catch {
                    ends.withLock { $0.append((error as? StorageError).map { "\($0.code)" } ?? "\(error)") }
                }
            }
        }
        for _ in writers { begun.wait() }
        let before = writers.map(\.saveCount).reduce(0, +)
        let new = try stores.open(Depot2.self, ShortDepotPlan.self, migration: online())
        threads.join()
        let saved = writers.map(\.saveCount).reduce(0, +) - before
        let pause = new.migrationReport.lastPasses.first(where: { $0.pass == .switching })
        print("\(saved) saves during an online migration; switch \(pause?.nanoseconds ?? 0) ns")
        #expect(ends.withLock { $0 } == ["outdated", "outdated", "outdated"])
        #expect(saved > 0)
        try DepotWriter.check(ModelContext(new), writers)
        try new.close()
        try old.close()
        #expect(try stores.findings(Depot2.self) == [])
    }

    @Test func `history and identifiers keep their meaning`() throws {
        let stores = Stores()
        try makeDepot(stores, count: 1_200)
        func open(_ version: any VersionedSchema.Type, _ migration: MigrationOptions) throws -> ModelContainer {
            try ModelContainer(
                for: version.models, migrationPlan: version == Depot1.self ? nil : ShortDepotPlan.self,
                directory: stores.directory, on: stores.disk, options: Stores.options, migration: migration,
                recordsHistory: true)
        }
        let old = try open(Depot1.self, MigrationOptions())
        // Safe because the migration reports its progress on this thread.
        nonisolated(unsafe) let context = ModelContext(old)
        // Safe because of the same.
        nonisolated(unsafe) let first = Depot1.Item(-1, "first")
        context.insert(first)
        try context.save()
        let identifier = first.persistentModelID
        let token = try #require(try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).last).token
        let saves = Guarded(0)
        let new = try open(
            Depot2.self,
            online { _ in
                first.name += "!"
                if (try? context.save()) != nil { saves.withLock { $0 += 1 } }
            })
        let after = ModelContext(new)
        let wanted = HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token > token })
        let count = saves.withLock { $0 }
        #expect(count > 1)
        #expect(try after.fetchHistory(wanted).count == count)
        let item = try #require(after.model(for: identifier) as? Depot2.Item)
        #expect(item.name == "first" + String(repeating: "!", count: count))
    }

    @Test func `the old schema can be opened while another thread migrates`() throws {
        let stores = Stores()
        try makeDepot(stores)
        let old = try stores.open(Depot1.self)
        let names = Guarded<[String]>([])
        let new = try stores.open(
            Depot2.self, ShortDepotPlan.self,
            migration: online { progress in
                guard progress.pass == .indexes else { return }
                do {
                    let other = try stores.open(Depot1.self)
                    let context = ModelContext(other)
                    context.insert(Depot1.Item(-2 - progress.done, "from another container"))
                    try context.save()
                    try other.close()
                } catch { names.withLock { $0.append("\(error)") } }
            })
        #expect(names.withLock { $0 } == [])
        let late = FetchDescriptor<Depot2.Item>(predicate: #Predicate { $0.name == "from another container" })
        #expect(try ModelContext(new).fetchCount(late) > 1)
        try new.close()
        try old.close()
    }
}
