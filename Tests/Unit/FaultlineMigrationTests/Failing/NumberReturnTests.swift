import Faultline
import FaultlineDisk
import FaultlineLog
import FaultlineMigration
import FaultlineRepair
import FaultlineStore
import FaultlineTestSupport
import Foundation
import Synchronization
import Testing

/// A store has about 65,000 numbers for tables and for layouts: attempts of stages that fail do not use them up.
struct NumberReturnTests {
    private struct Stopped: Error {}

    /// The kind of the stage that fails.
    enum Kind: CaseIterable {
        case custom, mapped
    }

    /// Resumes without an end.
    private static var patient: MigrationOptions {
        var options = MigrationOptions()
        options.vainResumesMax = .max
        return options
    }

    private static func first(_ kind: Kind, _ body: @escaping @Sendable () throws -> Void) -> MigrationStage {
        switch kind {
        case .custom: ShopStages.custom(did: { _ in try body() })
        case .mapped:
            .mapped(
                fromVersion: Shop1.self, toVersion: Shop2.self,
                MappingModel(
                    EntityMapping(
                        from: "Tag", to: "Tag",
                        attributes: [
                            PropertyMapping(
                                "word",
                                .computed { tag, _ in
                                    try body()
                                    return tag["word"]
                                })
                        ])))
        }
    }

    /// Changes all items, and makes a maker.
    private static func second(_ kind: Kind, _ body: @escaping @Sendable () throws -> Void) -> MigrationStage {
        switch kind {
        case .custom:
            ShopStages.second(
                will: { context in
                    for item in try context.all(Shop2.Item.self) { item.cents = Int(item.price * 100) }
                    try context.save()
                },
                did: { context in
                    context.insert(Shop3.Maker(text: "m"))
                    try context.save()
                    try body()
                })
        case .mapped:
            .mapped(
                fromVersion: Shop2.self, toVersion: Shop3.self,
                MappingModel(
                    EntityMapping(
                        from: "Item", to: "Item",
                        attributes: [
                            PropertyMapping(
                                "cents",
                                .computed { item, _ in
                                    if item["name"] as? String == "i50" { try body() }
                                    return (item["price"] as? Double).map { Int($0 * 100) }
                                })
                        ])))
        }
    }

    private static func check(_ context: ModelContext, _ kind: Kind) throws {
        let items = try context.all(Shop3.Item.self)
        #expect(items.count == Shops.count)
        for item in items {
            let number = Shops.number(item.name)
            #expect(item.cents == number * 100 + 25)
            #expect(item.photo == (number % 6 == 0 ? Shops.photo(number) : nil))
            #expect(item.shelf?.label == "s\(number % 4)")
            #expect(Set(item.tags.map(\.word)) == ["w\(number % 3)", "w\((number + 1) % 3)"])
        }
        try #expect(context.fetchCount(FetchDescriptor<Shop3.Maker>()) == (kind == .custom ? 1 : 0))
    }

    private static func notes(_ kind: Kind, _ body: @escaping @Sendable () throws -> Void) -> MigrationStage {
        switch kind {
        case .custom:
            .custom(
                fromVersion: Note1.self, toVersion: Note2.self, willMigrate: nil, didMigrate: { _ in try body() })
        case .mapped:
            .mapped(
                fromVersion: Note1.self, toVersion: Note2.self,
                MappingModel(
                    EntityMapping(
                        from: "Note", to: "Note",
                        attributes: [
                            PropertyMapping("number", .source("number")),
                            PropertyMapping(
                                "text",
                                .computed { note, _ in
                                    try body()
                                    return note["text"]
                                }),
                        ])))
        }
    }

    /// The store begins with sixty numbers of tables left.
    @Test(arguments: Kind.allCases) func `A13: three hundred failed attempts use up no numbers`(kind: Kind) throws {
        let stores = Stores()
        try stores.use(Note1.self) { container, context in
            context.insert(Note1.Note(number: 1, text: "n1"))
            try context.save()
            var map = container.rowStore.storage.map
            map.counters.table = .max - 60
            _ = try container.rowStore.log.write(author: nil) { transaction in
                try StoredCatalog.put(map, StoredCatalog.RecordNumber.entityMap, in: &transaction)
            }
        }
        let before = try stores.counters()
        // The store stays open in between, so that an attempt takes little time.
        let old = try stores.open(Note1.self)
        NotePlan.$current.withValue([Self.notes(kind) { throw Stopped() }]) {
            for attempt in 0..<300 {
                let error = #expect(throws: MigrationError.self) { try stores.open(Note2.self, NotePlan.self) }
                guard error?.code == .stageFailed else {
                    Issue.record("attempt \(attempt): \(String(describing: error))")
                    break
                }
            }
        }
        // Nor are indexes left of them.
        #expect(old.rowStore.log.indexIDs.count <= old.rowStore.storage.map.indexes.count)
        try old.close()
        let after = try stores.counters()
        #expect(after.table == before.table && after.layout == before.layout)
        // A replay could confuse the entries of two indexes.
        #expect(after.index > before.index)
        try NotePlan.$current.withValue([Self.notes(kind) {}]) {
            try stores.use(Note2.self, NotePlan.self) { _, context in
                let texts = try context.all(Note2.Note.self).map(\.text)
                #expect(texts == ["n1"])
            }
        }
        #expect(try stores.findings(Note2.self) == [])
    }

