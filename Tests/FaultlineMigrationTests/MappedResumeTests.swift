import Faultline
import FaultlineDisk
import FaultlineMigration
import FaultlineTestSupport
import Synchronization
import Testing

/// Mapped stages that were killed go on where they were, if their policies can.
struct MappedResumeTests {
    private func options(_ batchByteCount: Int) -> MigrationOptions {
        var options = MigrationOptions()
        options.batchByteCount = batchByteCount
        return options
    }

    /// Migrates a store, and keeps the disk as it would be after a kill when the policy comes to an employee, in one of
    /// the passes.
    private func killed(at number: Int, in call: String, _ batchByteCount: Int) throws -> (whole: Stores, cut: Stores) {
        let stores = Stores()
        try WorkStore.make(in: stores)
        let killed = Mutex<SimulatedDisk?>(nil)
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
            try stores.use(Work2.self, ResumableWorkPlan.self, migration: options(batchByteCount)) { _, _ in }
        }
        return (stores, Stores(try #require(killed.withLock { $0 }), stores.directory))
    }

    /// In the first pass the policy gets employees; in the second one cities, 198 being the last employee of one.
    @Test(arguments: [("Employee", 155, 1), ("Employee", 155, 600), ("City", 198, 1)])
    func `a stage goes on behind its last batch`(call: String, number: Int, batchByteCount: Int) throws {
        let (whole, cut) = try killed(at: number, in: call, batchByteCount)
        let seen = Mutex<[Int]>([])
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
                // What was saved is not called for again.
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

    /// A policy that had the stage save amid its call cannot go on with that call.
    @Test func `what was saved amid a call is taken back`() throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        let killed = Mutex<SimulatedDisk?>(nil)
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

/// `MappedWorkPlan` with a policy that goes on.
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

/// The same with one that looks at all that was made.
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

private final class LookingCityPolicy: ResumableCityPolicy {
    override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        if sInstance["number"] as? Int == 100 {
            _ = try manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: nil)
        }
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
    }
}
