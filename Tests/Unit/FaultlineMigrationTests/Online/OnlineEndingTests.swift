import Faultline
import FaultlineDisk
import FaultlineLog
import FaultlineMigration
import FaultlineStore
import FaultlineTestSupport
import Foundation
import Synchronization
import Testing

/// Online migrations that are refused, fail, are cancelled or killed.
struct OnlineEndingTests {
    private static let count = 2_500

    private func online(_ progress: (@Sendable (MigrationProgress) -> Void)? = nil) -> MigrationOptions {
        var options = MigrationOptions(progress: progress)
        options.isOnline = true
        return options
    }

    private func makeDepot(_ stores: Stores) throws {
        try stores.use(Depot1.self) { container, _ in try DepotWriter.make(container, count: Self.count) }
    }

    /// Nothing of a migration is left, and the old schema can be saved under.
    private func checkUntouched(_ stores: Stores, _ old: ModelContainer, _ writer: DepotWriter) throws {
        let log = old.rowStore.log
        let stored = try #require(try StoredCatalog.read(log.snapshot()))
        #expect(stored.migration == nil)
        #expect(stored.schema.version == Schema.Version(1, 0, 0))
        #expect(Set(log.indexIDs.map(\.rawValue)).subtracting(stored.map.indexes) == [])
        try writer.checkOld(ModelContext(old))
        for _ in 0..<10 { try writer.save() }
        try old.close()
        #expect(try stores.findings(Depot1.self) == [])
        try stores.use(Depot1.self) { _, context in try writer.checkOld(context) }
        // A later migration finds everything.
        try stores.use(Depot2.self, ShortDepotPlan.self) { _, context in try DepotWriter.check(context, [writer]) }
        #expect(try stores.findings(Depot2.self) == [])
    }

