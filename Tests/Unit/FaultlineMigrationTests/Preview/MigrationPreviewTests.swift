import Faultline
import FaultlineDisk
import FaultlineLog
import FaultlineMigration
import FaultlineStore
import FaultlineTestSupport
import Foundation
import Synchronization
import Testing

struct MigrationPreviewTests {
    func options(_ batch: Int = 2_000) -> MigrationOptions {
        var options = MigrationOptions()
        options.batchByteCount = batch
        return options
    }

    private struct Finding: Hashable {
        let entity: String
        let object: UInt64?
        let rule: MigrationReport.Failure.Rule
        init(_ entity: String, _ object: UInt64?, _ rule: MigrationReport.Failure.Rule) {
            self.entity = entity
            self.object = object
            self.rule = rule
        }
    }

    private func findings(_ report: MigrationReport) -> Set<Finding> {
        let all = report.failures.map { Finding($0.entity, $0.object, $0.rule) }
        #expect(Set(all).count == all.count, "each is listed once")
        return Set(all)
    }

    private func figures(_ report: MigrationReport) -> [String: [Int]] {
        Dictionary(
            uniqueKeysWithValues: (report.stages.first?.entities ?? []).map {
                ($0.name, [$0.read, $0.written, $0.found, $0.dropped, $0.copied, $0.deleted])
            })
    }

    @Test(arguments: [false, true]) func `M26 (fluent-kit PR#2): a dry run does all but the switch, and leaves nothing`(
        isMapped: Bool
    ) throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        let old = try stores.open(Work1.self)
        let rows = try stores.rows()
        let free = try stores.disk.freeByteCount(in: stores.directory)
        let plan: any SchemaMigrationPlan.Type = isMapped ? MappedWorkPlan.self : WorkPlan.self
        let notes = StageNotes()
        let preview = try StageNotes.$current.withValue(notes) {
            try stores.preview(Work2.self, plan, migration: options())
        }
        #expect(preview.isDryRun && preview.failures.isEmpty && !preview.isIncomplete)
        #expect(preview.versions == ["1.0.0", "2.0.0"])
        #expect(preview.diskBytesNeeded >= preview.bytesWritten && preview.bytesWritten > 10_000)
        #expect(preview.diskBytesFree == Int(free))
        if !isMapped { #expect(notes.isDryRun == true) }
        #expect(try stores.rows() == rows)
        // A container that was open the whole time saves again.
        let context = ModelContext(old)
        let room = Work1.Room(label: "new")
        context.insert(room)
        try context.save()
        context.delete(room)
        try context.save()
        try old.close()
        #expect(try stores.findings(Work1.self) == [])
        try StageNotes.$current.withValue(notes) {
            try stores.use(Work2.self, plan, migration: options()) { container, context in
                let report = container.migrationReport
                #expect(report.resumes == 0 && !report.isDryRun)
                #expect(figures(report) == figures(preview))
                #expect(report.blobsMoved == preview.blobsMoved)
                try WorkStore.check(context)
            }
        }
        if !isMapped { #expect(notes.isDryRun == false) }
        #expect(try stores.findings(Work2.self) == [])
        let nothing = try stores.preview(Work2.self, plan)
        #expect(nothing.isDryRun && nothing.versions.isEmpty)
    }

    @Test func `closures of a custom stage can ask, and their changes are dropped`() throws {
        let shops = try Shops()
        let rows = try shops.stores.rows()
        let asked = Box<[Bool]>([])
        let stages = [
            ShopStages.custom(
                will: { context in
                    asked.value.append(context.isDryRun)
                    try context.delete(model: Shop1.Poster.self)
                    for item in try context.all(Shop1.Item.self) where item.photo != nil {
                        item.photo = Data(repeating: 5, count: 5_000)
                    }
                    try context.save()
                },
                did: { context in
                    asked.value.append(ModelContext(context.container).isDryRun)
                    for item in try context.all(Shop2.Item.self) { item.cents = 7 }
                    try context.save()
                })
        ]
        let preview = try ShopStages.$current.withValue(ShopStages(stages)) {
            try shops.stores.preview(Shop2.self, ShopPlan.self)
        }
        #expect(asked.value == [true, true])
        #expect(preview.failures.isEmpty && preview.objectsDeleted == 2 && preview.objectsCopied == 69)
        #expect(try shops.stores.rows() == rows)
        try shops.checkOld()
        asked.value = []
        try shops.migrate(stages) { _, context in
            #expect(asked.value == [false, false])
            try #expect(context.all(Shop2.Item.self).allSatisfy { $0.cents == 7 })
            #expect(!context.isDryRun)
        }
    }

    @Test(arguments: [1, 2_000, 1 << 20])
    func `a dry run of a streamed stage names each object whose code throws`(batchByteCount: Int) throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        let rows = try stores.rows()
        let notes = StageNotes()
        notes.failing = [0, 1, 50, 120, 121, 199]
        let report = try StageNotes.$current.withValue(notes) {
            try stores.preview(Work2.self, WorkPlan.self, migration: options(batchByteCount))
        }
        #expect(findings(report) == Set(notes.failing.map { Finding("Employee", UInt64($0) + 1, .code) }))
        #expect(report.failures.allSatisfy { $0.stage == "2.0.0" && $0.reason.contains("Stopped") })
        #expect(!report.isIncomplete)
        // Object 199 would have been dropped.
        #expect(figures(report)["Employee"] == [200, 180 - 5, 0, 19, 0, 0])
        // The photos of 0, 50 and 120 are missing, and no partly made photo exists.
        #expect(figures(report)["Photo"] == [0, 37, 0, 0, 0, 0])
        #expect(try stores.rows() == rows)
        let text = report.text
        #expect(text.contains("6 failures\n") && text.contains("    code: Employee 51, to 2.0.0: Stopped()"))
        #expect(try MigrationReport(json: report.json()) == report)
        notes.failing = []
        try StageNotes.$current.withValue(notes) {
            try stores.use(Work2.self, WorkPlan.self) { _, context in try WorkStore.check(context) }
        }
    }

