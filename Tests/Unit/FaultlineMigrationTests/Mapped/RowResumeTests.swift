import Faultline
import FaultlineDisk
import FaultlineLog
import FaultlineMigration
import FaultlineStore
import FaultlineTestSupport
import Foundation
import Synchronization
import Testing

/// Stages that make rows of rows, killed and failed.
struct RowResumeTests {
    private static let count = 40

    private func options(_ passes: PassNotes? = nil, batchByteCount: Int = 1) -> MigrationOptions {
        var options = Stores.dropping
        options.batchByteCount = batchByteCount
        options.progress = { progress in passes?.add(progress.pass) }
        return options
    }

    private func made(count: Int = Self.count, titles: (Int) -> String = { "e\($0)" }) throws -> Stores {
        let stores = Stores()
        try stores.use(Event1.self) { _, context in
            let places = (0..<3).map { Event1.Place(name: "p\($0)") }
            places.forEach { context.insert($0) }
            for number in 0..<count {
                let event = Event1.Event(title: titles(number), timeStamp: Date(timeIntervalSince1970: Double(number)))
                event.place = places[number % 3]
                context.insert(event)
            }
            try context.save()
            for place in places { place.events.reverse() }
            try context.save()
        }
        return stores
    }

    /// A migrated store, and the disks that a kill and a power cut leave after each of its operations.
    private func migrated() throws -> (whole: Stores, images: [SimulatedDisk]) {
        let stores = try made()
        return (stores, try images(migrating: stores))
    }

    /// Migrates a store, and gives the disks that a kill and a power cut leave after each of its operations.
    private func images(migrating stores: Stores) throws -> [SimulatedDisk] {
        let simulated = try #require(stores.disk as? SimulatedDisk)
        let images = Box<[SimulatedDisk]>([])
        simulated.onOperation = { disk, _ in
            images.value += [disk.afterProcessDeath(), disk.withOnlyWhatIsDurable()]
        }
        try stores.use(Event2.self, RowEventPlan.self, migration: options()) { _, _ in }
        simulated.onOperation = nil
        return images.value
    }

    private func log(_ disk: SimulatedDisk, _ stores: Stores) throws -> Log {
        try Log.open(
            stores.directory, on: disk, clock: .system, options: Stores.options, deriver: RowIndexDeriver())
    }

    private func progress(_ disk: SimulatedDisk, _ stores: Stores) throws -> MappedProgress? {
        let log = try log(disk.afterProcessDeath(), stores)
        defer { log.abandonForTests() }
        return try StoredCatalog.read(log.snapshot())?.migration?.mapped
    }

    private func check(_ cut: Stores, _ whole: [String: [UInt8]], resumes: Int = 1) throws -> [MigrationPass] {
        let passes = PassNotes()
        try cut.use(Event2.self, RowEventPlan.self, migration: options(passes)) { container, _ in
            let report = container.migrationReport
            #expect(report.resumes == resumes && report.objectsRead == Self.count + 3)
            #expect(report.objectsWritten == Self.count + 3)
        }
        let found = try cut.rows()
        #expect(Set(whole.keys).union(found.keys).filter { $0 != "schema" && whole[$0] != found[$0] } == [])
        #expect(try cut.findings(Event2.self) == [])
        return passes.all
    }

    @Test func `a stage that a kill or a power cut stops anywhere goes on, with the same rows`() throws {
        let (stores, images) = try migrated()
        let whole = try stores.rows()
        let stopped = try images.filter { image in
            guard let progress = try progress(image, stores) else { return false }
            return progress.lastDone > 0 && progress.rowRule > 0
        }
        #expect(stopped.count > Self.count)
        let parts = TestSize.of(24, unoptimized: 8)
        for place in stride(from: 0, to: stopped.count, by: max(stopped.count / parts, 1) | 1) {
            let passes = try check(Stores(stopped[place], stores.directory), whole)
            #expect(!passes.contains(.relationships))
        }
    }

