import Faultline
import FaultlineDisk
import FaultlineLog
import FaultlineMigration
import FaultlineStore
import FaultlineTestSupport
import Foundation
import Synchronization
import Testing

private enum Sticker1: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Sticker.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    @Model final class Sticker {
        var text: String
        init(_ text: String) { self.text = text }
    }
}

private enum Sticker2: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Sticker.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model final class Sticker {
        @Attribute(.unique) var text: String
        init(_ text: String) { self.text = text }
    }
}

private enum Sticker3: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Sticker.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(3, 0, 0) }

    @Model final class Sticker {
        var text: String
        init(_ text: String) { self.text = text }
    }
}

/// Dogs without keepers.
private enum Kennel3: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Dog.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(3, 0, 0) }

    @Model final class Dog {
        var name: String
        init(name: String) { self.name = name }
    }
}

private enum Labels1: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Label.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    @Model final class Label {
        var text: String
        var color: String = "red"
        init(_ text: String) { self.text = text }
    }
}

/// Labels without colors, and with an index.
private enum Labels2: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Label.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model final class Label {
        #Index<Label>([\.text])
        var text: String
        init(_ text: String) { self.text = text }
    }
}

/// Objects that a new unique rule refuses while others save, and indexes that cannot be read.
struct OnlineRefusalTests {
    private func online(_ progress: @escaping @Sendable (MigrationProgress) -> Void) -> MigrationOptions {
        var options = MigrationOptions(progress: progress)
        options.isOnline = true
        return options
    }

    /// Reports each object.
    private static var eagerClock: Clock {
        let now = Guarded<UInt64>(0)
        return Clock(
            wallNanoseconds: { 1 },
            monotonicNanoseconds: {
                now.withLock { now in
                    now += 1_000_000_000
                    return now
                }
            })
    }