    @Test(arguments: [1, 1 << 20]) func `a dry run finds unsavable objects by halving`(batchByteCount: Int) throws {
        let stores = Stores()
        try stores.use(Leaf1.self) { _, context in
            for number in 0..<100 {
                let text = String(repeating: "x", count: Leaf1.long.contains(number) ? 40_000 : 10)
                context.insert(Leaf1.Leaf(text: text + "\(number)"))
            }
            try context.save()
        }
        let report = try stores.preview(Leaf2.self, LeafPlan.self, migration: options(batchByteCount))
        #expect(findings(report) == Set(Leaf1.long.map { Finding("Leaf", UInt64($0) + 1, .invalid) }))
        #expect(report.failures.allSatisfy { $0.reason.contains("the limit is") })
        #expect(figures(report) == ["Leaf": [100, 97, 0, 0, 0, 0]])
    }

    @Test(arguments: [1, 300, 1 << 20])
    func `a dry run of a mapped stage names objects in every pass`(batchByteCount: Int) throws {
        let stores = Stores()
        try MusicStore.make(in: stores) {
            $0.insert(Music1.Song(name: "lone", seconds: 1))
            $0.insert(Music1.Tag(word: "new"))
            $0.insert(Music1.Tag(word: "only"))
            $0.insert(Music1.Tag(word: "loud"))
        }
        let rows = try stores.rows()
        struct Bad: Error {}
        var album = MusicPlan.album
        album.attributeMappings = [
            PropertyMapping(
                "minutes",
                .computed { album, manager in
                    #expect(manager.isDryRun)
                    if album["title"] as? String == "a4" { throw Bad() }
                    return 1.0
                })
        ]
        var cover = MusicPlan.cover
        cover.relationshipMappings = [
            PropertyMapping(
                "record",
                .computed { album, manager in
                    if album["title"] as? String == "a2" { throw Bad() }
                    return try manager.destinationInstances(
                        forEntityMappingName: MusicPlan.album.name, sourceInstances: [album]
                    ).first
                })
        ]
        album.relationshipMappings = []
        let model = MappingModel(album, MusicPlan.song, MusicPlan.tag, cover)
        let report = try MusicPlan.$model.withValue(model) {
            try stores.preview(Music2.self, MusicPlan.self, migration: options(batchByteCount))
        }
        #expect(report.failures.filter { $0.entity == "Tag" }.map(\.rule) == [.duplicate, .duplicate])
        let others = report.failures.filter { $0.entity != "Tag" }
        #expect(others.filter { $0.entity == "Album" }.map(\.object) == [5])
        #expect(others.filter { $0.entity == "Cover" }.map(\.rule) == [.code])
        // The four songs of the album that was not made, and the one without an album.
        #expect(others.filter { $0.entity == "Song" }.map(\.rule) == Array(repeating: .required, count: 5))
        #expect(others.filter { $0.entity == "Song" }.allSatisfy { $0.property == "record" })
        #expect(others.count == 7 && !report.isIncomplete)
        #expect(try stores.rows() == rows)
        try stores.use(Music1.self) { container, context in
            try #expect(context.all(Music1.Song.self).count == 25)
            #expect(container.rowStore.log.snapshot().recordCount(of: .blobs) == 3)
        }
        #expect(try stores.findings(Music1.self) == [])
    }

