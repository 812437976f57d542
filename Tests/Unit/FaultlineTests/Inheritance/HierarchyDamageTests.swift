import Faultline
import FaultlineLog
import FaultlineStore
import Testing

/// Rows of a hierarchy that are not of the class that a context expects, or that cannot be read.
struct HierarchyDamageTests {
    /// Writes the row of one trip in the place of another one's, with the number of a layout; nil for that of the source.
    private func copy(_ source: Trip, over target: Trip, in store: TestStore, layout: UInt16? = nil) throws {
        let rows = store.container.rowStore
        let entity = try #require(rows.storage.entity(named: "Trip"))
        let from = try #require(source.persistentModelID.primaryKey)
        let to = try #require(target.persistentModelID.primaryKey)
        _ = try rows.log.write(author: nil) { transaction in
            let record = try transaction.record(from, in: entity.table) {
                (row: Array($0.row), layout: $0.layout, flags: $0.flags)
            }
            let (row, known, flags) = try #require(record)
            try transaction.put(
                to, in: entity.table, layout: layout ?? known, changed: SlotMask.all,
                flags: flags.union(.noIndexChange), byteCount: row.count
            ) { $0.copyBytes(from: row) }
        }
    }

    @Test func `a row that becomes one of another class gives no object of a wrong class`() throws {
        let store = try TestStore.withTrips()
        let context = store.context()
        context.errorHandler = { _ in }
        let all = try context.fetch(FetchDescriptor<Trip>())
        let personal = try #require(all.first { $0 is PrivateTrip })
        let talk = try #require(all.first { $0 is ConferenceTrip })
        try copy(talk, over: personal, in: store)

        let found = try context.fetch(FetchDescriptor<ConferenceTrip>())
        #expect(found.count == 3)
        let odd = try #require(found.first { $0.persistentModelID == personal.persistentModelID })
        #expect(type(of: odd) == ConferenceTrip.self && odd.talk.isEmpty)
        #expect(all.count == 8)
    }

    @Test func `an object whose class cannot be read is not kept as one of the root class`() throws {
        let store = try TestStore.withTrips()
        let talk = try #require(try store.context().fetch(FetchDescriptor<ConferenceTrip>()).first)
        try copy(talk, over: talk, in: store, layout: 60_000)

        let context = store.context()
        context.errorHandler = { _ in }
        let object = context.model(for: talk.persistentModelID)
        #expect((object as? Trip)?.name.isEmpty == true)
        let registered: Trip? = context.registeredModel(for: talk.persistentModelID)
        #expect(registered == nil)
    }
}
