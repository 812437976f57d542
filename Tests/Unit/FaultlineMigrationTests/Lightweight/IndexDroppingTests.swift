import Faultline
import FaultlineLog
import FaultlineMigration
import FaultlineStore
import Testing

struct IndexDroppingTests {
    private func unnamed(_ container: ModelContainer) -> [IndexID] {
        let named = container.rowStore.storage.map.indexes
        return container.rowStore.log.indexIDs.filter { !named.contains($0.rawValue) }
    }

    @Test func aMigrationLeavesNoIndexBehind() throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        let before = try stores.use(Work1.self) { container, _ in
            try container.checkpoint()
            return container.rowStore.log.indexIDs
        }
        #expect(before.count == 2)
        try stores.use(Work2.self, MappedWorkPlan.self) { container, _ in
            #expect(unnamed(container) == [])
            let indexes = container.rowStore.log.indexIDs
            #expect(Set(indexes).isDisjoint(with: before) && !indexes.isEmpty)
        }
        try stores.use(Work2.self) { container, _ in
            let left = unnamed(container)
            #expect(left == [])
        }
        #expect(try stores.findings(Work2.self) == [])
    }
}
