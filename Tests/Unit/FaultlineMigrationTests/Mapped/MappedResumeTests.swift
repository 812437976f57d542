import Faultline
import FaultlineDisk
import FaultlineLog
import FaultlineMigration
import FaultlineStore
import FaultlineTestSupport
import Synchronization
import Testing

/// Killed mapped stages continue from their last batch, if their policies support it.
struct MappedResumeTests {
    private func options(_ batchByteCount: Int) -> MigrationOptions {
        var options = MigrationOptions()
        options.batchByteCount = batchByteCount
        return options
    }

    /// Migrates a store, and keeps the disk as it would be if the process were killed when the policy reaches an
    /// employee in one of the passes.
    private func killed(
        at number: Int, in call: String, _ batchByteCount: Int,
        _ plan: any SchemaMigrationPlan.Type = ResumableWorkPlan.self
    ) throws -> (whole: Stores, cut: Stores) {
        let stores = Stores()
        try WorkStore.make(in: stores)
        let killed = Guarded<SimulatedDisk?>(nil)
        let notes = PolicyNotes(
            stop: { source in
                guard source.entity.name == call,
                    source[call == "City" ? "lastNumber" : "number"] as? Int == number,
                    let disk = stores.disk as? SimulatedDisk
                else { return }
                let image = disk.crashImages(CrashOptions()).first { _ in true }?.disk
                killed.withLock { if $0 == nil { $0 = image } }
            })
        try PolicyNotes.$current.withValue(notes) {
            try stores.use(Work2.self, plan, migration: options(batchByteCount)) { _, _ in }
        }
        return (stores, Stores(try #require(killed.withLock { $0 }), stores.directory))
    }

    /// In the first pass the policy gets employees; in the second it gets cities, where 198 is the last employee of
    /// one.
    @Test(arguments: [("Employee", 155, 1), ("Employee", 155, 600), ("City", 198, 1)])
    func `a stage goes on behind its last batch`(call: String, number: Int, batchByteCount: Int) throws {
        let (whole, cut) = try killed(at: number, in: call, batchByteCount)
        let seen = Guarded<[Int]>([])
        let notes = PolicyNotes(
            stop: { source in
                guard source.entity.name == "Employee", let number = source["number"] as? Int else { return }
                seen.withLock { $0.append(number) }
            })
        try PolicyNotes.$current.withValue(notes) {
            try cut.use(Work2.self, ResumableWorkPlan.self, migration: options(batchByteCount)) { container, context in
                let report = container.migrationReport
                #expect(report.resumes == 1)
                #expect(report.objectsRead == 180 + 40 + 180)
                #expect(report.objectsWritten == 180 + 40 + 7)
                #expect(report.blobsMoved == 40)
                try WorkStore.check(context)
            }
        }
        seen.withLock { seen in
            if call == "City" {
                #expect(seen == [])
            } else {
                // Completed batches are not repeated.
                #expect(seen.last == 198)
                #expect(seen.first == 155 || batchByteCount > 1 && seen.count < 180)
            }
        }
        #expect(notes.all == ["cities resume"])
        let rows = try whole.rows()
        let found = try cut.rows()
        let differences = Set(rows.keys).union(found.keys).filter { $0 != "schema" && rows[$0] != found[$0] }
        #expect(differences == [])
        #expect(try cut.findings(Work2.self) == [])
    }

    @Test(arguments: [("Employee", 155), ("City", 198)])
    func `a stage that is cancelled goes on behind its last batch`(call: String, number: Int) throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        let control = MigrationControl()
        var cancelled = options(1)
        cancelled.control = control
        let stopping = PolicyNotes(
            stop: { source in
                if source.entity.name == call, source[call == "City" ? "lastNumber" : "number"] as? Int == number {
                    control.cancel()
                }
            })
        let error = PolicyNotes.$current.withValue(stopping) {
            #expect(throws: MigrationError.self) {
                try stores.open(Work2.self, ResumableWorkPlan.self, migration: cancelled)
            }
        }
        #expect(error?.code == .cancelled)
        let seen = Guarded<[Int]>([])
        let notes = PolicyNotes(
            stop: { source in
                guard source.entity.name == "Employee", let number = source["number"] as? Int else { return }
                seen.withLock { $0.append(number) }
            })
        try PolicyNotes.$current.withValue(notes) {
            try stores.use(Work2.self, ResumableWorkPlan.self, migration: options(1)) { container, context in
                #expect(container.migrationReport.resumes == 1)
                #expect(container.migrationReport.objectsRead == 180 + 40 + 180)
                try WorkStore.check(context)
            }
        }
        // With batches of one object, it continues with the next object.
        seen.withLock { #expect($0.first == (call == "City" ? nil : 156)) }
        #expect(notes.all == ["cities resume"])
        #expect(try stores.findings(Work2.self) == [])
    }

    @Test func `with a quarantine it begins again`() throws {
        let (_, cut) = try killed(at: 155, in: "Employee", 1)
        let notes = PolicyNotes()
        var options = options(1)
        options.onFailure = .quarantine()
        try PolicyNotes.$current.withValue(notes) {
            try cut.use(Work2.self, ResumableWorkPlan.self, migration: options) { container, context in
                #expect(container.migrationReport.resumes == 1)
                #expect(container.migrationReport.objectsRead == 180 + 40 + 180)
                try WorkStore.check(context)
            }
        }
        #expect(notes.all == ["cities begin"])
        #expect(try cut.findings(Work2.self) == [])
    }

    /// Its mappings took a property by its name before its original name.
    @Test func `a stage that an older release began begins again`() throws {
        let (_, cut) = try killed(at: 155, in: "Employee", 1)
        let log = try Log.open(
            cut.directory, on: cut.disk, clock: .system, options: Stores.options, deriver: RowIndexDeriver())
        var record = try #require(try StoredCatalog.read(log.snapshot())?.migration)
        record.planDigest = record.planDigest.replacing("following ", with: "mapped ")
        _ = try log.write(author: nil) { transaction in
            try StoredCatalog.put(record, StoredCatalog.RecordNumber.migration, in: &transaction)
        }
        try log.close()
        let notes = PolicyNotes()
        try PolicyNotes.$current.withValue(notes) {
            try cut.use(Work2.self, ResumableWorkPlan.self, migration: options(1)) { container, context in
                #expect(container.migrationReport.objectsRead == 180 + 40 + 180)
                try WorkStore.check(context)
            }
        }
        #expect(notes.all == ["cities begin"])
        #expect(try cut.findings(Work2.self) == [])
    }

    /// The policy requests all objects that were made, and none of them has to be saved.
    @Test func `a policy may look at all that was made when it goes on`() throws {
        let (whole, cut) = try killed(at: 155, in: "Employee", 1, AskingWorkPlan.self)
        let notes = PolicyNotes()
        try PolicyNotes.$current.withValue(notes) {
            try cut.use(Work2.self, AskingWorkPlan.self, migration: options(1)) { container, context in
                #expect(container.migrationReport.objectsRead == 180 + 40 + 180)
                #expect(container.migrationReport.objectsWritten == 180 + 40 + 7)
                try WorkStore.check(context)
            }
        }
        #expect(notes.all == ["cities resume", "cities 7"])
        let rows = try whole.rows()
        let found = try cut.rows()
        #expect(Set(rows.keys).union(found.keys).filter { $0 != "schema" && rows[$0] != found[$0] } == [])
    }

    /// The first kill leaves a stage that can continue.
    ///
    /// An opening with a quarantine takes the stage back, and is killed before the stage begins again. An opening
    /// without a quarantine must then not continue it.
    @Test func `a migration that was taken back is not continued`() throws {
        let (_, cut) = try killed(at: 155, in: "Employee", 1)
        let simulated = try #require(cut.disk as? SimulatedDisk)
        let images = Box<[SimulatedDisk]>([])
        let isBegun = Guarded(false)
        simulated.onOperation = { disk, _ in
            if !isBegun.withLock({ $0 }) { images.value.append(disk.afterProcessDeath()) }
        }
        var options = options(1)
        options.onFailure = .quarantine()
        options.progress = { progress in if progress.pass == .instances { isBegun.withLock { $0 = true } } }
        try cut.use(Work2.self, ResumableWorkPlan.self, migration: options) { _, _ in }
        simulated.onOperation = nil
        let takenBack = try images.value.last { image in
            let log = try Log.open(
                cut.directory, on: image.afterProcessDeath(), clock: .system, options: Stores.options,
                deriver: RowIndexDeriver())
            defer { log.abandonForTests() }
            return try StoredCatalog.read(log.snapshot())?.migration?.restart?.tables == []
        }
        let again = Stores(try #require(takenBack), cut.directory)
        try again.use(Work2.self, ResumableWorkPlan.self, migration: self.options(1)) { container, context in
            #expect(container.migrationReport.objectsRead == 180 + 40 + 180)
            try WorkStore.check(context)
        }
        #expect(try again.findings(Work2.self) == [])
    }

    /// The stage comes after another one, so that the migration is not given up when it fails.
    @Test func `a failed stage begins again, with the mappings of a fixed release`() throws {
        let shops = try Shops()
        let stages: [MigrationStage] = [
            .mapped(
                fromVersion: Shop1.self, toVersion: Shop2.self,
                MappingModel(EntityMapping(from: "Item", to: "Item"))),
            .mapped(
                fromVersion: Shop2.self, toVersion: Shop3.self,
                MappingModel(EntityMapping(from: "Item", to: "Item", policy: PricingPolicy.self))),
        ]
        let error = try shops.failure(to: Shop3.self, stages, options(1))
        #expect(error?.code == .stageFailed)
        try PolicyNotes.$current.withValue(PolicyNotes(stop: { $0["cents"] = 7 })) {
            try shops.migrate(to: Shop3.self, stages, options(1)) { container, context in
                #expect(container.migrationReport.resumes == 1)
                let items = try context.all(Shop3.Item.self)
                #expect(items.map(\.cents) == [Int](repeating: 7, count: Shops.count))
            }
        }
        #expect(try shops.stores.findings(Shop3.self) == [])
    }

    /// The names of the mappings are the same, and so are the schemas.
    @Test func `a stage does not go on by mappings that do something else`() throws {
        let stores = Stores()
        try MusicStore.make(in: stores)
        let killed = Guarded<SimulatedDisk?>(nil)
        var watched = options(1)
        watched.progress = { progress in
            guard progress.pass == .relationships, let disk = stores.disk as? SimulatedDisk else { return }
            killed.withLock { if $0 == nil { $0 = disk.afterProcessDeath() } }
        }
        var first = MusicPlan.whole
        first.entityMappings[0].attributeMappings[0].valueExpression = .constant(1.5)
        try MusicPlan.$model.withValue(first) {
            try stores.use(Music2.self, MusicPlan.self, migration: watched) { _, _ in }
        }
        let image = try #require(killed.withLock { $0 })
        for (model, resumes) in [(first, 1), (MusicPlan.whole, 0)] {
            let cut = Stores(image.afterProcessDeath(), stores.directory)
            try MusicPlan.$model.withValue(model) {
                try cut.use(Music2.self, MusicPlan.self, migration: options(1)) { container, context in
                    #expect(container.migrationReport.resumes == resumes)
                    let records = try context.all(Music2.Record.self).sorted { $0.title < $1.title }
                    #expect(records.map(\.minutes) == (0..<6).map { resumes == 1 ? 1.5 : Double($0) * 2 })
                    #expect(records.map(\.songs.count) == [Int](repeating: 4, count: 6))
                }
            }
            #expect(try cut.findings(Music2.self) == [])
        }
    }

    /// A policy whose stage was saved in the middle of its call cannot continue that call.
    @Test func `a save within a call is taken back`() throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        let killed = Guarded<SimulatedDisk?>(nil)
        let notes = PolicyNotes(
            stop: { source in
                guard source.entity.name == "Employee", source["number"] as? Int == 155,
                    let disk = stores.disk as? SimulatedDisk
                else { return }
                killed.withLock { $0 = disk.crashImages(CrashOptions()).first { _ in true }?.disk }
            })
        try PolicyNotes.$current.withValue(notes) {
            try stores.use(Work2.self, LookingWorkPlan.self, migration: options(1)) { _, _ in }
        }
        let cut = Stores(try #require(killed.withLock { $0 }), stores.directory)
        let again = PolicyNotes()
        try PolicyNotes.$current.withValue(again) {
            try cut.use(Work2.self, LookingWorkPlan.self, migration: options(1)) { _, context in
                try WorkStore.check(context)
            }
        }
        #expect(again.all == ["cities begin"])
    }
}

/// `MappedWorkPlan` with a policy that can continue.
private enum ResumableWorkPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { MappedWorkPlan.schemas }
    static var stages: [MigrationStage] {
        [
            .mapped(
                fromVersion: Work1.self, toVersion: Work2.self, MappedWorkPlan.employees,
                MappedWorkPlan.cities(ResumableCityPolicy.self))
        ]
    }
}

/// The same plan with a policy that reads all objects made.
private enum LookingWorkPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { MappedWorkPlan.schemas }
    static var stages: [MigrationStage] {
        [
            .mapped(
                fromVersion: Work1.self, toVersion: Work2.self, MappedWorkPlan.employees,
                MappedWorkPlan.cities(LookingCityPolicy.self))
        ]
    }
}