    @Test func `duplicates under a new unique rule are all named`() throws {
        let shops = try Shops(doubles: 3)
        let rows = try shops.stores.rows()
        let light = try ShopStages.$current.withValue(ShopStages([ShopStages.light])) {
            try shops.stores.preview(Shop2.self, ShopPlan.self)
        }
        #expect(findings(light) == Set((61...63).map { Finding("Item", $0, .duplicate) }))
        #expect(light.failures.allSatisfy { $0.reason.contains("the same values") })
        #expect(light.stages.first?.leftBehind.map(\.entity) == ["Poster"])
        // Rows are copied into a table with the new rule, which ends at the first violation.
        let stages = ShopStages([ShopStages.custom(did: { _ in })])
        let custom = try ShopStages.$current.withValue(stages) {
            try shops.stores.preview(Shop2.self, ShopPlan.self)
        }
        #expect(custom.failures.map(\.rule) == [.duplicate] && custom.isIncomplete)
        #expect(try shops.stores.rows() == rows)
        try shops.checkOld(doubles: 3)
    }

    @Test func `a dry run ends at its limit, and at a closure that fails`() throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        let notes = StageNotes()
        notes.failing = Set(0..<200)
        let report = try StageNotes.$current.withValue(notes) {
            try stores.preview(Work2.self, WorkPlan.self, failureLimit: 7)
        }
        #expect(report.failures.map(\.object) == [1, 2, 3, 4, 5, 6, 7] && report.isIncomplete)
        #expect(try stores.findings(Work1.self) == [])

