import Faultline
import FaultlineLog
import FaultlineMigration
import FaultlineStore
import Foundation
import Testing

struct MappingModelTests {
    private static let cover = MusicStore.cover

    private func makeMusic(in stores: Stores, _ alter: (ModelContext) throws -> Void = { _ in }) throws {
        try MusicStore.make(in: stores, alter)
    }

    @discardableResult
    private func migrate<R>(
        _ stores: Stores, _ model: MappingModel = MusicPlan.whole, batch: Int = 300,
        _ body: (ModelContainer, ModelContext) throws -> R
    ) throws -> R {
        var options = MigrationOptions()
        options.batchByteCount = batch
        return try MusicPlan.$model.withValue(model) {
            try stores.use(Music2.self, MusicPlan.self, migration: options, body)
        }
    }

    private func refusal(_ stores: Stores, _ model: MappingModel) throws -> MigrationError? {
        var refusal: MigrationError?
        do { try migrate(stores, model) { _, _ in Issue.record("The migration went through.") } } catch {
            refusal = error as? MigrationError
            if refusal == nil { Issue.record("\(error)") }
        }
        // The old state is active.
        try stores.use(Music1.self) { container, context in
            try #expect(context.fetchCount(FetchDescriptor<Music1.Album>()) == 6)
            let blobs = container.rowStore.log.snapshot().recordCount(of: .blobs)
            #expect(blobs == 3)
        }
        #expect(try stores.findings(Music1.self) == [])
        return refusal
    }

    @Test(arguments: [1, 300, 1 << 20]) func relationshipsGoOverInTheirOrder(batchByteCount: Int) throws {
        let stores = Stores()
        try makeMusic(in: stores)
        try migrate(stores, batch: batchByteCount) { container, context in
            let records = try context.all(Music2.Record.self).sorted { $0.title < $1.title }
            #expect(records.count == 6)
            for (number, record) in records.enumerated() {
                #expect(record.songs.map(\.name) == ["s3", "s2", "s1", "s0"])
                #expect(record.minutes == Double(number) * 2)
                #expect(record.tags.map(\.word) == (number == 3 ? [] : ["loud", "new"]))
                #expect(record.cover?.bytes == (number % 2 == 0 ? Self.cover : nil))
                #expect(record.cover?.caption == (number % 2 == 0 ? "front" : nil))
            }
            let loud = try context.all(Music2.Tag.self).first { $0.word == "loud" }
            #expect(loud?.albums.map(\.title).sorted() == ["a0", "a1", "a2", "a4", "a5"])
            #expect(container.migrationReport.blobBytesRead == 0)
            #expect(container.migrationReport.blobsMoved == 3)
        }
        #expect(try stores.findings(Music2.self) == [])
    }

    @Test func aValueThatTwoObjectsTakeIsCopiedOnce() throws {
        let stores = Stores()
        try makeMusic(in: stores)
        var second = MusicPlan.cover
        second.name = "backs"
        try migrate(stores, MappingModel(MusicPlan.album, MusicPlan.song, MusicPlan.tag, MusicPlan.cover, second)) {
            container, context in
            let covers = try context.all(Music2.Cover.self)
            #expect(covers.count == 6 && covers.allSatisfy { $0.bytes == Self.cover })
            #expect(container.migrationReport.blobsMoved == 3)
            let blobs = container.rowStore.log.snapshot().recordCount(of: .blobs)
            #expect(blobs == 6)
        }
        #expect(try stores.findings(Music2.self) == [])
    }

    @Test func valuesThatNobodyTakesGoAfterTheSwitch() throws {
        let stores = Stores()
        try makeMusic(in: stores)
        var album = MusicPlan.album
        album.relationshipMappings = []
        try migrate(stores, MappingModel(album, MusicPlan.song, MusicPlan.tag)) { container, _ in
            #expect(container.migrationReport.blobsLeftBehind == 3)
            let blobs = container.rowStore.log.snapshot().recordCount(of: .blobs)
            #expect(blobs == 0)
        }
        #expect(try stores.findings(Music2.self) == [])
    }

    @Test func whatMadeTheObjectsIsGoneAfterwards() throws {
        let stores = Stores()
        try makeMusic(in: stores)
        try migrate(stores) { container, _ in
            let map = container.rowStore.storage.map
            #expect(map.passingLinks.isEmpty)
            let snapshot = container.rowStore.log.snapshot()
            for table in TableID.firstEntity..<map.counters.table where !map.tables.contains(table) {
                #expect(snapshot.recordCount(of: TableID(rawValue: table)) == 0)
            }
        }
    }

