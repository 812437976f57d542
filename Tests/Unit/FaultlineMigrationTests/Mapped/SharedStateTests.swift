import Faultline
import FaultlineDisk
import FaultlineMigration
import Synchronization
import Testing

/// State that policies share: in a subclass of the manager, which a mapping model names.
struct SharedStateTests {
    private static let counts = Guarded<[Int]>([])

    final class CountedStage: MigrationManager {
        var count = 0
    }

    /// Adds to the count of its manager, and tells it in the end.
    final class TellingPolicy: CityPolicy {
        override func createDestinationInstances(
            forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
            (manager as? CountedStage)?.count += 1
        }

        override func end(_ mapping: EntityMapping, manager: MigrationManager) throws {
            let count = (manager as? CountedStage)?.count ?? -1
            SharedStateTests.counts.withLock { $0.append(count) }
            #expect(manager.mappingModel.entityMappings.map(\.name) == ["Employee->Employee", "photos", "cities"])
        }
    }

    enum Plan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [Work1.self, Work2.self] }
        static var stages: [MigrationStage] {
            var cities = MappedWorkPlan.cities(TellingPolicy.self)
            cities.managerClass = CountedStage.self
            return [.mapped(fromVersion: Work1.self, toVersion: Work2.self, MappedWorkPlan.employees, cities)]
        }
    }

    @Test func `the policies get the one that a model names`() throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        try stores.use(Work2.self, Plan.self) { _, context in try WorkStore.check(context) }
        #expect(Self.counts.withLock { $0 } == [180])
    }
}
