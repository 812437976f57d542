import Faultline
import FaultlineLog
import FaultlineMigration
import FaultlineObjects
import FaultlineStore
import FaultlineTestSupport
import Foundation
import Testing

/// Large values that the closures of a custom stage set are written to the store before the save.
struct SpilledValueTests {
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
        static var models: [any PersistentModel.Type] { [Photo.self, Pixels.self, Note.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

        @Model final class Photo {
            var number: Int
            @Attribute(.externalStorage) var data: Data?
            @Relationship(deleteRule: .cascade, inverse: \Pixels.photo) var pixels: Pixels?
            init(number: Int) { self.number = number }
        }

        @Model final class Pixels {
            @Attribute(.externalStorage) var bytes: Data
            var photo: Photo?
            init(bytes: Data) { self.bytes = bytes }
        }

        @Model final class Note {
            #Index<Note>([\.title])
            var title: String
            var text: String
            init(title: String, text: String) {
                self.title = title
                self.text = text
            }
        }
    }

    /// The code of the stage.
    struct Closure: Sendable {
        let run: @Sendable (ModelContext) throws -> Void
        @TaskLocal static var current = Closure { try SpilledValueTests.split($0) }
    }

    enum Plan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self] }
        static var stages: [MigrationStage] {
            let closure = Closure.current
            return [
                .custom(fromVersion: V1.self, toVersion: V2.self, willMigrate: nil, didMigrate: { try closure.run($0) })
            ]
        }
    }

    /// Gives each photo's bytes to an object of their own, as it is written with SwiftData.
    private static func split(_ context: ModelContext) throws {
        for photo in try context.fetch(FetchDescriptor<V2.Photo>()) {
            let pixels = V2.Pixels(bytes: photo.data ?? Data())
            context.insert(pixels)
            photo.pixels = pixels
            photo.data = nil
        }
        try context.save()
    }

    private static let chunk = { () -> [UInt8] in
        var random = Seed(7)
        return random.bytes(65_536)
    }()

    /// Random bytes, which take their whole size in the store.
    private static func bytes(_ number: Int, chunks: Int) -> Data {
        var data = Data(capacity: chunks * chunk.count)
        for _ in 0..<chunks { data.append(contentsOf: chunk) }
        data[0] = UInt8(truncatingIfNeeded: number)
        return data
    }

    private static func fill(_ stores: Stores, count: Int, chunks: Int) throws {
        try stores.use(V1.self) { _, context in
            for number in 0..<count {
                context.insert(V1.Photo(number: number, data: bytes(number, chunks: chunks)))
                try context.save()
            }
        }
    }

    @Test("B1: a custom stage splits photos within its ceiling and 16 MiB", .enabled(if: PeakMemory.isExact))
    func staysWithinItsCeiling() async {
        await #expect(processExitsWith: .success) {
            let stores = Stores(isOnDisk: true)
            // 75 MiB of values, and a ceiling of 16 MiB.
            let (count, chunks) = (150, 8)
            try Self.fill(stores, count: count, chunks: chunks)
            #expect(PeakMemory.reset())
            let before = try #require(PeakMemory.residentByteCount)
            try stores.use(V2.self, Plan.self, migration: MigrationOptions(memoryCeiling: 16 << 20)) { _, _ in }
            let growth = try #require(PeakMemory.peakByteCount) - before
            #expect(growth <= 32 << 20, "\(growth) bytes above the base line")
            try stores.use(V2.self) { _, context in
                for photo in try context.fetch(FetchDescriptor<V2.Photo>()) {
                    #expect(photo.data == nil)
                    #expect(photo.pixels?.bytes == Self.bytes(photo.number, chunks: chunks))
                }
            }
            #expect(try stores.findings(V2.self) == [])
        }
    }

    @Test func `values are read, replaced and given up before the save`() throws {
        let stores = Stores()
        try Self.fill(stores, count: 3, chunks: 1)
        let text = String(repeating: "Ünïcode and more, ", count: 2_000)
        let closure = Closure { context in
            let photos = try context.fetch(FetchDescriptor<V2.Photo>(sortBy: [SortDescriptor(\.number)]))
            // Read before it is saved, and replaced.
            let pixels = V2.Pixels(bytes: Self.bytes(10, chunks: 2))
            context.insert(pixels)
            #expect(pixels.bytes == Self.bytes(10, chunks: 2))
            #expect(StageContext(context.core).unsavedByteCount < 10_000)
            pixels.bytes = Self.bytes(11, chunks: 3)
            photos[0].pixels = pixels
            photos[0].data = Self.bytes(12, chunks: 1)
            // Deleted before it is saved.
            let lost = V2.Pixels(bytes: Self.bytes(13, chunks: 1))
            context.insert(lost)
            context.delete(lost)
            // Large before the object is in the context.
            photos[1].pixels = V2.Pixels(bytes: Self.bytes(14, chunks: 1))
            context.insert(V2.Note(title: "t" + text, text: text))
            try context.save()
            photos[2].data = Self.bytes(15, chunks: 1)
            context.rollback()
            #expect(photos[2].data == Self.bytes(2, chunks: 1))
        }
        try Closure.$current.withValue(closure) {
            try stores.use(V2.self, Plan.self) { container, context in
                let photos = try context.fetch(FetchDescriptor<V2.Photo>(sortBy: [SortDescriptor(\.number)]))
                #expect(photos[0].pixels?.bytes == Self.bytes(11, chunks: 3))
                #expect(photos[0].data == Self.bytes(12, chunks: 1))
                #expect(photos[1].pixels?.bytes == Self.bytes(14, chunks: 1))
                #expect(photos[1].data == Self.bytes(1, chunks: 1))
                #expect(photos[2].data == Self.bytes(2, chunks: 1))
                let title = "t" + text
                let found = try context.fetch(FetchDescriptor<V2.Note>(predicate: #Predicate { $0.title == title }))
                #expect(found.map(\.text) == [text])
                let sameText = FetchDescriptor<V2.Note>(predicate: #Predicate { $0.text == text })
                #expect(try context.fetchCount(sameText) == 1)
                // Three of photos, two of pixels, the note's text and title.
                #expect(container.rowStore.log.snapshot().recordCount(of: .blobs) == 7)
            }
        }
        #expect(try stores.findings(V2.self) == [])
    }

    @Test("B3: a batch counts the long values of changed objects, and not those that were written")
    func countsLongValues() throws {
        let stores = Stores()
        try Self.fill(stores, count: 10, chunks: 1)
        let closure = Closure { context in
            let photos = try context.fetch(FetchDescriptor<V2.Photo>())
            for photo in photos { photo.data = Self.bytes(1, chunks: 1) }
            #expect(StageContext(context.core).unsavedByteCount < 10 * 1_024)
            for photo in photos { photo.data = Self.bytes(1, chunks: 1).prefix(9_000) }
            #expect(StageContext(context.core).unsavedByteCount > 90_000)
            try context.save()
            #expect(StageContext(context.core).unsavedByteCount == 0)
        }
        try Closure.$current.withValue(closure) {
            try stores.use(V2.self, Plan.self) { _, context in
                for photo in try context.fetch(FetchDescriptor<V2.Photo>()) { #expect(photo.data?.count == 9_000) }
            }
        }
    }

    @Test func `on a full disk the save throws, and the store keeps its old state`() throws {
        let stores = Stores()
        try Self.fill(stores, count: 3, chunks: 1)
        let disk = try #require(stores.disk as? SimulatedDisk)
        let closure = Closure { context in
            disk.byteCapacity = Int(disk.byteCapacity - Int(try disk.freeByteCount(in: "/s"))) + 100_000
            for number in 0..<10 { context.insert(V2.Pixels(bytes: Self.bytes(number, chunks: 1))) }
            try context.save()
        }
        Closure.$current.withValue(closure) {
            let error = #expect(throws: MigrationError.self) { try stores.open(V2.self, Plan.self) }
            #expect(error?.code == .stageFailed)
            #expect((error?.cause as? StorageError)?.code == .fullDisk, "\(String(describing: error))")
        }
        disk.byteCapacity = 1 << 50
        try stores.use(V1.self) { _, context in
            for photo in try context.fetch(FetchDescriptor<V1.Photo>()) {
                #expect(photo.data == Self.bytes(photo.number, chunks: 1))
            }
        }
    }
}
