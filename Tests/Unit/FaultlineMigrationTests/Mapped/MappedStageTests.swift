import Faultline
import FaultlineLog
import FaultlineMigration
import FaultlineStore
import Foundation
import Testing

struct MappedStageTests {
    private func options(_ batch: Int = 2_000) -> MigrationOptions {
        var options = MigrationOptions()
        options.batchByteCount = batch
        return options
    }

    @Test(arguments: [1, 2_000, 1 << 20])
    func splitsMergesMovesAndKeepsIdentity(batchByteCount: Int) throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        try stores.use(Work2.self, MappedWorkPlan.self, migration: options(batchByteCount)) { container, context in
            let report = container.migrationReport
            #expect(report.versions == ["1.0.0", "2.0.0"])
            #expect(report.objectsRead == 180 + 40 + 180)
            #expect(report.objectsWritten == 180 + 40 + 7)
            #expect(report.blobsMoved == 40)
            #expect(report.blobsLeftBehind == 0)
            #expect(report.blobBytesRead == 0)
            try WorkStore.check(context)
            #expect(container.rowStore.log.snapshot().recordCount(of: .blobs) == 40)
            // The unique index is maintained.
            context.insert(Work2.Employee(number: 3, firstName: "New", lastName: "One"))
            try context.save()
            try #expect(context.fetchCount(FetchDescriptor<Work2.Employee>()) == 180)
        }
        #expect(try stores.findings(Work2.self) == [])
        try stores.use(Work2.self, MappedWorkPlan.self) { container, _ in
            #expect(container.migrationReport.versions.isEmpty)
        }
    }

    @Test func policiesAreCalledInThreePasses() throws {
        let stores = Stores()
        try stores.use(Event1.self) { _, context in
            let place = Event1.Place(name: "here")
            for number in 0..<2 {
                let event = Event1.Event(
                    title: "e\(number)", timeStamp: Date(timeIntervalSince1970: Double(number) * 40 * 86_400))
                event.place = place
                context.insert(event)
            }
            try context.save()
        }
        let notes = PolicyNotes()
        try PolicyNotes.$current.withValue(notes) {
            try stores.use(Event2.self, EventPlan.self) { _, context in
                let events = try context.all(Event2.Event.self).sorted { $0.title < $1.title }
                #expect(events.map(\.day) == [1, 10])
                #expect(events.map(\.month) == [1, 2])
                #expect(events.allSatisfy { $0.place?.name == "here" })
            }
        }
        #expect(
            notes.all == [
                "Event->Event begin", "Event->Event create", "Event->Event create", "Event->Event endCreation",
                "Place->Place begin", "Place->Place create", "Place->Place endCreation",
                "Event->Event relate", "Event->Event relate", "Event->Event endRelation",
                "Place->Place relate", "Place->Place endRelation",
                "Event->Event validate", "Event->Event end", "Place->Place validate", "Place->Place end",
            ])
        #expect(try stores.findings(Event2.self) == [])
    }

    @Test func aPolicyThatThrowsLeavesTheOldState() throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        let notes = PolicyNotes { source in if source["number"] as? Int == 155 { throw PolicyNotes.Stopped() } }
        PolicyNotes.$current.withValue(notes) {
            do {
                _ = try stores.open(Work2.self, MappedWorkPlan.self, migration: options())
                Issue.record("The migration went through.")
            } catch let error as MigrationError {
                #expect(error.code == .stageFailed && error.cause is PolicyNotes.Stopped)
                #expect(error.message.contains("The mapping cities of the stage to 2.0.0 stopped, Employee 156"))
            } catch { Issue.record("\(error)") }
        }
        try stores.use(Work1.self) { container, context in
            #expect(try context.fetchCount(FetchDescriptor<Work1.Employee>()) == 200)
            #expect(container.rowStore.log.snapshot().recordCount(of: .blobs) == 40)
            for employee in try context.all(Work1.Employee.self) where employee.number % 5 == 0 {
                #expect(employee.photo == WorkStore.photo(employee.number))
            }
        }
        try stores.use(Work2.self, MappedWorkPlan.self) { _, context in try WorkStore.check(context) }
        #expect(try stores.findings(Work2.self) == [])
    }

    @Test func beginsAgainAfterItWasStopped() throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        let notes = PolicyNotes { source in if source["number"] as? Int == 155 { throw PolicyNotes.Stopped() } }
        PolicyNotes.$current.withValue(notes) {
            _ = #expect(throws: MigrationError.self) {
                try stores.open(Work2.self, MappedWorkPlan.self, migration: options(1))
            }
        }
        try stores.use(Work2.self, MappedWorkPlan.self, migration: options()) { container, context in
            #expect(container.migrationReport.objectsRead == 180 + 40 + 180)
            try WorkStore.check(context)
            #expect(container.rowStore.log.snapshot().recordCount(of: .blobs) == 40)
        }
        #expect(try stores.findings(Work2.self) == [])
    }

    @Test func aValidationThatFailsLeavesTheOldState() throws {
        let stores = Stores()
        try stores.use(Event1.self) { _, context in
            context.insert(Event1.Event(title: "e", timeStamp: .now))
            context.insert(Event1.Place(name: "p"))
            try context.save()
        }
        let notes = PolicyNotes { _ in throw PolicyNotes.Stopped() }
        PolicyNotes.$current.withValue(notes) {
            let error = #expect(throws: MigrationError.self) { try stores.open(Event2.self, EventPlan.self) }
            #expect(error?.cause is PolicyNotes.Stopped)
        }
        #expect(notes.all.last == "Event->Event validate")
        try stores.use(Event1.self) { _, context in
            try #expect(context.fetchCount(FetchDescriptor<Event1.Event>()) == 1)
        }
    }
}
