import Faultline
import FaultlineDisk
import FaultlineLog
import FaultlineMigration
import FaultlineStore
import FaultlineTestSupport
import Foundation
import Testing

/// Problems that users of other libraries have reported with migrations: a number, and the source of the report.
///
/// `docs/Testing.md` lists all of them. If a test of another suite covers one completely, its number is in the test's
/// name.
struct ComplaintTests {
    // MARK: Memory, and values outside the row

    /// Refers to an object weakly.
    private final class Witness {
        weak var object: AnyObject?
        init(_ object: AnyObject) { self.object = object }
    }

    @Test func `M3 (realm-swift PR#2206): objects of a walk over all rows go while it goes on`() throws {
        let albums = try Albums(count: 300)
        let seen = Box<[Witness]>([])
        let aliveMax = Box(0)
        var options = MigrationOptions()
        options.batchByteCount = 400
        let meets = Hook<AnyObject> { object in
            seen.value.append(Witness(object))
            aliveMax.value = max(aliveMax.value, seen.value.count { $0.object != nil })
        }
        try AlbumPlan.$meets.withValue(meets) {
            try albums.stores.use(Album4.self, AlbumPlan.self, migration: options) { _, context in
                try #expect(context.fetchCount(FetchDescriptor<Album4.Photo>()) == 300)
            }
        }
        #expect(seen.value.count == 300)
        #expect(aliveMax.value < 100, "\(aliveMax.value) were alive at once")
    }

    @Test func `M4 and M5 (nickkuh.com 2012; A. Edge 2014): large values come through every kind of stage unread`()
        throws
    {
        let albums = try Albums()
        try albums.stores.use(Album5.self, AlbumPlan.self) { container, _ in
            #expect(container.migrationReport.blobBytesRead == 0)
            #expect(container.migrationReport.stages.map(\.kind) == [.lightweight, .custom, .streamed, .mapped])
        }
        #expect(try albums.contents() == albums.expected)
        #expect(try albums.stores.findings(Album5.self) == [])
    }

    @Test func `M29 (realm-swift#5245): compaction behind a migration keeps to its budget`() throws {
        let disk = SimulatedDisk(directories: ["/s"])
        let albums = try Albums(Stores(disk, "/s/store"), count: 3_000)
        var options = Stores.options
        options.segmentByteCount = 256 << 10
        options.memoryBudget = 4 << 20
        let container = try ModelContainer(
            for: Album5.models, migrationPlan: AlbumPlan.self, directory: "/s/store", on: disk, options: options,
            migration: MigrationOptions(memoryCeiling: 16 << 20))
        let peak = Box((count: 0, bytes: 0))
        disk.onOperation = { [weak container] _, _ in
            peak.value.count += 1
            peak.value.bytes = max(peak.value.bytes, container?.counters.cacheBytes ?? 0)
        }
        let summary = try container.compact()
        disk.onOperation = nil
        #expect(summary.copiedByteCount + summary.reclaimedByteCount > 0)
        #expect(peak.value.count > 10 && peak.value.bytes <= options.memoryBudget)
        try container.close()
        #expect(try albums.contents() == albums.expected)
    }

    // MARK: Versions

    @Test func `M8 (AppleForums 826633, 761735): a store from before there were versions goes on with a plan`()
        throws
    {
        // The app has no plan yet, and its classes are those that later become the second version.
        let stores = Stores()
        try stores.use(Album2.self) { container, context in
            #expect("\(container.schema.version)" != "2.0.0")
            context.insert(Album2.Photo(name: "first", width: "7"))
            try context.save()
        }
        try stores.use(Album2.self, AlbumPlan.self) { container, _ in
            #expect(container.migrationReport.versions.isEmpty)
        }
        try stores.use(Album4.self, AlbumPlan.self) { container, context in
            #expect(container.migrationReport.versions == ["2.0.0", "3.0.0", "4.0.0"])
            try #expect(context.all(Album4.Photo.self).map(\.width) == [7])
        }
    }

    @Test func `M9 (Axiom swiftdata-migration): a class that did not change is the same in all versions`()
        throws
    {
        let albums = try Albums()
        let before = try albums.stores.use(Album1.self) { _, context in
            try context.all(Album1.Place.self).map(\.persistentModelID)
        }
        try albums.stores.use(Album5.self, AlbumPlan.self) { _, context in
            try #expect(context.all(Album1.Place.self).map(\.persistentModelID) == before)
        }
    }

    @Test func `M10 and M11 (AppleForums 734693; polpiella.dev): to the last version at once, or in steps`()
        throws
    {
        let atOnce = try Albums()
        #expect(try atOnce.contents() == atOnce.expected)
        // Two mappings and two closures serve all pairs of versions.
        for skipped in 2...4 {
            let albums = try Albums()
            for version in AlbumPlan.schemas where version.versionIdentifier.major != skipped {
                try albums.stores.use(version, AlbumPlan.self) { container, _ in
                    #expect(container.schema.version == version.versionIdentifier)
                }
            }
            #expect(try albums.contents() == albums.expected, "without \(skipped)")
        }
    }

    @Test func `M21 (realm-swift#8656, #6088): a new store has the newest version from the start`() throws {
        let stores = Stores()
        for _ in 0..<2 {
            try stores.use(Album5.self, AlbumPlan.self) { container, _ in
                #expect(container.schema.version == Album5.versionIdentifier)
                #expect(container.migrationReport.versions.isEmpty)
            }
            let log = try Log.open(
                stores.directory, on: stores.disk, clock: .system, options: Stores.options, deriver: RowIndexDeriver())
            #expect(try StoredCatalog.read(log.snapshot())?.schema.version == Album5.versionIdentifier)
            try log.close()
        }
    }

    @Test func `M21 (realm-swift#5438): an attribute may name a forerunner that never was`() throws {
        let albums = try Albums()
        try albums.stores.use(Label2.self) { _, context in
            let photos = try context.all(Label2.Photo.self)
            #expect(photos.count == albums.count && photos.allSatisfy { $0.label == "none" })
        }
    }

    // MARK: Cost

    @Test func `M14 (GRDB#1087): a step that changes no row reads none, however many there are`() throws {
        func bytesRead(_ count: Int, _ version: any VersionedSchema.Type) throws -> Int {
            let disk = CountingDisk(over: SimulatedDisk(directories: ["/s"]))
            let albums = try Albums(Stores(disk, "/s/store"), count: count)
            let before = disk.counts
            try albums.stores.use(version, AlbumPlan.self) { _, _ in }
            return (disk.counts - before).bytesRead
        }
        let few = try bytesRead(100, Album2.self)
        let many = try bytesRead(4_000, Album2.self)
        // Large values alone are 6 MB, rows and tables 200 kB.
        #expect(many - few < 64 << 10, "\(few) and \(many) bytes")
        // For comparison, a stage that goes through all rows.
        #expect(try bytesRead(4_000, Album4.self) > many + 64 << 10)
    }
}
