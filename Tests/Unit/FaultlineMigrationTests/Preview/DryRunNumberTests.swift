import Faultline
import FaultlineLog
import FaultlineMigration
import FaultlineStore
import Foundation
import Testing

/// A store has about 65,000 numbers for tables and for layouts: dry runs do not use them up.
@Suite struct DryRunNumberTests {
    private func counters(_ stores: Stores) throws -> NumberCounters {
        try stores.use(Work1.self) { container, _ in container.rowStore.storage.map.counters }
    }

    private func catalogRecords(_ stores: Stores) throws -> Int {
        try stores.use(Work1.self) { container, _ in
            container.rowStore.log.snapshot().recordCount(of: .catalog)
        }
    }

    @Test(arguments: [false, true]) func `tables and layouts of a dry run are given again`(isMapped: Bool) throws {
        let stores = Stores(isOnDisk: true)
        try WorkStore.make(in: stores)
        let plan: any SchemaMigrationPlan.Type = isMapped ? MappedWorkPlan.self : WorkPlan.self
        let before = try counters(stores)
        let records = try catalogRecords(stores)
        for _ in 0..<3 {
            let report = try stores.preview(Work2.self, plan)
            #expect(report.failures.isEmpty && report.objectsWritten > 0)
        }
        let after = try counters(stores)
        #expect(after.table == before.table && after.layout == before.layout)
        // A replay could confuse the entries of two indexes.
        #expect(after.index > before.index)
        #expect(try catalogRecords(stores) == records)

        try stores.use(Work2.self, plan) { _, context in try WorkStore.check(context) }
        #expect(try stores.findings(Work2.self) == [])
        // Removes everything that can be derived again: it comes from records of dry runs and the migration in the same
        // tables.
        for file in try FileManager.default.contentsOfDirectory(atPath: stores.directory)
        where file.hasSuffix(".flt") || file.hasSuffix(".flr") {
            try FileManager.default.removeItem(atPath: "\(stores.directory)/\(file)")
        }
        try stores.use(Work2.self, plan) { _, context in try WorkStore.check(context) }
        #expect(try stores.findings(Work2.self) == [])
    }

    @Test func `an object that stopped a closure of a dry run gives its numbers back`() throws {
        struct Bad: Error {}
        let shops = try Shops()
        func counters() throws -> NumberCounters {
            try shops.stores.use(Shop1.self) { container, _ in container.rowStore.storage.map.counters }
        }
        let before = try counters()
        let stages = ShopStages([ShopStages.custom(will: { _ in throw Bad() })])
        let report = try ShopStages.$current.withValue(stages) {
            try shops.stores.preview(Shop2.self, ShopPlan.self)
        }
        #expect(report.isIncomplete)
        let after = try counters()
        #expect(after.table == before.table && after.layout == before.layout)
    }
}
