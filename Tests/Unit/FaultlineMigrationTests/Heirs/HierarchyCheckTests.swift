import Faultline
import FaultlineLog
import FaultlineMigration
import FaultlineStore
import Testing

/// The check of stored objects in the transaction that ends a migration.
struct HierarchyCheckTests {
    @Test func `objects of a save that no snapshot has yet are seen`() throws {
        let target = try Stores().use(Travel4.self) { container, _ in container.rowStore.storage.schema }
        try Stores().use(Travel1.self) { container, context in
            context.insert(Travel1.Trip(name: "t"))
            try context.save()
            let rows = container.rowStore
            let stored = try #require(try StoredCatalog.read(rows.log.snapshot()))
            let steps = try MigrationSteps(from: stored.schema, stored.map, to: target, plan: nil)
            let check = HierarchyCheck(rows.log, stored, try #require(steps.all.first), MigrationOptions())
            let entity = try #require(rows.storage.entity(named: "Trip"))
            _ = try rows.log.write(author: nil) { transaction in try check.run(in: transaction) }

            let queued = try rows.log.queue(author: nil, isSuspending: false) { transaction in
                var draft = Draft.create(layout: entity.layout)
                defer { draft.destroy() }
                entity.hierarchy?.setClass(of: &draft, to: 1)
                var writer = RowWriter(rows)
                let id = try transaction.allocateIDs(1, in: entity.table)
                try writer.insert(draft, id: id, entity, in: &transaction)
            }
            let error = #expect(throws: MigrationError.self) {
                _ = try rows.log.write(author: nil) { transaction in try check.run(in: transaction) }
            }
            #expect(error?.code == .unhandledData)
            _ = try rows.log.end(queued)
        }
    }
}
