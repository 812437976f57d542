import Faultline
import FaultlineDisk
import FaultlineLog
import FaultlineMigration
import FaultlineStore
import FaultlineTestSupport
import Foundation
import Testing

/// A stage that begins again finds the large values that the stage before it has written.
struct StageBlobTests {
    enum V1: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Photo.self, Album.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

        @Model final class Photo {
            @Attribute(.unique) var number: Int
            var album: Album?
            init(number: Int) { self.number = number }
        }

        @Model final class Album {
            @Relationship(minimumModelCount: 1, inverse: \Photo.album) var photos: [Photo] = []
            init() {}
        }
    }

    enum V2: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Photo.self, Album.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

        @Model final class Photo {
            @Attribute(.unique) var number: Int
            @Attribute(.externalStorage) var bytes: Data?
            var album: Album?
            init(number: Int, bytes: Data?) {
                self.number = number
                self.bytes = bytes
            }
        }

        @Model final class Album {
            @Relationship(minimumModelCount: 1, inverse: \Photo.album) var photos: [Photo] = []
            init() {}
        }
    }

    enum V3: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Photo.self, Album.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(3, 0, 0) }

        @Model final class Photo {
            @Attribute(.unique) var number: Int
            @Attribute(.externalStorage) var bytes: Data?
            var title = ""
            var album: Album?
            init(number: Int) { self.number = number }
        }

        @Model final class Album {
            @Relationship(minimumModelCount: 1, inverse: \Photo.album) var photos: [Photo] = []
            init() {}
        }
    }

    private enum Plan: SchemaMigrationPlan {
        @TaskLocal static var release = Release(0) { _, _ in }
        static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self, V3.self] }
        static var stages: [MigrationStage] {
            let release = release
            return [
                .streamed(
                    fromVersion: V1.self, toVersion: V2.self,
                    StreamedEntity(V1.Photo.self) { old, output in
                        try output.insert(V2.Photo(number: old.number, bytes: bytes(old.number)))
                    }),
                .streamed(
                    fromVersion: V2.self, toVersion: V3.self, revision: release.revision,
                    StreamedEntity(V2.Photo.self) { old, output in try release.closure(old, output) }),
            ]
        }
    }

    /// The second stage.
    private struct Release: Sendable {
        let revision: Int
        let closure: @Sendable (V2.Photo, MigrationOutput) throws -> Void

        init(_ revision: Int, _ closure: @escaping @Sendable (V2.Photo, MigrationOutput) throws -> Void) {
            self.revision = revision
            self.closure = closure
        }
    }

    private struct Stopped: Error {}
    private static let count = 12
    private let stores = Stores()

    init() throws {
        try stores.use(V1.self) { _, context in
            for number in 0..<Self.count {
                let album = V1.Album()
                context.insert(album)
                album.photos = [V1.Photo(number: number)]
            }
            try context.save()
        }
    }

    private static func bytes(_ number: Int) -> Data { Data(repeating: UInt8(number + 1), count: 20_000) }

    private static var options: MigrationOptions {
        var options = MigrationOptions(unhandledData: .drop)
        options.batchByteCount = 1
        options.workerCount = 1
        return options
    }

    /// Runs the migration with a second stage that fails and then with a corrected one, and compares all large values.
    private func correct(_ failing: Release, by corrected: Release) throws {
        Plan.$release.withValue(failing) {
            let error = #expect(throws: MigrationError.self) {
                try stores.open(V3.self, Plan.self, migration: Self.options)
            }
            #expect(error?.stage == "2.0.0 → 3.0.0", "\(error?.description ?? "")")
        }
        try Plan.$release.withValue(corrected) {
            try stores.use(V3.self, Plan.self, migration: Self.options) { container, context in
                #expect(container.migrationReport.stages.map(\.restarts) == [0, 1])
                let photos = try context.all(V3.Photo.self)
                #expect(photos.count == Self.count)
                for photo in photos { #expect(photo.bytes == Self.bytes(photo.number), "photo \(photo.number)") }
            }
        }
        #expect(try stores.findings(V3.self) == [])
        #expect(try stores.rows()["blobs"] == Array("\(Self.count)".utf8))
    }

    private static let carrying = Release(1) { old, output in try output.insert(V3.Photo(number: old.number)) }

    /// The late photo takes the values back that were carried over to those before it.
    @Test func `values that were carried over and taken back are still there`() throws {
        let failing = Release(0) { old, output in
            // The album that has no photo breaks a rule.
            if old.number == 3 { return }
            let new = V3.Photo(number: old.number)
            if old.number == Self.count - 1 { new.bytes = Data(repeating: 0xFF, count: 20_000) }
            try output.insert(new)
        }
        try correct(failing, by: Self.carrying)
    }

    @Test func `values that were moved and overwritten are still there`() throws {
        let failing = Release(0) { old, output in
            if old.number == Self.count - 1 {
                let new = V3.Photo(number: 0)
                new.bytes = Data(repeating: 0xFF, count: 20_000)
                try output.upsert(new)
                return
            }
            let new = V3.Photo(number: old.number)
            new.setBlob(old.blob(\.bytes), for: \.bytes)
            try output.insert(new)
        }
        try correct(failing, by: Self.carrying)
    }

    @Test func `values whose object was overwritten before the closure threw are still there`() throws {
        let failing = Release(0) { old, output in
            if old.number == Self.count - 1 { throw Stopped() }
            let new = V3.Photo(number: old.number)
            new.setBlob(old.blob(\.bytes), for: \.bytes)
            try output.insert(new)
            if old.number == 5 { try output.upsert(V3.Photo(number: 1)) }
        }
        let moving = Release(1) { old, output in
            let new = V3.Photo(number: old.number)
            new.setBlob(old.blob(\.bytes), for: \.bytes)
            try output.insert(new)
        }
        try correct(failing, by: moving)
    }

    /// The disk says nothing about the objects: the next opening goes on with the check.
    @Test func `a disk that fails during the rule check does not undo the stage`() throws {
        let disk = FailingDisk(over: stores.disk)
        var options = Self.options
        options.progress = { progress in
            guard progress.pass == .validation, progress.stage?.place == 2 else { return }
            disk.arm(DiskFault(of: [.read], ordinal: 0))
        }
        try Plan.$release.withValue(Release(0, Self.carrying.closure)) {
            let error = #expect(throws: (any Error).self) {
                try Stores(disk, stores.directory).open(V3.self, Plan.self, migration: options)
            }
            #expect((error as? MigrationError)?.code != .stageFailed)
            disk.disarm()
            let log = try Log.open(
                stores.directory, on: stores.disk, clock: .system, options: Stores.options, deriver: RowIndexDeriver())
            let record = try StoredCatalog.read(log.snapshot())?.migration
            #expect(record?.stage == 1 && record?.restart?.goesOn == true)
            log.abandonForTests()
            try stores.use(V3.self, Plan.self, migration: Self.options) { container, _ in
                #expect(container.migrationReport.objectsRead == 2 * Self.count)
            }
        }
        #expect(try stores.findings(V3.self) == [])
    }
}