/// The same plan with a policy that reads them when it continues.
private enum AskingWorkPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { MappedWorkPlan.schemas }
    static var stages: [MigrationStage] {
        [
            .mapped(
                fromVersion: Work1.self, toVersion: Work2.self, MappedWorkPlan.employees,
                MappedWorkPlan.cities(AskingCityPolicy.self))
        ]
    }
}

/// Refuses items without a price, and lets a test provide one.
private final class PricingPolicy: EntityMigrationPolicy, ResumablePolicy {
    private struct Unpriced: Error {}

    override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        let made = try manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [sInstance])
        for item in made { try PolicyNotes.current.stop?(item) }
    }

    override func performCustomValidation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
        let items = try manager.destinationContext.fetch(FetchRequest(entityName: "Item"))
        if items.contains(where: { $0["cents"] as? Int == 0 }) { throw Unpriced() }
    }
}

private class ResumableCityPolicy: CityPolicy, ResumablePolicy {
    override func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {
        PolicyNotes.current.add("\(mapping.name) begin")
    }

    func resume(_ mapping: EntityMapping, with manager: MigrationManager) throws {
        PolicyNotes.current.add("\(mapping.name) resume")
    }

    override func createRelationships(
        forDestination dInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try PolicyNotes.current.stop?(dInstance)
        try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
    }
}

private final class AskingCityPolicy: ResumableCityPolicy {
    override func resume(_ mapping: EntityMapping, with manager: MigrationManager) throws {
        try super.resume(mapping, with: manager)
        let made = try manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: nil)
        PolicyNotes.current.add("\(mapping.name) \(made.count)")
    }
}

private final class LookingCityPolicy: ResumableCityPolicy {
    override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        if sInstance["number"] as? Int == 100 {
            _ = try manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: nil)
        }
    }
}