    /// Migrates stickers, one of which has a text that cannot be unique.
    private func migrateStickers(
        _ change: @escaping @Sendable (ModelContext, Sticker1.Sticker) -> Void
    ) throws -> Stores {
        let stores = Stores()
        try stores.use(Sticker1.self) { _, context in
            for number in 0..<40 { context.insert(Sticker1.Sticker("\(number)")) }
            context.insert(Sticker1.Sticker(String(repeating: "long", count: 5_000)))
            try context.save()
        }
        let old = try stores.open(Sticker1.self)
        // Safe because the migration reports its progress on this thread.
        nonisolated(unsafe) let context = ModelContext(old)
        // Safe because of the same.
        nonisolated(unsafe) let long = try #require(
            try context.all(Sticker1.Sticker.self).first { $0.text.count > 100 })
        let options = online { progress in
            // All rows were read, and none was entered.
            guard progress.pass == .indexes, progress.done == 41, !context.hasChanges else { return }
            change(context, long)
        }
        defer { try? old.close() }
        try stores.open(Sticker2.self, migration: options, clock: Self.eagerClock).close()
        return stores
    }

    @Test func `a value that is corrected after it was read does not end the migration`() throws {
        let stores = try migrateStickers { context, long in
            guard long.text != "short" else { return }
            long.text = "short"
            try? context.save()
        }
        try stores.use(Sticker2.self) { _, context in
            let short = FetchDescriptor<Sticker2.Sticker>(predicate: #Predicate { $0.text == "short" })
            try #expect(context.fetchCount(short) == 1)
            try #expect(context.fetchCount(FetchDescriptor<Sticker2.Sticker>()) == 41)
        }
        #expect(try stores.findings(Sticker2.self) == [])
    }

    @Test func `a value that stays ends it`() throws {
        #expect { _ = try migrateStickers { _, _ in } } throws: {
            ($0 as? StorageError)?.code == .tooLarge || ($0 as? MigrationError)?.object != nil
        }
    }

    @Test func `a version without a rule that old containers read is refused, and so is its dry run`() throws {
        let stores = Stores()
        try stores.use(Sticker2.self) { _, context in
            context.insert(Sticker2.Sticker("one"))
            try context.save()
        }
        let options = online { _ in }
        let error = #expect(throws: MigrationError.self) { _ = try stores.open(Sticker3.self, migration: options) }
        #expect(error?.code == .notOnline && error?.entityName == "Sticker")
        let preview = #expect(throws: MigrationError.self) {
            _ = try stores.preview(Sticker3.self, migration: options)
        }
        #expect(preview?.code == .notOnline && preview?.message == error?.message)
        #expect(try stores.preview(Sticker3.self).failures.isEmpty)
    }

    /// The refusal of an online migration, which leaves the store as it was.
    private func refusal(
        from old: any VersionedSchema.Type, to new: any VersionedSchema.Type, _ plan: (any SchemaMigrationPlan.Type)?,
        _ change: (inout MigrationOptions) -> Void = { $0.unhandledData = .drop },
        _ fill: (ModelContext) throws -> Void
    ) throws -> MigrationError? {
        let stores = Stores()
        try stores.use(old) { _, context in
            try fill(context)
            try context.save()
        }
        var options = online { _ in }
        change(&options)
        let rows = try stores.rows()
        let error = #expect(throws: MigrationError.self) { _ = try stores.open(new, plan, migration: options) }
        #expect(error?.code == .notOnline, "\(String(describing: error))")
        #expect(try stores.rows() == rows)
        return error
    }

    @Test func `references that become links are refused`() throws {
        let error = try refusal(from: Clubs1.self, to: Clubs2.self, nil) { $0.insert(Clubs1.Member(name: "a")) }
        #expect(error?.entityName == "Member")
    }

    @Test func `a reference that becomes required is refused`() throws {
        let error = try refusal(from: Kennel1.self, to: Kennel2.self, nil) { context in
            let dog = Kennel1.Dog(name: "a")
            dog.keeper = Kennel1.Keeper(name: "b")
            context.insert(dog)
        }
        #expect(error?.entityName == "Dog" && error?.propertyName == "keeper")
    }

    @Test func `an entity that old containers read is not dropped`() throws {
        let error = try refusal(from: Kennel1.self, to: Kennel3.self, nil) { $0.insert(Kennel1.Keeper(name: "b")) }
        #expect(error?.entityName == "Keeper")
    }

    @Test func `values that must be counted are refused, and go with consent`() throws {
        let fail: (inout MigrationOptions) -> Void = { $0.unhandledData = .fail }
        let error = try refusal(from: Labels1.self, to: Labels2.self, nil, fail) { $0.insert(Labels1.Label("a")) }
        #expect(error?.message.contains("unhandledData") == true)
        let stores = Stores()
        try stores.use(Labels1.self) { _, context in
            context.insert(Labels1.Label("a"))
            try context.save()
        }
        var options = online { _ in }
        options.unhandledData = .drop
        let labels = try stores.use(Labels2.self, migration: options) { _, context in
            try context.all(Labels2.Label.self)
        }
        #expect(labels.count == 1)
    }

    // MARK: Many

    private static let many = 1_500

    /// Saves second objects of many numbers, then perhaps deletes them.
    ///
    /// - Returns: Rows that were done when the migration ended.
    private func migrateMany(_ stores: Stores, deletes: Bool, notedMax: Int? = nil) throws -> Int {
        try stores.use(Depot1.self) { container, _ in try DepotWriter.make(container, count: 6_000) }
        let old = try stores.open(Depot1.self)
        // Safe because the migration reports its progress on this thread.
        nonisolated(unsafe) let context = ModelContext(old)
        // Safe because of the same.
        nonisolated(unsafe) var late: [Depot1.Item] = []
        let done = Guarded(0)
        var options = online { progress in
            guard progress.pass == .indexes else { return }
            done.withLock { $0 = progress.done }
            if late.isEmpty, progress.done >= 3_000 {
                late = (0..<Self.many).map { Depot1.Item($0, "late \($0)") }
                for item in late { context.insert(item) }
                try? context.save()
            } else if deletes, !late.isEmpty, progress.done >= 4_000 {
                for item in late where item.modelContext != nil { context.delete(item) }
                try? context.save()
            }
        }
        options.notedMax = notedMax
        defer {
            #expect(late.count == Self.many && !context.hasChanges)
            try? old.close()
        }
        do { try stores.open(Depot2.self, ShortDepotPlan.self, migration: options).close() } catch {
            let count = try ModelContext(old).fetchCount(FetchDescriptor<Depot1.Item>())
            #expect(count == 6_000 + Self.many)
            #expect(done.withLock { $0 } < 6_000)
            throw error
        }
        return done.withLock { $0 }
    }

    @Test func `many second objects that go again are none at the switch`() throws {
        let stores = Stores()
        #expect(try migrateMany(stores, deletes: true) == 6_000)
        try stores.use(Depot2.self, ShortDepotPlan.self) { _, context in
            try #expect(context.fetchCount(FetchDescriptor<Depot2.Item>()) == 6_000)
            let first = FetchDescriptor<Depot2.Item>(predicate: #Predicate { $0.number == 7 })
            try #expect(context.fetch(first).map(\.name) == ["item 7"])
        }
        #expect(try stores.findings(Depot2.self) == [])
    }

    @Test func `many second objects that stay end the migration before its last row`() throws {
        let stores = Stores()
        let error = #expect(throws: MigrationError.self) { _ = try migrateMany(stores, deletes: false) }
        #expect(error?.code == .duplicate)
        #expect(error?.entityName == "Item" && error?.propertyName == "number" && error?.object != nil)
        #expect(try stores.findings(Depot1.self) == [])
    }

    @Test func `the objects that are noted are bounded`() throws {
        let stores = Stores()
        let error = #expect(throws: MigrationError.self) {
            _ = try migrateMany(stores, deletes: true, notedMax: 1_200)
        }
        #expect(error?.code == .duplicate)
        #expect(error?.message.contains("More than 1200 objects") == true)
        #expect(try stores.findings(Depot1.self) == [])
    }

    // MARK: Damage

    @Test func `a new index that cannot be read ends the migration, and not the save`() throws {
        let disk = FailingDisk(over: SimulatedDisk(directories: ["/s"]))
        let stores = Stores(disk, "/s/store")
        try stores.use(Depot1.self) { container, _ in try DepotWriter.make(container, count: 2_500) }
        let old = try stores.open(Depot1.self)
        // Safe because the migration reports its progress on this thread.
        nonisolated(unsafe) let context = ModelContext(old)
        let failures = Guarded<[String]>([])
        #expect {
            _ = try stores.open(
                Depot2.self, ShortDepotPlan.self,
                migration: online { progress in
                    guard progress.pass == .switching else { return }
                    // The indexes are in files by now.
                    disk.arm(DiskFault(of: [.read], on: ".flr", isSticky: true))
                    context.insert(Depot1.Item(17, "late"))
                    do { try context.save() } catch { failures.withLock { $0.append("\(error)") } }
                    if disk.hitCount == 0 { failures.withLock { $0.append("no page was read") } }
                    disk.disarm()
                })
        } throws: {
            ($0 as? StorageError)?.code == .failedDisk || $0 is MigrationError
        }
        #expect(failures.withLock { $0 } == [])
        let log = old.rowStore.log
        let stored = try #require(try StoredCatalog.read(log.snapshot()))
        #expect(stored.migration == nil)
        #expect(Set(log.indexIDs.map(\.rawValue)).subtracting(stored.map.indexes) == [])
        context.insert(Depot1.Item(-1, "later"))
        try context.save()
        #expect(try ModelContext(old).fetchCount(FetchDescriptor<Depot1.Item>()) == 2_502)
        try old.close()
        #expect(try stores.findings(Depot1.self) == [])
    }
}