    @Test func aValueIsMovedFromAnEntityThatIsOnlyRemoved() throws {
        let stores = Stores()
        try makeMusic(in: stores)
        let songs = EntityMapping(
            from: "Song", to: "Record", where: Filter.key("name") == "s0" && Filter.key("album.cover") != nil,
            policy: PhotoTakingPolicy.self)
        let model = MappingModel(
            songs, MusicPlan.tag, EntityMapping(from: "Album", to: nil),
            EntityMapping(from: "Song", to: "Song", where: Filter.key("name") == "none"),
            EntityMapping(from: nil, to: "Cover", policy: NotingPolicy.self))
        try migrate(stores, model) { container, context in
            let covers = try context.all(Music2.Cover.self)
            #expect(covers.count == 3 && covers.allSatisfy { $0.bytes == Self.cover && $0.caption == "taken" })
            #expect(container.migrationReport.blobsMoved == 3)
            #expect(container.migrationReport.blobBytesRead == 0)
            let blobs = container.rowStore.log.snapshot().recordCount(of: .blobs)
            #expect(blobs == 3)
        }
        #expect(try stores.findings(Music2.self) == [])
    }

    @Test func mergedObjectsHaveTheMembersOfAll() throws {
        let stores = Stores()
        try makeMusic(in: stores)
        let tag = EntityMapping(from: "Tag", to: "Tag", policy: OneTagPolicy.self)
        for model in [
            MappingModel(MusicPlan.album, MusicPlan.song, tag, MusicPlan.cover),
            MappingModel(tag, MusicPlan.album, MusicPlan.song, MusicPlan.cover),
        ] {
            let stores = Stores()
            try makeMusic(in: stores) { context in
                let all = try context.all(Music1.Tag.self)
                for album in try context.all(Music1.Album.self) where album.title == "a3" {
                    album.tags = [try #require(all.first { $0.word == "old" })]
                }
            }
            try migrate(stores, model) { _, context in
                let tags = try context.all(Music2.Tag.self)
                #expect(tags.map(\.word) == ["tag"])
                #expect(tags.first?.albums.map(\.title).sorted() == ["a0", "a1", "a2", "a3", "a4", "a5"])
            }
            #expect(try stores.findings(Music2.self) == [])
        }
    }

    // MARK: Refusals

    @Test func objectsThatNoMappingReadsAreNotDroppedInSilence() throws {
        let stores = Stores()
        try makeMusic(in: stores)
        let song = EntityMapping(from: "Album", to: "Song", policy: NotingPolicy.self)
        let error = try refusal(stores, MappingModel(MusicPlan.album, song, MusicPlan.tag, MusicPlan.cover))
        #expect(error?.code == .badPlan)
        #expect(error?.message.contains("no mapping reads the Song that there are") == true, "\(error?.message ?? "")")
    }

    @Test func aSaveOfAPolicyIsRefusedEvenIfItIsCaught() throws {
        let stores = Stores()
        try makeMusic(in: stores)
        let tag = EntityMapping(from: "Tag", to: "Tag", policy: SavingPolicy.self)
        let error = try refusal(stores, MappingModel(MusicPlan.album, MusicPlan.song, tag, MusicPlan.cover))
        #expect(error?.code == .stageFailed)
        #expect(error?.description.contains("is saved by the migration, in batches") == true)
    }

    @Test(arguments: [
        (
            EntityMapping(from: "Albun", to: "Record"),
            "names Albun, which is no entity of the old version; did you mean \"Album\"?"
        ),
        (EntityMapping(from: "Album", to: "Records"), "names Records, which is no entity of the new version"),
        (EntityMapping(from: "Album", to: "Record"), "leaves Record.minutes without a value"),
        (
            EntityMapping(from: "Album", to: "Record", attributes: [PropertyMapping("minutes", .source("second"))]),
            "Album has no property \"second\""
        ),
        (
            EntityMapping(from: "Album", to: "Record", attributes: [PropertyMapping("minute", .constant(1))]),
            "Record has no property \"minute\". Did you mean \"minutes\"?"
        ),
        (
            EntityMapping(
                from: "Album", to: "Record", attributes: [PropertyMapping("minutes", .constant(1.0))],
                relationships: [PropertyMapping("cover", .counterparts(by: "cover"))]),
            "relates cover by cover, which makes no Cover; there is covers"
        ),
        (
            EntityMapping(from: "Album", to: "Record", attributes: [PropertyMapping("minutes", nil)]),
            "leaves Record.minutes without a value"
        ),
        (
            EntityMapping(from: "Album", to: "Record", attributes: [PropertyMapping("minutes", .constant(nil))]),
            "gives minutes nil, and it is required"
        ),
        (
            EntityMapping(
                from: "Album", to: "Record", attributes: [PropertyMapping("minutes", .source("songs.second"))]),
            "Song has no property \"second\". Did you mean \"seconds\"?"
        ),
        (
            EntityMapping(
                from: "Album", to: "Record", attributes: [PropertyMapping("minutes", .source("songs.album"))]),
            "gives minutes the objects of songs.album"
        ),
        (
            EntityMapping(
                from: "Album", to: "Record", attributes: [PropertyMapping("minutes", .constant(1.0))],
                where: Filter.key("titel") == "a1"), "has a condition that cannot be evaluated"
        ),
    ])
    func aMappingThatMakesNoSenseIsRefusedBeforeAnythingIsWritten(_ mapping: EntityMapping, _ reason: String) throws {
        let stores = Stores()
        try makeMusic(in: stores)
        let error = try refusal(stores, MappingModel(mapping, MusicPlan.song, MusicPlan.tag, MusicPlan.cover))
        #expect(error?.code == .badPlan)
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
        #expect(error?.stage == "1.0.0 → 2.0.0")
        #expect(["Album", "Record", "Records", "Song"].contains(error?.entityName))
    }

    @Test func oneNameForTwoMappingsIsRefused() throws {
        let stores = Stores()
        try makeMusic(in: stores)
        let error = try refusal(
            stores, MappingModel(MusicPlan.album, MusicPlan.song, MusicPlan.tag, MusicPlan.cover, MusicPlan.song))
        #expect(error?.code == .badPlan && error?.message.contains("stands there twice") == true)
    }

    @Test func `M14 (GRDB PR#1095): a duplicate under a new unique rule is named`() throws {
        let stores = Stores()
        try makeMusic(in: stores) { $0.insert(Music1.Tag(word: "new")) }
        let error = try refusal(stores, MusicPlan.whole)
        #expect(error?.code == .stageFailed)
        #expect(error?.message.contains("Tag->Tag") == true)
        #expect(error?.description.contains("the same unique values") == true)
        #expect(error?.stage == "1.0.0 → 2.0.0" && error?.entityName == "Tag")
    }

    @Test func aRequiredObjectThatIsMissingIsNamed() throws {
        let stores = Stores()
        try makeMusic(in: stores) { $0.insert(Music1.Song(name: "lone", seconds: 1)) }
        let error = try refusal(stores, MusicPlan.whole)
        #expect(error?.code == .stageFailed)
        #expect(
            error?.message.contains("Song 25.record: a required object is missing") == true, "\(error?.message ?? "")")
        #expect(error?.entityName == "Song" && error?.propertyName == "record" && error?.object == 25)
    }

