import Faultline
import FaultlineLog
import FaultlineMigration
import FaultlineObjects
import FaultlineStore
import FaultlineTestSupport
import Foundation
import Testing

/// Rows of older layouts are rewritten: dropped values are removed, and readers see no difference.
struct RewritingTests {
    enum Album1: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Picture.self, Frame.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

        @Model final class Picture {
            var number: Int32
            var title: String
            var remark: String?
            @Attribute(.externalStorage) var original: Data?
            @Attribute(.externalStorage) var preview: Data?
            var frame: Frame?
            init(number: Int32, title: String) {
                self.number = number
                self.title = title
            }
        }

        @Model final class Frame {
            var name: String
            @Relationship(inverse: \Picture.frame) var pictures: [Picture] = []
            init(name: String) { self.name = name }
        }
    }

    /// Originals and remarks are removed, numbers are wider, and stars are new.
    enum Album2: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Picture.self, Frame.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

        @Model final class Picture {
            @Attribute(.unique) var number: Int64
            var title: String
            @Attribute(.externalStorage) var preview: Data?
            var stars: Int = 3
            var frame: Frame?
            init(number: Int64, title: String) {
                self.number = number
                self.title = title
            }
        }

        @Model final class Frame {
            var name: String
            @Relationship(inverse: \Picture.frame) var pictures: [Picture] = []
            init(name: String) { self.name = name }
        }
    }

    private static let count = 6_000
    /// About 500 bytes, so that rewriting takes several pieces.
    private static func title(_ number: Int) -> String { "picture \(number) " + String(repeating: "t", count: 500) }
    private static func hasPreview(_ number: Int) -> Bool { number % 100 == 0 }

    private static func makeAlbum(count: Int = count) throws -> Stores {
        let stores = Stores()
        try stores.use(Album1.self) { _, context in
            let frames = (0..<3).map { Album1.Frame(name: "frame \($0)") }
            for frame in frames { context.insert(frame) }
            for number in 0..<count {
                let picture = Album1.Picture(number: Int32(number), title: title(number))
                picture.remark = "remark"
                if number % 50 == 0 { picture.original = Data(repeating: 1, count: 6_000) }
                if hasPreview(number) { picture.preview = Data(repeating: 2, count: 5_000) }
                picture.frame = frames[number % 3]
                context.insert(picture)
            }
            try context.save()
        }
        return stores
    }

    private func blobCount(_ container: ModelContainer) -> Int {
        container.rowStore.log.snapshot().recordCount(of: .blobs)
    }

    private func layouts(_ container: ModelContainer, reading: Bool = false) throws -> Set<UInt16> {
        let entity = try #require(container.rowStore.storage.entity(named: "Picture"))
        var layouts: Set<UInt16> = []
        try container.rowStore.log.snapshot().scan(entity.table, from: 1, through: .max, readAhead: 4_096) { records in
            for record in records {
                layouts.insert(record.layout)
                if reading { _ = try container.rowStore.view(record, of: entity) }
            }
            return true
        }
        return layouts
    }

    private func check(_ context: ModelContext, count: Int = count) throws {
        let pictures = try context.all(Album2.Picture.self).sorted { $0.number < $1.number }
        #expect(pictures.map(\.number) == Array(0..<Int64(count)))
        for (number, picture) in pictures.enumerated() {
            #expect(picture.title == Self.title(number) && picture.stars == 3)
            #expect(picture.preview == (Self.hasPreview(number) ? Data(repeating: 2, count: 5_000) : nil))
            #expect(picture.frame?.name == "frame \(number % 3)")
        }
        for frame in try context.all(Album2.Frame.self) {
            #expect(frame.pictures.map(\.number) == frame.pictures.map(\.number).sorted())
            #expect(frame.pictures.count == count / 3)
        }
    }

    @Test func `dropped values leave the store, and nothing else changes`() throws {
        let stores = try Self.makeAlbum()
        try stores.use(Album2.self) { container, context in
            #expect(blobCount(container) == 120 + 60)
            let held = try context.all(Album2.Picture.self)
            held[1].title = "changed before"
            #expect(held[5].stars == 3)
            var steps: [Int] = []
            let summary = try container.rewrite { steps.append($0) }
            #expect(summary.writtenCount == Self.count && summary.leftCount == 0)
            #expect(steps.count >= 3 && steps == steps.sorted())
            #expect(blobCount(container) == 60)
            try #expect(layouts(container).count == 1)
            // A context that began before the rewriting continues, and its changes are saved.
            #expect(held[5].title == Self.title(5))
            try context.save()
            held[1].title = Self.title(1)
            try context.save()
            try check(ModelContext(container))
            // The index is unchanged.
            context.insert(Album2.Picture(number: 7, title: Self.title(7)))
            try context.save()
            try check(ModelContext(container))
            let reads = container.counters.rowsRead
            try #expect(container.rewrite().writtenCount == 0)
            #expect(container.counters.rowsRead == reads)
        }
        try #expect(stores.findings(Album2.self) == [])
        try stores.use(Album2.self) { container, context in
            try check(context)
            #expect(IdleRewriting(container.rowStore) == nil)
        }
    }

    struct Stopped: Error {}

    @Test func `cut short, it goes on where it ended, after a reopening too`() throws {
        let stores = try Self.makeAlbum()
        var written = 0
        try stores.use(Album2.self) { container, context in
            #expect(throws: Stopped.self) {
                try container.rewrite { count in
                    written = count
                    throw Stopped()
                }
            }
            #expect(written > 1_000 && written < 3_000)
            try check(context)
        }
        let disk = CountingDisk(over: stores.disk)
        try Stores(disk, stores.directory).use(Album2.self) { container, _ in
            let (summary, counts) = try disk.counting { try container.rewrite() }
            #expect(summary.writtenCount == Self.count - written)
            // Rows that were checked before are not read again.
            let readByteCount = counts.bytesRead
            #expect(readByteCount > (Self.count - written) * 500 && readByteCount < (Self.count - written) * 1_300)
        }
        try stores.use(Album2.self) { _, context in try check(context) }
        try #expect(stores.findings(Album2.self) == [])
    }

    @Test func `a pinned context sees its state, and blobs end when it goes`() throws {
        let stores = try Self.makeAlbum(count: 300)
        try stores.use(Album2.self) { container, context in
            try context.pin()
            try #expect(container.rewrite().writtenCount == 300)
            try check(context, count: 300)
            try check(ModelContext(container), count: 300)
        }
        try #expect(stores.findings(Album2.self) == [])
    }

    @Test func `an idle store does it by itself, but not beside saves or a kept state`() throws {
        let stores = try Self.makeAlbum(count: 300)
        try stores.use(Album2.self) { container, context in
            try context.pin()
            let pinned = try #require(IdleRewriting(container.rowStore, patienceMilliseconds: 1))
            usleep(50_000)
            pinned.stop()
            #expect(blobCount(container) == 6 + 3)
            context.unpin()
            // Another container may have the older schema.
            let other = try stores.open(Album2.self)
            let shared = try #require(IdleRewriting(container.rowStore, patienceMilliseconds: 1))
            usleep(50_000)
            shared.stop()
            #expect(blobCount(container) == 6 + 3)
            try other.close()
            let patient = try #require(IdleRewriting(container.rowStore, patienceMilliseconds: 300))
            for number in 0..<20 {
                context.insert(Album2.Frame(name: "new \(number)"))
                try context.save()
                usleep(20_000)
            }
            #expect(blobCount(container) == 6 + 3)
            let end = ContinuousClock.now + .seconds(20)
            while blobCount(container) > 3, ContinuousClock.now < end { usleep(5_000) }
            patient.stop()
            #expect(blobCount(container) == 3)
            #expect(IdleRewriting(container.rowStore) == nil)
        }
        try #expect(stores.findings(Album2.self) == [])
    }

    @Test func `a container that may not write, or is of another schema by now, is refused`() throws {
        let stores = try Self.makeAlbum(count: 30)
        let old = try stores.open(Album1.self)
        try stores.use(Album2.self) { container, _ in
            try #expect(ModelContext(old).fetchCount(FetchDescriptor<Album1.Picture>()) == 30)
            // All rows have the layout that it knows.
            try #expect(old.rewrite().writtenCount == 0)
            try container.rewrite()
            // It keeps the rows that it has read, but cannot read later ones.
            #expect { try layouts(old, reading: true) } throws: { ($0 as? StoreError)?.code == .outdated }
        }
        try old.close()
        let onDisk = Stores(isOnDisk: true)
        try onDisk.use(Album1.self) { _, context in
            context.insert(Album1.Picture(number: 1, title: "one"))
            try context.save()
        }
        let reader = try ModelContainer(
            for: Album1.Picture.self,
            configurations: ModelConfiguration(url: URL(filePath: onDisk.directory), allowsSave: false))
        #expect { try reader.rewrite() } throws: { ($0 as? StorageError)?.code == .readOnly }
        try reader.close()
    }

    // MARK: Stages

    enum AlbumPlan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [Album1.self, Album2.self] }
        static var stages: [MigrationStage] {
            @Sendable func tryIt(_ context: ModelContext) throws {
                #expect { try context.container.rewrite() } throws: { ($0 as? StorageError)?.code == .outdated }
            }
            return [
                .custom(
                    fromVersion: Album1.self, toVersion: Album2.self, willMigrate: { try tryIt($0) },
                    didMigrate: {
                        try tryIt($0)
                        throw Stopped()
                    })
            ]
        }
    }

    @Test func `a stage of a migration writes nothing anew, so that the old state keeps its values`() throws {
        let stores = try Self.makeAlbum(count: 300)
        let rows = try stores.rows()
        #expect(throws: MigrationError.self) { try stores.open(Album2.self, AlbumPlan.self) }
        _ = try? stores.preview(Album2.self, AlbumPlan.self)
        try stores.use(Album1.self) { container, context in
            let pictures = try context.all(Album1.Picture.self)
            #expect(pictures.filter { $0.original == Data(repeating: 1, count: 6_000) }.count == 6)
            #expect(pictures.filter { $0.preview == Data(repeating: 2, count: 5_000) }.count == 3)
        }
        try #expect(stores.rows() == rows)
        try #expect(stores.findings(Album1.self) == [])
    }

    // MARK: Rows that stay

    @Test func `a large value that is lost already keeps no row from being written`() throws {
        let stores = try Self.makeAlbum(count: 300)
        try stores.use(Album2.self) { container, context in
            _ = try container.rowStore.log.write(author: nil) { try $0.deleteBlob(1) }
            try #expect(container.rewrite().writtenCount == 300)
            #expect(blobCount(container) == 3)
        }
    }
}