    @Test(arguments: Kind.allCases)
    func `A13: a stage that fails after a finished one takes the same numbers each time`(kind: Kind) throws {
        let shops = try Shops(in: Stores(isOnDisk: true))
        var counters: [NumberCounters] = []
        let fails = Guarded(true)
        let held = Guarded<[(snapshot: Snapshot, sizes: [Int])]>([])
        func sizes(_ snapshot: Snapshot) -> [Int] {
            (TableID.firstEntity..<64).map { snapshot.recordCount(of: TableID(rawValue: $0)) }
        }
        let stages = [
            Self.first(.custom) {},
            Self.second(kind) { if fails.withLock({ $0 }) { throw Stopped() } },
        ]
        let old = try shops.stores.open(Shop1.self)
        let log = old.rowStore.log
        for _ in 0..<12 {
            #expect(try shops.failure(to: Shop3.self, stages, Self.patient)?.code == .stageFailed)
            let catalog = try #require(try StoredCatalog.read(log.snapshot()))
            counters.append(catalog.map.counters)
            let snapshot = log.snapshot()
            held.withLock { $0.append((snapshot, sizes(snapshot))) }
        }
        #expect(Set(counters.map(\.table)).count == 1 && Set(counters.map(\.layout)).count == 1)
        #expect(counters.map(\.index) == counters.map(\.index).sorted())
        // Tables of an attempt stay as they were in snapshots of its time.
        held.withLock { held in
            #expect(held.allSatisfy { sizes($0.snapshot) == $0.sizes })
            #expect(Set(held.map(\.sizes)).count == 1)
        }
        held.withLock { $0 = [] }
        try old.close()
        fails.withLock { $0 = false }
        try shops.migrate(to: Shop3.self, stages, Self.patient) { container, context in
            #expect(container.rowStore.storage.map.counters.table == counters[0].table)
            try Self.check(context, kind)
        }
        #expect(try shops.stores.findings(Shop3.self) == [])
        // Everything that can be derived again comes from records of all attempts in the same tables.
        for file in try FileManager.default.contentsOfDirectory(atPath: shops.stores.directory)
        where file.hasSuffix(".flt") || file.hasSuffix(".flr") {
            try FileManager.default.removeItem(atPath: "\(shops.stores.directory)/\(file)")
        }
        try shops.stores.use(Shop3.self) { _, context in try Self.check(context, kind) }
        #expect(try shops.stores.findings(Shop3.self) == [])
    }