    /// A stopped stage whose record names a rule: 0 for objects.
    private func image(_ stores: Stores, _ images: [SimulatedDisk], after last: Int, rule: Int) throws -> Stores {
        let image = try #require(
            try images.first { image in (try progress(image, stores)).map { $0.lastDone > last } ?? false })
        let disk = image.afterProcessDeath()
        let log = try log(disk, stores)
        var record = try #require(try StoredCatalog.read(log.snapshot())?.migration)
        record.mapped?.rowRule = rule
        _ = try log.write(author: nil) { transaction in
            try StoredCatalog.put(record, StoredCatalog.RecordNumber.migration, in: &transaction)
        }
        try log.close()
        return Stores(disk, stores.directory)
    }

    /// Its new objects have no references yet.
    @Test func `a stage that another release began with objects goes on with objects`() throws {
        let (stores, images) = try migrated()
        let whole = try stores.rows()
        // All but one of its objects are made by the run that is stopped here.
        let second = try self.images(migrating: image(stores, images, after: 0, rule: 0))
        let stopped = try second.filter { image in
            guard let progress = try progress(image, stores) else { return false }
            #expect(progress.rowRule == 0)
            // Within the first mapping, within the second, and while they are related: all with a save of that run.
            let last: UInt64 = progress.mapping == 0 ? 1 : 0
            let isMade = progress.pass == .make && progress.mapping < 2 && progress.lastDone > last
            return isMade || progress.pass == .relate
        }
        #expect(stopped.count > Self.count)
        let parts = TestSize.of(24, unoptimized: 8)
        for place in stride(from: 0, to: stopped.count, by: max(stopped.count / parts, 1) | 1) {
            let progress = try #require(try progress(stopped[place], stores))
            let isRelated = progress.pass == .relate && progress.mapping > 0
            let passes = try check(Stores(stopped[place], stores.directory), whole, resumes: 2)
            #expect(passes.contains(.relationships) || isRelated)
        }
    }

    /// Its rows have the references of that rule.
    @Test(arguments: [0, 1 << 40])
    func `a stage that was begun by another rule for rows goes on with objects`(rule: Int) throws {
        let (stores, images) = try migrated()
        let passes = try check(image(stores, images, after: 20, rule: rule), stores.rows())
        #expect(passes.contains(.relationships))
    }

    @Test func `one long row does not make the batches small`() throws {
        func transactions(_ titles: (Int) -> String) throws -> UInt64 {
            let stores = try made(count: 1_000, titles: titles)
            return try stores.use(Event2.self, RowEventPlan.self, migration: options(batchByteCount: 1 << 15)) {
                container, _ in container.rowStore.log.snapshot().sequence
            }
        }
        let short = try transactions { "e\($0)" }
        let long = try transactions { $0 == 10 ? String(repeating: "e", count: 2_000) : "e\($0)" }
        #expect(long <= short + 2)
    }

    @Test func `a row that breaks a rule stops the stage with the object, and a corrected one restarts`() throws {
        let stores = try made { $0 == 30 ? "e7" : "e\($0)" }
        let error = #expect(throws: MigrationError.self) {
            try stores.open(TitledEvents.self, TitledPlan.self, migration: options())
        }
        #expect(error?.code == .stageFailed && error?.entityName == "Event")
        #expect(error.map { "\($0)" }?.contains("8 and 31 of Event would have the same unique values") == true)
        try stores.use(Event1.self) { _, context in
            for event in try context.all(Event1.Event.self) where event.title == "e7" {
                event.title = "other \(event.timeStamp)"
            }
            try context.save()
        }
        try stores.use(TitledEvents.self, TitledPlan.self, migration: options()) { container, context in
            #expect(container.migrationReport.objectsWritten == Self.count)
            let events = try context.all(TitledEvents.Event.self)
            #expect(events.allSatisfy { $0.place != nil })
        }
        #expect(try stores.findings(TitledEvents.self) == [])
    }

    @Test func `a required attribute without a value names the object`() throws {
        let old = SchemaChange.entity("Thing", SchemaChange.value("a", Int?.self))
        let new = SchemaChange.entity("Thing", SchemaChange.value("a", Int.self))
        let store = try ChangedStore(
            Schema(entities: [old]),
            [SchemaChange.Sample("Thing", "1", ["a": 1]), SchemaChange.Sample("Thing", "2")])
        let error = #expect(throws: MigrationError.self) {
            try store.open(
                Schema(entities: [new], version: Schema.Version(2, 0, 0)),
                mapping: MappingModel(EntityMapping(from: "Thing", to: "Thing"))
            ) { _, _ in }
        }
        #expect(error?.code == .stageFailed && error?.entityName == "Thing" && error?.object == 2)
        #expect(error?.propertyName == "a")
    }
}

private enum RowEventPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Event1.self, Event2.self] }
    static var stages: [MigrationStage] {
        [
            .mapped(
                fromVersion: Event1.self, toVersion: Event2.self,
                MappingModel(
                    EntityMapping(
                        from: "Event", to: "Event",
                        attributes: [PropertyMapping("day", .constant(1)), PropertyMapping("month", .constant(2))]),
                    EntityMapping(from: "Place", to: "Place")))
        ]
    }
}

/// Events with titles that no two of them have, and places that are carried over.
private enum TitledEvents: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Event.self, Place.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model final class Event {
        @Attribute(.unique) var title: String
        var timeStamp: Date
        var added: Int = 3
        var place: Place?
        init(title: String, timeStamp: Date) {
            self.title = title
            self.timeStamp = timeStamp
        }
    }

    @Model final class Place {
        var name: String
        @Relationship(inverse: \Event.place) var events: [Event] = []
        init(name: String) { self.name = name }
    }
}

private enum TitledPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Event1.self, TitledEvents.self] }
    static var stages: [MigrationStage] {
        [
            .mapped(
                fromVersion: Event1.self, toVersion: TitledEvents.self,
                MappingModel(EntityMapping(from: "Event", to: "Event")))
        ]
    }
}
