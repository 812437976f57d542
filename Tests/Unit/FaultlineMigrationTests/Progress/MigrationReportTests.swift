import Faultline
import FaultlineDisk
import FaultlineMigration
import FaultlineTestSupport
import Foundation
import Synchronization
import Testing

struct MigrationReportTests {
    private func options(_ batch: Int = 2_000) -> MigrationOptions {
        var options = MigrationOptions()
        options.batchByteCount = batch
        return options
    }

    private func objects(
        _ name: String, read: Int = 0, written: Int = 0, found: Int = 0, dropped: Int = 0, copied: Int = 0,
        deleted: Int = 0
    ) -> [String: [Int]] {
        [name: [read, written, found, dropped, copied, deleted]]
    }

    private func figures(_ objects: [MigrationReport.Objects]?) -> [String: [Int]] {
        Dictionary(
            uniqueKeysWithValues: (objects ?? []).map {
                ($0.name, [$0.read, $0.written, $0.found, $0.dropped, $0.copied, $0.deleted])
            })
    }

    private func merged(_ all: [String: [Int]]...) -> [String: [Int]] {
        all.reduce(into: [:]) { $0.merge($1) { first, _ in first } }
    }

    @Test(arguments: [1, 2_000]) func `a streamed stage is counted by entity`(batchByteCount: Int) throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        try stores.use(Work2.self, WorkPlan.self, migration: options(batchByteCount)) { container, _ in
            let report = container.migrationReport
            let stage = try #require(report.stages.first)
            #expect(report.stages.count == 1)
            #expect(stage.kind == .streamed && stage.from == "1.0.0" && stage.to == "2.0.0" && stage.resumes == 0)
            #expect(
                figures(stage.entities)
                    == merged(
                        objects("Employee", read: 200, written: 180, dropped: 20),
                        objects("City", written: 7, found: 173), objects("Photo", written: 40)))
            #expect(stage.mappings.isEmpty)
            #expect(stage.passes.map(\.pass) == [.instances])
            #expect(report.lastPasses.map(\.pass) == [.switching, .reclaiming])
            let passes = stage.passes + report.lastPasses
            #expect(report.bytesWritten == passes.reduce(0) { $0 + $1.bytesWritten })
            #expect(passes.allSatisfy { $0.bytesWritten > 0 || $0.pass == .reclaiming })
        }
    }

    @Test func `values that were written anew count among the bytes written, and those that were moved do not`() throws
    {
        var written: [Int] = []
        for copies in [false, true] {
            let stores = Stores()
            try WorkStore.make(in: stores)
            let notes = StageNotes()
            notes.copiesPhotos = copies
            try StageNotes.$current.withValue(notes) {
                try stores.use(Work2.self, WorkPlan.self, migration: options(1 << 20)) { container, _ in
                    written.append(container.migrationReport.bytesWritten)
                }
            }
        }
        // Forty photos of 9,000 bytes, which compress well.
        #expect(written[1] > written[0] + 40 * 256)
    }

    @Test func `counts by entity go on where a streamed stage goes on`() throws {
        let stores = Stores()
        let notes = StageNotes()
        try WorkStore.makeStopped(in: stores, notes, options(1))
        try StageNotes.$current.withValue(notes) {
            try stores.use(Work2.self, WorkPlan.self, migration: options(1)) { container, _ in
                let report = container.migrationReport
                #expect(report.resumes == 1 && report.stages.first?.resumes == 1)
                #expect(
                    figures(report.stages.first?.entities)
                        == merged(
                            objects("Employee", read: 200, written: 180, dropped: 20),
                            objects("City", written: 7, found: 173), objects("Photo", written: 40)))
                #expect(report.stages.first?.passes.first.map { $0.bytesWritten > 200 * 100 } == true)
            }
        }
    }

    @Test func `a mapped stage is counted by entity and by mapping`() throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        try stores.use(Work2.self, MappedWorkPlan.self, migration: options()) { container, _ in
            let report = container.migrationReport
            let stage = try #require(report.stages.first)
            #expect(stage.kind == .mapped)
            #expect(
                figures(stage.entities)
                    == merged(
                        objects("Employee", read: 400, written: 180, dropped: 0), objects("City", written: 7),
                        objects("Photo", written: 40)))
            #expect(stage.mappings.map(\.read) == [180, 40, 180])
            #expect(stage.mappings.map(\.written) == [180, 40, 180])
            #expect(stage.passes.map(\.pass) == [.instances, .relationships, .validation])
        }
    }

    @Test func `the work of a mapped stage before a kill is not counted`() throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        let killed = Guarded<SimulatedDisk?>(nil)
        let notes = PolicyNotes { source in
            guard source["number"] as? Int == 155, let disk = stores.disk as? SimulatedDisk else { return }
            killed.withLock { $0 = disk.crashImages(CrashOptions()).first { _ in true }?.disk }
        }
        let whole = try PolicyNotes.$current.withValue(notes) {
            try stores.use(Work2.self, MappedWorkPlan.self, migration: options(1)) { container, _ in
                container.migrationReport
            }
        }
        let disk = try #require(killed.withLock { $0 })
        try Stores(disk, stores.directory).use(Work2.self, MappedWorkPlan.self, migration: options(1)) { container, _ in
            let report = container.migrationReport
            #expect(report.resumes == 1 && report.stages.map(\.resumes) == [1])
            #expect(report.objectsRead == whole.objectsRead && report.objectsWritten == whole.objectsWritten)
            #expect(report.blobsMoved == whole.blobsMoved)
            #expect(figures(report.stages.first?.entities) == figures(whole.stages.first?.entities))
            #expect(figures(report.stages.first?.mappings) == figures(whole.stages.first?.mappings))
        }
    }

    @Test func `a custom stage is counted by entity, and left-out properties by name`() throws {
        let shops = try Shops()
        try shops.migrate([
            ShopStages.custom(will: { context in
                let posters = try context.fetch(FetchDescriptor<Shop1.Poster>())
                context.delete(posters[0])
                for shelf in try context.fetch(FetchDescriptor<Shop1.Shelf>()) { shelf.label += "" }
                try context.save()
            })
        ]) { container, _ in
            let report = container.migrationReport
            let stage = try #require(report.stages.first)
            #expect(stage.kind == .custom)
            let entities = figures(stage.entities)
            #expect(entities["Item"]?[4] == 60 && entities["Tag"]?[4] == 3)
            #expect(entities["Poster"]?[4] == 2 && entities["Poster"]?[5] == 1)
            #expect(
                stage.leftBehind.map { [$0.entity, $0.attribute ?? "", "\($0.objects)"] } == [["Poster", "", "1"]])
            #expect(stage.passes.map(\.pass) == [.copying, .closures, .indexes])
        }
    }

    @Test func `JSON has stable keys and is read again`() throws {
        let shops = try Shops()
        try shops.migrate([ShopStages.custom(will: { _ in })]) { container, _ in
            let report = container.migrationReport
            let json = try report.json()
            #expect(try MigrationReport(json: json) == report)
            #expect(json == (try report.json()))
            let keys = try #require(JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
            #expect(
                keys.keys.sorted() == [
                    "blobBytesMoved", "blobBytesRead", "blobBytesWritten", "blobsLeftBehind", "blobsMoved",
                    "bytesWritten", "changesNotSaved", "diskBytesFree", "diskBytesNeeded", "failures", "isDryRun",
                    "isIncomplete", "lastPasses",
                    "nanoseconds", "objectsCopied", "objectsDeleted", "objectsDropped", "objectsFound", "objectsRead",
                    "objectsWritten", "quarantined", "resumes", "stages", "versions",
                ])
            let stage = try #require((keys["stages"] as? [[String: Any]])?.first)
            #expect(
                stage.keys.sorted() == [
                    "entities", "from", "kind", "leftBehind", "mappings", "passes", "properties", "restarts",
                    "resumes", "to",
                ])
        }
        // A report in the form that an earlier release wrote.
        let earlier = try MigrationReport(json: #"{"versions": ["1.0.0", "2.0.0"], "objectsRead": 7}"#)
        #expect(earlier.objectsRead == 7 && earlier.stages.isEmpty)
        #expect(throws: DecodingError.self) { try MigrationReport(json: "[]") }
    }

    @Test func `the text has a line for each entity and what passes took`() throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        let now = Guarded<UInt64>(0)
        let clock = Clock {
            1
        } monotonicNanoseconds: {
            now.withLock {
                $0 += 1_000_000
                return $0
            }
        }
        try stores.use(Work2.self, WorkPlan.self, migration: options(1 << 20), clock: clock) { container, _ in
            let report = container.migrationReport
            let lines = report.text.split(separator: "\n").map(String.init)
            #expect(lines[0].hasPrefix("1.0.0 → 2.0.0: 0."))
            #expect(lines[1] == "  stage 1 of 1, streamed, to 2.0.0")
            #expect(lines.contains("    Employee  200 read  180 written    0 found  20 dropped"))
            #expect(lines.contains("    City        0 read    7 written  173 found   0 dropped"))
            #expect(lines.last?.contains("switching 0.00") == true)
            #expect(report.nanoseconds > 0)
            #expect(report.stages[0].passes[0].nanoseconds > 0)
        }
        #expect(try MigrationReport(json: #"{"versions": []}"#).text == "nothing to migrate\n")
    }
}
