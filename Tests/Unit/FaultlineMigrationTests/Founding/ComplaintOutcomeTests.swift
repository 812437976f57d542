import Faultline
import FaultlineDisk
import FaultlineMigration
import FaultlineStore
import FaultlineTestSupport
import Foundation
import Synchronization
import Testing

/// Data that users of other libraries have lost in failed migrations.
struct ComplaintOutcomeTests {
    private struct Stopped: Error {}

    @Test func `M17 (scout PR#514, CoreStore#246, GRDB#616): no failure deletes anything`() throws {
        let shops = try Shops(doubles: 2)
        let before = try shops.stores.rows()
        let failing: [(MigrationError.Code, any VersionedSchema.Type, [MigrationStage])] = [
            (.stageFailed, Shop2.self, [ShopStages.custom(will: { _ in throw Stopped() })]),
            (
                .stageFailed, Shop2.self,
                [
                    ShopStages.custom(
                        will: { context in
                            try context.delete(model: Shop1.Item.self)
                            try context.save()
                            throw Stopped()
                        })
                ]
            ),
            (.duplicate, Shop2.self, [ShopStages.light]),
            (.badPlan, Shop2.self, []),
        ]
        for (code, version, stages) in failing {
            let error = try shops.failure(to: version, stages)
            #expect(error?.code == code, "\(error as Any)")
            try shops.stores.use(Shop1.self) { _, _ in }
            let after = try shops.stores.rows()
            #expect(Set(after.keys) == Set(before.keys), "\(code)")
            #expect(after.allSatisfy { before[$0.key] == $0.value }, "\(code)")
        }
        try shops.checkOld(doubles: 2)
    }

    @Test func `M19 (objectbox-java#691, #694): a change of type converts the values, or is refused`()
        throws
    {
        let albums = try Albums()
        // Without a stage the values would be lost. The migration is refused with the property's name, and the store
        // stays unchanged.
        let error = #expect(throws: MigrationError.self) { try albums.stores.open(Album4.self) }
        #expect(error?.code == .notLightweight)
        #expect(error?.entityName == "Photo" && error?.message.contains("width") == true)
        try albums.stores.use(Album4.self, AlbumPlan.self) { _, context in
            try #expect(context.all(Album4.Photo.self).map(\.width).sorted().prefix(2) == [0.5, 1.5])
        }
    }

    @Test func `M20 (objectbox-dart#470, CoreStore#494): a store that fits no class says so, and can be read`()
        throws
    {
        let stores = Stores(isOnDisk: true)
        try stores.use(People1.self) { _, context in
            context.insert(People1.Person(name: "Ann", age: 3))
            try context.save()
        }
        let error = #expect(throws: MigrationError.self) { try stores.open(MigrationPlanTests.Hard.self) }
        #expect(error?.code == .notLightweight && error?.propertyName == "age")
        let container = try ModelContainer(
            opening: ModelConfiguration(url: URL(filePath: stores.directory, directoryHint: .isDirectory)))
        let people = try ModelContext(container).fetch(FetchRequest(entityName: "Person"))
        #expect(people.map { $0["name"] as? String } == ["Ann"] && people.map { $0["age"] as? Int } == [3])
        try container.close()
    }

    @Test func `M22 (realm-swift#8221, GRDB#626): a stored case is gone, a Codable type has other members`()
        throws
    {
        let stores = Stores()
        try stores.use(Track1.self) { _, context in
            for (name, mood) in [("a", Track1.Mood.loud), ("b", .sad)] {
                context.insert(Track1.Track(name: name, mood: mood, spot: Track1.Spot(x: 4, old: 5)))
            }
            try context.save()
        }
        let before = try stores.rows().filter { $0.key != "schema" }
        try stores.use(Track2.self) { _, context in
            let errors = Guarded(0)
            context.errorHandler = { _ in errors.withLock { $0 += 1 } }
            let tracks = try context.all(Track2.Track.self).sorted { $0.name < $1.name }
            #expect(tracks.map(\.spot) == [Track2.Spot(x: 4, y: nil), Track2.Spot(x: 4, y: nil)])
            #expect(tracks[0].mood == .loud)
            #expect(errors.withLock { $0 } == 0)
            // A placeholder that is reported, and that no save writes over the stored value.
            #expect(tracks[1].mood == .calm)
            #expect(errors.withLock { $0 } == 1)
            tracks[1].name = "c"
            #expect(throws: (any Error).self) { try context.save() }
        }
        #expect(try stores.rows().filter { $0.key != "schema" } == before)
    }
}