    @Test(arguments: Kind.allCases, [false, true])
    func `A13: attempts that are killed take the same numbers each time`(kind: Kind, opensOld: Bool) throws {
        let shops = try Shops()
        var stores = shops.stores
        var counters: [NumberCounters] = []
        for _ in 0..<12 {
            let disk = try #require(stores.disk as? SimulatedDisk)
            let killed = Guarded<SimulatedDisk?>(nil)
            let stages = [
                Self.first(.custom) {},
                Self.second(kind) { killed.withLock { if $0 == nil { $0 = disk.afterProcessDeath() } } },
            ]
            try ShopStages.$current.withValue(ShopStages(stages)) {
                try stores.use(Shop3.self, ShopPlan.self, migration: Self.patient) { _, context in
                    try Self.check(context, kind)
                }
            }
            #expect(try stores.findings(Shop3.self) == [])
            stores = Stores(try #require(killed.withLock { $0 }), stores.directory)
            if opensOld {
                try stores.use(Shop1.self) { _, context in
                    try #expect(context.fetchCount(FetchDescriptor<Shop1.Item>()) == Shops.count)
                }
                #expect(try stores.findings(Shop1.self) == [])
            }
            counters.append(try stores.counters())
        }
        #expect(Set(counters.map(\.table)).count == 1 && Set(counters.map(\.layout)).count == 1)
    }

    /// Compaction moves records and drops of several attempts that had the same tables.
    @Test(arguments: Kind.allCases)
    func `A13: attempts that share numbers survive compaction, a rebuild and a salvage`(kind: Kind) throws {
        var stores = Stores()
        stores.logOptions.segmentByteCount = 24 << 10
        let shops = try Shops(in: stores)
        let fails = Guarded(true)
        let stages = [
            Self.first(.custom) {},
            Self.second(kind) { if fails.withLock({ $0 }) { throw Stopped() } },
        ]
        let old = try stores.open(Shop1.self)
        var movedCount = 0
        for _ in 0..<5 {
            #expect(try shops.failure(to: Shop3.self, stages, Self.patient)?.code == .stageFailed)
            movedCount += try old.rowStore.log.compact().segmentCount
        }
        #expect(movedCount > 0)
        try old.close()
        fails.withLock { $0 = false }
        try shops.migrate(to: Shop3.self, stages, Self.patient) { container, context in
            try container.rowStore.log.compact()
            try Self.check(context, kind)
        }
        #expect(try stores.findings(Shop3.self) == [])

        let disk = try #require(stores.disk as? SimulatedDisk)
        var rebuilt = Stores(disk.afterProcessDeath(), stores.directory)
        rebuilt.logOptions = stores.logOptions
        rebuilt.logOptions.ignoresDerivedFiles = true
        try rebuilt.use(Shop3.self) { _, context in try Self.check(context, kind) }
        #expect(try rebuilt.findings(Shop3.self) == [])

        let salvaged = Stores(disk, "/s/salvaged")
        let salvage = Salvage(
            to: salvaged.directory, on: disk, clock: .system, options: Stores.options, deriver: RowIndexDeriver())
        let source = try SalvageSource.open(stores.directory, on: disk)
        _ = try salvage.run(source, finding: { Issue.record("\($0)") }, progress: { _, _, _ in })
        try salvaged.use(Shop3.self) { _, context in try Self.check(context, kind) }
        #expect(try salvaged.findings(Shop3.self) == [])
    }

    /// Changes the record of a migration whose second stage has failed, and migrates.
    private func migrate(_ kind: Kind, changing change: (inout MigrationRecord) -> Void) throws {
        let shops = try Shops()
        let fails = Guarded(true)
        let stages = [
            Self.first(.custom) {},
            Self.second(kind) { if fails.withLock({ $0 }) { throw Stopped() } },
        ]
        #expect(try shops.failure(to: Shop3.self, stages, Self.patient)?.code == .stageFailed)
        let log = try Log.open(
            shops.stores.directory, on: shops.stores.disk, clock: .system, options: Stores.options,
            deriver: RowIndexDeriver())
        var record = try #require(try StoredCatalog.read(log.snapshot())?.migration)
        change(&record)
        _ = try log.write(author: nil) { transaction in
            try StoredCatalog.put(record, StoredCatalog.RecordNumber.migration, in: &transaction)
        }
        try log.close()
        fails.withLock { $0 = false }
        try shops.migrate(to: Shop3.self, stages, Self.patient) { _, context in try Self.check(context, kind) }
        #expect(try shops.stores.findings(Shop3.self) == [])
    }

    @Test(arguments: Kind.allCases, [UInt16(0), .max])
    func `A13: a stage that begins again frees no number in use by a wrong counter`(kind: Kind, counter: UInt16) throws
    {
        try migrate(kind) { record in
            record.sourceMap.counters.table = counter
            record.sourceMap.counters.layout = counter
        }
    }

    @Test(arguments: Kind.allCases)
    func `a record that names tables of the engine drops none of them`(kind: Kind) throws {
        let tables: [UInt16] = Array(0..<TableID.firstEntity)
        try migrate(kind) { record in
            record.restart?.tables += tables
            record.intermediateTables += tables
            record.unreadTables += tables
        }
    }

    @Test func `a record with a negative count is malformed`() throws {
        for change in 0..<4 {
            let stores = Stores()
            try stores.use(Note1.self) { container, _ in
                let log = container.rowStore.log
                let map = container.rowStore.storage.map
                var record = MigrationRecord(
                    planDigest: "other", stage: 0, sourceSchema: container.schema, sourceMap: map,
                    targetSchema: container.schema, targetMap: map)
                if change == 0 { record.leftBehindCount = -1 }
                if change == 1 { record.restart = StageRestart(tables: [], firstBlob: 1, leftBehindCount: -1) }
                if change > 1 { record.attempts = StageAttempts() }
                if change == 2 { record.attempts?.resumes = -1 }
                if change == 3 { record.attempts?.object = Limits.recordIDMax + 1 }
                _ = try log.write(author: nil) { transaction in
                    try StoredCatalog.put(record, StoredCatalog.RecordNumber.migration, in: &transaction)
                }
                #expect { _ = try StoredCatalog.read(log.snapshot()) } throws: {
                    ($0 as? StoreError)?.code == .malformed
                }
            }
        }
    }

    /// The catalog is data from a file: its counters must not free numbers that are in use.
    @Test func `A13: a wrong number of unused tables frees none that is in use`() throws {
        let shops = try Shops()
        try shops.stores.use(Shop1.self) { container, _ in
            let store = container.rowStore
            let map = store.storage.map
            var record = MigrationRecord(
                planDigest: "other", stage: 0, sourceSchema: container.schema, sourceMap: map,
                targetSchema: container.schema, targetMap: map)
            var unused = NumberCounters()
            unused.table = 0
            unused.layout = 0
            record.unusedNumbers = unused
            _ = try store.log.write(author: nil) { transaction in
                record.firstBlob = transaction.nextID(in: .blobs)
                try StoredCatalog.put(record, StoredCatalog.RecordNumber.migration, in: &transaction)
            }
        }
        try shops.checkOld()
        let counters = try shops.stores.counters()
        try shops.stores.use(Shop1.self) { container, _ in
            let map = container.rowStore.storage.map
            #expect(map.tables.allSatisfy { $0 < counters.table })
            #expect(map.entities.allSatisfy { $0.layout < counters.layout })
        }
    }
}