    @Test func aValueThatDoesNotFitIsNamedWithItsObject() throws {
        let stores = Stores()
        try makeMusic(in: stores)
        var album = MusicPlan.album
        album.attributeMappings = [
            PropertyMapping("minutes", .computed { album, _ in album["title"] as? String == "a4" ? "long" : 1.0 })
        ]
        let error = try refusal(stores, MappingModel(album, MusicPlan.song, MusicPlan.tag, MusicPlan.cover))
        #expect(error?.code == .stageFailed)
        #expect(error?.message.contains("Album->Record of the stage to 2.0.0 stopped, Album 5") == true)
        #expect(
            error?.description.contains("Record.minutes holds Double, and was set to a value of type String") == true)
        #expect(error?.stage == "1.0.0 → 2.0.0" && error?.entityName == "Album" && error?.object == 5)
    }

    @Test func aPolicyCanCancel() throws {
        let stores = Stores()
        try makeMusic(in: stores)
        struct Enough: Error {}
        var album = MusicPlan.album
        album.attributeMappings = [
            PropertyMapping(
                "minutes",
                .computed { _, manager in
                    manager.cancelMigrationWithError(Enough())
                    return 1.0
                })
        ]
        #expect(throws: Enough.self) {
            try migrate(stores, MappingModel(album, MusicPlan.song, MusicPlan.tag, MusicPlan.cover)) { _, _ in }
        }
        try stores.use(Music1.self) { _, context in
            try #expect(context.fetchCount(FetchDescriptor<Music1.Album>()) == 6)
        }
    }
}