    @Test func `one that is cancelled leaves the store to its writers`() throws {
        let stores = Stores()
        try makeDepot(stores)
        let old = try stores.open(Depot1.self)
        let writer = try DepotWriter(old, seed: 5)
        let control = MigrationControl()
        let failures = Guarded<[String]>([])
        var options = online { progress in
            guard progress.pass == .indexes else { return }
            do { try writer.save(20) } catch { failures.withLock { $0.append("\(error)") } }
            if progress.done >= 1_000 { control.cancel() }
        }
        options.control = control
        let error = #expect(throws: MigrationError.self) {
            _ = try stores.open(Depot2.self, ShortDepotPlan.self, migration: options)
        }
        #expect(error?.code == .cancelled)
        #expect(failures.withLock { $0 } == [] && writer.saveCount > 0)
        try checkUntouched(stores, old, writer)
    }

    @Test func `a duplicate that is saved meanwhile ends it, and not the save`() throws {
        let stores = Stores()
        try makeDepot(stores)
        let old = try stores.open(Depot1.self)
        // Safe because the migration reports its progress on this thread.
        nonisolated(unsafe) let context = ModelContext(old)
        // Safe because of the same.
        nonisolated(unsafe) let late = Depot1.Item(17, "the same number")
        let error = #expect(throws: MigrationError.self) {
            _ = try stores.open(
                Depot2.self, ShortDepotPlan.self,
                migration: online { progress in
                    // Behind the first object of that number.
                    guard progress.pass == .indexes, progress.done >= 1_000, late.modelContext == nil else { return }
                    context.insert(late)
                    try? context.save()
                })
        }
        #expect(error?.code == .duplicate)
        #expect(error?.entityName == "Item" && error?.propertyName == "number")
        #expect(!context.hasChanges)
        context.delete(late)
        try context.save()
        try checkUntouched(stores, old, DepotWriter(old, seed: 1))
    }

    @Test func `a duplicate that is gone by the switch is none`() throws {
        let stores = Stores()
        try makeDepot(stores)
        let old = try stores.open(Depot1.self)
        // Safe because the migration reports its progress on this thread.
        nonisolated(unsafe) let context = ModelContext(old)
        // Safe because of the same.
        nonisolated(unsafe) let first = try #require(
            try context.fetch(FetchDescriptor<Depot1.Item>(predicate: #Predicate { $0.number == 17 })).first)
        // Safe because of the same.
        nonisolated(unsafe) let late = Depot1.Item(17, "the same number")
        let savedCount = Guarded(0)
        let new = try stores.open(
            Depot2.self, ShortDepotPlan.self,
            migration: online { progress in
                let done = savedCount.withLock { $0 }
                guard progress.pass == .indexes, done < 2, progress.done >= (done + 1) * 1_000 else { return }
                if done == 0 { context.insert(late) } else { context.delete(first) }
                if (try? context.save()) != nil { savedCount.withLock { $0 += 1 } }
            })
        #expect(savedCount.withLock { $0 } == 2)
        let wanted = FetchDescriptor<Depot2.Item>(predicate: #Predicate { $0.number == 17 })
        #expect(try ModelContext(new).fetch(wanted).map(\.name) == ["the same number"])
        new.rowStore.log.abandonForTests()
        try stores.use(Depot2.self, ShortDepotPlan.self) { _, context in
            try #expect(context.fetch(wanted).map(\.name) == ["the same number"])
        }
        #expect(try stores.findings(Depot2.self) == [])
    }

    @Test(arguments: [0, 1_000, 2_000])
    func `a kill leaves the old state with all saves`(done: Int) throws {
        let disk = SimulatedDisk(directories: ["/s"])
        let stores = Stores(disk, "/s/store")
        try makeDepot(stores)
        let old = try stores.open(Depot1.self)
        let writer = try DepotWriter(old, seed: 9)
        let killed = Guarded<(disk: SimulatedDisk, items: [Int: DepotWriter.Item])?>(nil)
        let failures = Guarded<[String]>([])
        _ = try stores.open(
            Depot2.self, ShortDepotPlan.self,
            migration: online { progress in
                guard progress.pass == .indexes else { return }
                do { try writer.save(20) } catch { failures.withLock { $0.append("\(error)") } }
                guard progress.done >= done, killed.withLock({ $0 == nil }) else { return }
                var images = disk.crashImages()
                if let image = images.next() { killed.withLock { $0 = (image.disk, writer.items) } }
            })
        #expect(failures.withLock { $0 } == [] && writer.saveCount > 0)
        let (image, items) = try #require(killed.withLock { $0 })
        let left = Stores(image, "/s/store")
        try left.use(Depot1.self) { container, context in
            let stored = try #require(try StoredCatalog.read(container.rowStore.log.snapshot()))
            #expect(stored.migration == nil)
            let again = try DepotWriter(container, seed: 3)
            #expect(again.items == items)
            // Large values that were saved meanwhile.
            let blobCount = container.rowStore.log.snapshot().recordCount(of: .blobs)
            #expect(items.values.filter { $0.photo != nil }.count == blobCount)
            for _ in 0..<20 { try again.save() }
        }
        #expect(try left.findings(Depot1.self) == [])
        #expect(try left.findings(Depot2.self) == [])
    }

    @Test func `kinds, changes and options that saves could make wrong are refused`() throws {
        func refusal(
            _ stores: Stores, _ version: any VersionedSchema.Type, _ plan: (any SchemaMigrationPlan.Type)?,
            _ change: (inout MigrationOptions) -> Void = { _ in }
        ) -> MigrationError? {
            var options = online()
            change(&options)
            let error = #expect(throws: MigrationError.self) {
                _ = try stores.open(version, plan, migration: options)
            }
            #expect(error?.code == .notOnline, "\(String(describing: error))")
            #expect(error?.stage != nil)
            return error
        }
        let stores = Stores()
        try makeDepot(stores)
        let old = try stores.open(Depot1.self)
        let writer = try DepotWriter(old, seed: 2)
        _ = refusal(stores, Depot2.self, ShortDepotPlan.self) { $0.onFailure = .quarantine() }
        _ = refusal(stores, Depot2.self, ShortDepotPlan.self) { $0.gracePeriod = .seconds(60) }
        _ = refusal(stores, Depot2.self, ShortDepotPlan.self) { $0.bytesPerSecond = 1_000_000 }
        try checkUntouched(stores, old, writer)

        let work = Stores()
        try WorkStore.make(in: work)
        #expect(refusal(work, Work2.self, WorkPlan.self)?.message.contains("streamed") == true)
    }
}