        struct Bad: Error {}
        let shops = try Shops()
        let stages = ShopStages([
            ShopStages.custom(will: { context in
                try context.delete(model: Shop1.Item.self)
                try context.save()
                throw Bad()
            })
        ])
        let custom = try ShopStages.$current.withValue(stages) {
            try shops.stores.preview(Shop2.self, ShopPlan.self)
        }
        #expect(custom.isIncomplete && custom.failures.map(\.rule) == [.code])
        #expect(custom.failures.first?.reason.contains("Bad") == true && custom.failures.first?.object == nil)
        try shops.checkOld()
    }

    @Test func `required objects that a streamed stage leaves out are named`() throws {
        let stores = Stores()
        try stores.use(Leaf1.self) { _, context in
            for number in 0..<6 {
                let leaf = Leaf1.Leaf(text: "\(number)")
                context.insert(leaf)
                context.insert(Leaf1.Vein(leaf: leaf))
            }
            try context.save()
        }
        // The stage omits object 3.
        let report = try stores.preview(Leaf2.self, LeafPlan.self)
        #expect(findings(report) == [Finding("Vein", 4, .dangling)])
        #expect(report.failures.first?.property == "leaf")

        // The migration itself also refuses them, and leaves nothing behind.
        for _ in 0..<2 {
            let error = #expect(throws: MigrationError.self) { try stores.open(Leaf2.self, LeafPlan.self) }
            #expect(error?.code == .missingReference && error?.stage == "1.0.0 → 2.0.0")
            #expect(error?.entityName == "Vein" && error?.propertyName == "leaf" && error?.object == 4)
        }
        try stores.use(Leaf1.self) { container, context in
            try #expect(context.fetchCount(FetchDescriptor<Leaf1.Vein>()) == 6)
            #expect(try StoredCatalog.read(container.rowStore.log.snapshot())?.migration == nil)
        }
        #expect(try stores.findings(Leaf1.self) == [])
    }

    @Test func `a sample estimates time and bytes of all`() throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        let rows = try stores.rows()
        let now = Guarded<UInt64>(0)
        let clock = Clock {
            1
        } monotonicNanoseconds: {
            now.withLock { $0 }
        }
        let notes = StageNotes()
        notes.during = { now.withLock { $0 += 40_000_000 } }
        let reports = try StageNotes.$current.withValue(notes) {
            try [nil, 50].map {
                try stores.preview(Work2.self, WorkPlan.self, migration: options(), sample: $0, clock: clock)
            }
        }
        #expect(reports.map(\.sample) == [nil, 50])
        #expect(reports.map(\.objectsRead) == [200, 50])
        #expect(reports.map(\.nanoseconds) == [8_000_000_000, 8_000_000_000])
        let ratio = Double(reports[1].bytesWritten) / Double(reports[0].bytesWritten)
        #expect(ratio > 0.8 && ratio < 1.4, "\(ratio)")
        #expect(reports[1].diskBytesNeeded == reports[1].bytesWritten)
        #expect(reports[1].text.contains("dry run of at most 50 objects of each entity"))
        #expect(try MigrationReport(json: reports[1].json()) == reports[1])

        let mapped = try [nil, 50].map {
            try stores.preview(Work2.self, MappedWorkPlan.self, migration: options(), sample: $0)
        }
        #expect(mapped[1].failures.isEmpty && mapped[1].objectsRead < 150)
        let mappedRatio = Double(mapped[1].bytesWritten) / Double(mapped[0].bytesWritten)
        #expect(mappedRatio > 0.8 && mappedRatio < 1.4, "\(mappedRatio)")
        #expect(try stores.rows() == rows)
        #expect(try stores.findings(Work1.self) == [])
    }

    @Test func `a reference to an object outside of a sample is no failure`() throws {
        let stores = Stores()
        try MusicStore.make(in: stores)
        // The first songs belong to an album that is not made.
        var album = MusicPlan.album
        album.sourceFilter = Filter.key("title") != "a0"
        let model = MappingModel(album, MusicPlan.song, MusicPlan.tag, MusicPlan.cover)
        try MusicPlan.$model.withValue(model) {
            let report = try stores.preview(Music2.self, MusicPlan.self, sample: 2)
            #expect(report.failures.isEmpty && !report.isIncomplete)
            #expect(report.stages.first?.mappings.map(\.read) == [1, 2, 2, 1])
            let whole = try stores.preview(Music2.self, MusicPlan.self)
            #expect(whole.failures.map(\.rule) == Array(repeating: .required, count: 4))
        }

        let leaves = Stores()
        try leaves.use(Leaf1.self) { _, context in
            for number in 0..<6 {
                let leaf = Leaf1.Leaf(text: "\(number)")
                context.insert(leaf)
                context.insert(Leaf1.Vein(leaf: leaf))
            }
            try context.save()
        }
        let streamed = try leaves.preview(Leaf2.self, LeafPlan.self, sample: 2)
        #expect(streamed.failures.isEmpty && streamed.objectsRead == 2)
    }

    @Test func `a configuration's store is tried out too`() throws {
        let directory = TemporaryDirectory()
        let stores = Stores(PosixDisk(), directory.path + "/store")
        let configuration = ModelConfiguration(url: URL(filePath: stores.directory, directoryHint: .isDirectory))
        let schema = Schema(versionedSchema: Work2.self)
        #expect(throws: SwiftDataError.unknownSchema) {
            try ModelContainer.previewMigration(
                for: schema, migrationPlan: WorkPlan.self, configurations: [configuration])
        }
        try WorkStore.make(in: stores)
        let report = try ModelContainer.previewMigration(
            for: schema, migrationPlan: WorkPlan.self, configurations: [configuration])
        #expect(report.isDryRun && report.objectsRead == 200 && report.diskBytesFree > 0)
        try stores.use(Work1.self) { _, context in
            try #expect(context.fetchCount(FetchDescriptor<Work1.Employee>()) == 200)
        }
    }
}
