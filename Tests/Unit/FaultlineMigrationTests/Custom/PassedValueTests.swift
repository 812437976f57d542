import Faultline
import FaultlineLog
import FaultlineMigration
import FaultlineObjects
import FaultlineStore
import FaultlineTestSupport
import Foundation
import Testing

/// A large value that a stage's code reads as `Data`, and sets unmodified, is read once and not written again.
struct PassedValueTests {
    enum V1: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Photo.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

        @Model final class Photo {
            var number: Int
            @Attribute(.externalStorage) var data: Data?
            init(number: Int, data: Data?) {
                self.number = number
                self.data = data
            }
        }
    }

    enum V2: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Photo.self, Pixels.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

        @Model final class Photo {
            var number: Int
            @Attribute(.externalStorage) var data: Data?
            @Attribute(.externalStorage) var copy: Data?
            @Relationship(deleteRule: .cascade, inverse: \Pixels.photo) var pixels: Pixels?
            init(number: Int) { self.number = number }
        }

        @Model final class Pixels {
            @Attribute(.externalStorage) var bytes: Data
            var photo: Photo?
            init(bytes: Data) { self.bytes = bytes }
        }
    }

    /// The stage under test.
    struct Stage: Sendable {
        let make: @Sendable () -> MigrationStage
        @TaskLocal static var current = Stage { .lightweight(fromVersion: V1.self, toVersion: V2.self) }

        static func custom(_ run: @escaping @Sendable (ModelContext) throws -> Void) -> Stage {
            Stage {
                .custom(fromVersion: V1.self, toVersion: V2.self, willMigrate: nil, didMigrate: { try run($0) })
            }
        }
    }

    enum Plan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self] }
        static var stages: [MigrationStage] { [Stage.current.make()] }
    }

    private static let byteCount = 100_000

    private static func bytes(_ number: Int) -> Data {
        var random = Seed(UInt64(number) + 1)
        return Data(random.bytes(byteCount))
    }

    private static func fill(count: Int) throws -> Stores {
        let stores = Stores()
        try stores.use(V1.self) { _, context in
            for number in 0..<count { context.insert(V1.Photo(number: number, data: bytes(number))) }
            try context.save()
        }
        return stores
    }

    private static func photos(_ context: ModelContext) throws -> [V2.Photo] {
        try context.fetch(FetchDescriptor<V2.Photo>(sortBy: [SortDescriptor(\.number)]))
    }

    /// Migrates, and checks the objects, the report and the file.
    private func check(
        _ stores: Stores, _ stage: Stage, moved: Int, written: Int, read: Int, values: Int,
        _ body: (ModelContext) throws -> Void
    ) throws {
        try Stage.$current.withValue(stage) {
            try stores.use(V2.self, Plan.self) { container, context in
                let report = container.migrationReport
                #expect(report.blobsMoved == moved && report.blobBytesMoved == moved * Self.byteCount)
                #expect(report.blobBytesWritten == written * Self.byteCount)
                #expect(report.blobBytesRead == read * Self.byteCount)
                #expect(container.rowStore.log.snapshot().recordCount(of: .blobs) == values)
                try body(context)
            }
        }
        #expect(try stores.findings(V2.self) == [])
        // A later change deletes each value once.
        try stores.use(V2.self) { container, context in
            for photo in try Self.photos(context) {
                photo.data = nil
                photo.copy = nil
                photo.pixels.map(context.delete)
            }
            try context.save()
            #expect(container.rowStore.log.snapshot().recordCount(of: .blobs) == 0)
        }
        #expect(try stores.findings(V2.self) == [])
    }

    private func checkSplit(_ context: ModelContext, count: Int) throws {
        let photos = try Self.photos(context)
        #expect(photos.count == count)
        for photo in photos {
            #expect(photo.data == nil)
            #expect(photo.pixels?.bytes == Self.bytes(photo.number))
        }
    }

    @Test("B1: a custom stage that splits photos through Data reads each once, and writes none")
    func splitsThroughData() throws {
        let stores = try Self.fill(count: 20)
        let stage = Stage.custom { context in
            for photo in try Self.photos(context) where photo.data != nil {
                let pixels = V2.Pixels(bytes: photo.data ?? Data())
                context.insert(pixels)
                photo.pixels = pixels
                photo.data = nil
            }
            try context.save()
        }
        try check(stores, stage, moved: 20, written: 0, read: 20, values: 20) { try checkSplit($0, count: 20) }
    }

    @Test func `named forms in a custom stage read no byte and write none`() throws {
        let stores = try Self.fill(count: 5)
        let stage = Stage.custom { context in
            for photo in try Self.photos(context) {
                let pixels = V2.Pixels(bytes: Data())
                pixels.setBlob(photo.blob(\.data), for: \.bytes)
                photo.pixels = pixels
                photo.data = nil
            }
            try context.save()
        }
        try check(stores, stage, moved: 5, written: 0, read: 0, values: 5) { try checkSplit($0, count: 5) }
    }

    @Test func `a streamed closure moves the Data that it has read`() throws {
        let stores = try Self.fill(count: 20)
        let stage = Stage {
            .streamed(
                fromVersion: V1.self, toVersion: V2.self,
                StreamedEntity(V1.Photo.self) { old, output in
                    let photo = V2.Photo(number: old.number)
                    photo.pixels = old.data.map(V2.Pixels.init)
                    try output.leave(\V2.Photo.data)
                    try output.insert(photo)
                })
        }
        try check(stores, stage, moved: 20, written: 0, read: 20, values: 20) { try checkSplit($0, count: 20) }
    }

    final class Splitting: EntityMigrationPolicy {
        override func createDestinationInstances(
            forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            let photo = try manager.destinationContext.insertNewObject(forEntityName: "Photo")
            photo["number"] = sInstance["number"]
            if let data = sInstance["data"] as? Data {
                let pixels = try manager.destinationContext.insertNewObject(forEntityName: "Pixels")
                pixels["bytes"] = data
                photo["pixels"] = pixels
            }
            try manager.associate(sourceInstance: sInstance, withDestinationInstance: photo, for: mapping)
        }
    }

    @Test func `a policy moves the Data that it has read`() throws {
        let stores = try Self.fill(count: 20)
        let stage = Stage {
            .mapped(
                fromVersion: V1.self, toVersion: V2.self,
                MappingModel(EntityMapping(from: "Photo", to: "Photo", policy: Splitting.self)))
        }
        try check(stores, stage, moved: 20, written: 0, read: 20, values: 20) { try checkSplit($0, count: 20) }
    }

    final class Filling: EntityMigrationPolicy {
        override func createDestinationInstances(
            forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
            let made = try manager.destinationInstances(
                forEntityMappingName: mapping.name, sourceInstances: [sInstance])
            let number = sInstance["number"] as? Int ?? 0
            for photo in made { photo["copy"] = PassedValueTests.bytes(50 + number) }
            #expect(StageContext(manager.destinationContext.core).unsavedByteCount < 20_000)
        }
    }

    @Test func `values that a policy sets are written before the save`() throws {
        let stores = try Self.fill(count: 20)
        let stage = Stage {
            .mapped(
                fromVersion: V1.self, toVersion: V2.self,
                MappingModel(EntityMapping(from: "Photo", to: "Photo", policy: Filling.self)))
        }
        try check(stores, stage, moved: 20, written: 20, read: 0, values: 40) { context in
            for photo in try Self.photos(context) {
                #expect(photo.data == Self.bytes(photo.number) && photo.copy == Self.bytes(50 + photo.number))
            }
        }
    }

    @Test func `a value whose owner keeps it, or that was modified, is written`() throws {
        let stores = try Self.fill(count: 4)
        let stage = Stage.custom { context in
            let photos = try Self.photos(context)
            // Kept by its owner: copied, once for each new owner.
            photos[0].pixels = V2.Pixels(bytes: photos[0].data ?? Data())
            photos[0].copy = photos[0].data
            // Modified.
            var data = try #require(photos[1].data)
            data[7] ^= 1
            photos[1].pixels = V2.Pixels(bytes: data)
            photos[1].data = nil
            // Read before another value: written, and nothing is lost.
            let (second, third) = (photos[2].data, photos[3].data)
            photos[3].data = second
            photos[2].data = third
            try context.save()
        }
        try check(stores, stage, moved: 1, written: 4, read: 4, values: 6) { context in
            let photos = try Self.photos(context)
            #expect(photos[0].data == Self.bytes(0) && photos[0].copy == Self.bytes(0))
            #expect(photos[0].pixels?.bytes == Self.bytes(0))
            var data = Self.bytes(1)
            data[7] ^= 1
            #expect(photos[1].pixels?.bytes == data && photos[1].data == nil)
            #expect(photos[2].data == Self.bytes(3) && photos[3].data == Self.bytes(2))
        }
    }

    @Test func `a value passes within an object, to one of two takers, and from a deleted object`() throws {
        let stores = try Self.fill(count: 4)
        let stage = Stage.custom { context in
            let photos = try Self.photos(context)
            photos[3].copy = Self.bytes(9)
            photos[0].copy = photos[0].data
            photos[0].data = nil
            // Set to itself: nothing changes.
            photos[1].data = photos[1].data
            // Two takers of one value: the second gets a copy.
            photos[2].pixels = V2.Pixels(bytes: photos[2].data ?? Data())
            photos[2].copy = photos[2].data
            photos[2].data = nil
            photos[1].copy = photos[3].data
            context.delete(photos[3])
            try context.save()
            #expect(photos[3].copy == Self.bytes(9))
        }
        try check(stores, stage, moved: 3, written: 1, read: 4, values: 5) { context in
            let photos = try Self.photos(context)
            #expect(photos.count == 3)
            #expect(photos[0].copy == Self.bytes(0) && photos[0].data == nil)
            #expect(photos[1].data == Self.bytes(1) && photos[1].copy == Self.bytes(3))
            #expect(photos[2].pixels?.bytes == Self.bytes(2) && photos[2].copy == Self.bytes(2))
        }
    }

    @Test func `a value that is set back to its own attribute stays`() throws {
        let stores = try Self.fill(count: 3)
        let stage = Stage.custom { context in
            let photos = try Self.photos(context)
            let first = photos[0].data
            photos[0].data = nil
            photos[0].data = first
            photos[1].setBlob(photos[1].blob(\.data), for: \.data)
            // Another object gets a copy.
            let third = photos[2].data
            photos[2].pixels = V2.Pixels(bytes: third ?? Data())
            photos[2].data = nil
            photos[2].data = third
            try context.save()
        }
        try check(stores, stage, moved: 3, written: 1, read: 2, values: 4) { context in
            let photos = try Self.photos(context)
            for number in 0..<3 { #expect(photos[number].data == Self.bytes(number)) }
            #expect(photos[2].pixels?.bytes == Self.bytes(2))
        }
    }

    @Test func `values that the stage has written itself pass on, and back after a rollback`() throws {
        let stores = try Self.fill(count: 2)
        let stage = Stage.custom { context in
            var photos = try Self.photos(context)
            for photo in photos { photo.data = Self.bytes(10 + photo.number) }
            try context.save()
            photos[0].pixels = V2.Pixels(bytes: photos[0].data ?? Data())
            photos[0].data = nil
            context.rollback()
            photos = try Self.photos(context)
            #expect(photos[0].data == Self.bytes(10) && photos[0].pixels == nil)
            // Given up by one save, and set by the next one.
            let pixels = V2.Pixels(bytes: photos[0].data ?? Data())
            photos[0].data = nil
            try context.save()
            #expect(pixels.bytes == Self.bytes(10))
            photos[0].pixels = pixels
            try context.save()
            photos[1].pixels = V2.Pixels(bytes: photos[1].data ?? Data())
            photos[1].data = nil
            try context.save()
        }
        // Three sets, one copy.
        try check(stores, stage, moved: 1, written: 3, read: 3, values: 2) { context in
            let photos = try Self.photos(context)
            #expect(photos[0].pixels?.bytes == Self.bytes(10) && photos[1].pixels?.bytes == Self.bytes(11))
        }
    }

    @Test func `a stage that fails after it has passed values leaves the old state whole`() throws {
        struct Failure: Error {}
        let stores = try Self.fill(count: 3)
        let before = try stores.rows()
        let stage = Stage.custom { context in
            for photo in try Self.photos(context) {
                photo.pixels = V2.Pixels(bytes: photo.data ?? Data())
                photo.data = nil
            }
            try context.save()
            throw Failure()
        }
        Stage.$current.withValue(stage) {
            #expect(throws: MigrationError.self) { try stores.open(V2.self, Plan.self) }
        }
        #expect(try stores.rows() == before)
        try stores.use(V1.self) { _, context in
            for photo in try context.fetch(FetchDescriptor<V1.Photo>()) {
                #expect(photo.data == Self.bytes(photo.number))
            }
        }
        #expect(try stores.findings(V1.self) == [])
    }

    @Test func `the text of the report has the three sums`() throws {
        var report = try MigrationReport(json: #"{"versions": ["1", "2"], "blobBytesRead": 5, "blobsMoved": 2}"#)
        #expect(report.blobBytesWritten == 0)
        #expect(report.text.contains("large values: 2 moved (0 KiB), 1 KiB read, 0 KiB written"))
        report = try MigrationReport(json: #"{"versions": ["1", "2"], "blobBytesMoved": 7, "blobBytesWritten": 6}"#)
        #expect(try MigrationReport(json: report.json()) == report)
        #expect(report.description.contains("blob bytes: 7 moved, 0 read, 6 written"))
        #expect(report.text.contains("0 moved (1 KiB), 0 KiB read, 1 KiB written"))
    }
}
