import Faultline
import FaultlineDisk
import FaultlineLog
import FaultlineMigration
import FaultlineStore
import FaultlineTestSupport
import Foundation
import Synchronization
import Testing

/// Properties that the closures of a streamed stage do not set.
@Suite struct CarryingOverTests {
    /// Additional work of the closures, besides setting the title.
    struct Habit: Sendable {
        var leavesAlbum = false
        /// The photos whose note, bytes and album are set.
        var setting: Set<Int> = []
        var stopsAt: Int?
        @TaskLocal static var current = Habit()

        struct Stopped: Error {}
    }

    enum V1: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Photo.self, Album.self, Frame.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

        @Model final class Photo {
            var number: Int
            var title: String
            var note: String?
            var rank: Int = 7
            var bytes: Data?
            var album: Album?
            @Relationship(inverse: \Frame.photo) var frame: Frame?
            init(number: Int, title: String) {
                self.number = number
                self.title = title
            }
        }

        @Model final class Album {
            var name: String
            @Relationship(inverse: \Photo.album) var photos: [Photo] = []
            init(name: String) { self.name = name }
        }

        @Model final class Frame {
            var size: Int
            var photo: Photo?
            init(size: Int) { self.size = size }
        }
    }

    enum V2: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Photo.self, Album.self, Frame.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

        @Model final class Photo {
            var number: Int
            var caption: String
            var note: String?
            var rank: Int = 9
            var bytes: Data?
            var album: Album?
            @Relationship(inverse: \Frame.photo) var frame: Frame?
            init(number: Int, caption: String) {
                self.number = number
                self.caption = caption
            }
        }

        @Model final class Album {
            var name: String
            @Relationship(inverse: \Photo.album) var photos: [Photo] = []
            init(name: String) { self.name = name }
        }

        @Model final class Frame {
            var size: Int
            var photo: Photo?
            init(size: Int) { self.size = size }
        }
    }

    enum Plan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self] }
        static var stages: [MigrationStage] {
            [
                .streamed(
                    fromVersion: V1.self, toVersion: V2.self,
                    StreamedEntity(V1.Photo.self) { old, output in
                        let habit = Habit.current
                        if habit.stopsAt == old.number { throw Habit.Stopped() }
                        if habit.leavesAlbum { try output.leave(\V2.Photo.album) }
                        let new = V2.Photo(number: old.number, caption: old.title.uppercased())
                        if habit.setting.contains(old.number) {
                            new.note = "set"
                            new.bytes = Data([1])
                            new.album = try output.object(migratedFrom: old.album)
                        }
                        try output.insert(new)
                    },
                    StreamedEntity(V1.Frame.self) { old, output in try output.insert(V2.Frame(size: old.size)) })
            ]
        }
    }

    private static let count = 300

    private func makeStores() throws -> Stores {
        let stores = Stores()
        try stores.use(V1.self) { _, context in
            let albums = (0..<3).map { V1.Album(name: "a\($0)") }
            albums.forEach { context.insert($0) }
            for number in 0..<Self.count {
                let photo = V1.Photo(number: number, title: "t\(number)")
                context.insert(photo)
                photo.note = number % 2 == 0 ? "n\(number)" : nil
                photo.rank = number % 3
                photo.bytes = number % 10 == 0 ? Data(repeating: UInt8(number % 251), count: 9_000) : nil
                if number % 5 != 0 { photo.album = albums[number % 3] }
                if number % 4 == 0 {
                    let frame = V1.Frame(size: number)
                    context.insert(frame)
                    photo.frame = frame
                }
            }
            try context.save()
            // The order of a collection differs from the order of its objects.
            albums[0].photos = albums[0].photos.reversed()
            try context.save()
        }
        return stores
    }

    private func options(_ batch: Int, workers: Int) -> MigrationOptions {
        var options = MigrationOptions()
        options.batchByteCount = batch
        options.shareCount = 16
        options.workerCount = workers
        return options
    }

    /// All values of the photos, and the order in the albums.
    private func outcome(_ context: ModelContext) throws -> [String] {
        let photos = try context.all(V2.Photo.self).sorted { $0.number < $1.number }.map {
            "\($0.number) \($0.caption) \($0.note ?? "-") \($0.rank) \($0.bytes?.count ?? 0) \($0.bytes?.first ?? 0) \($0.album?.name ?? "-") \($0.frame?.size ?? -1)"
        }
        let albums = try context.all(V2.Album.self).map { "\($0.name): \($0.photos.map(\.number))" }
        let frames = try context.all(V2.Frame.self).map { "\($0.size) \($0.photo?.number ?? -1)" }
        return photos + albums + frames
    }

    private func expectedPhoto(_ number: Int, keepsNote: Bool = true, keepsAlbum: Bool = true) -> String {
        let note = keepsNote && number % 2 == 0 ? "n\(number)" : "-"
        let hasBytes = keepsNote && number % 10 == 0
        let album = keepsAlbum && number % 5 != 0 ? "a\(number % 3)" : "-"
        return
            "\(number) T\(number) \(note) \(number % 3) \(hasBytes ? 9_000 : 0) \(hasBytes ? number % 251 : 0) \(album) \(number % 4 == 0 ? number : -1)"
    }

    @Test(
        "A11: a property that no closure sets goes over, relationships by identity, large values unread",
        arguments: [
            (1, 1), (2_000, 1), (2_000, 4), (1 << 20, 4),
        ])
    func carriesOverWhatIsLeftAlone(batch: Int, workers: Int) throws {
        let stores = try makeStores()
        try stores.use(V2.self, Plan.self, migration: options(batch, workers: workers)) { container, context in
            let report = container.migrationReport
            #expect(report.blobsMoved == 30 && report.blobBytesRead == 0 && report.blobsLeftBehind == 0)
            let text = report.text
            #expect(text.contains("Photo.album: 240 had a value, 240 of the new objects have one, carried over"))
            #expect(text.contains("Photo.bytes: 30 had a value, 30 of the new objects have one, carried over"))
            #expect(try MigrationReport(json: report.json()) == report)
            let outcome = try outcome(context)
            #expect(Array(outcome.prefix(Self.count)) == (0..<Self.count).map { expectedPhoto($0) })
            let first = (0..<Self.count).filter { $0 % 3 == 0 && $0 % 5 != 0 }.reversed()
            #expect(outcome[Self.count] == "a0: \(Array(first))")
            #expect(outcome.suffix(75) == (0..<75).map { "\($0 * 4) \($0 * 4)" })
        }
        #expect(try stores.findings(V2.self) == [])
    }

    /// The disks that kills would leave, and the attempts that they know of, when all old objects are done.
    private func kills(_ stores: Stores) throws -> [(disk: SimulatedDisk, attempts: StageAttempts?)] {
        let disk = try #require(stores.disk as? SimulatedDisk)
        let images = Guarded<[SimulatedDisk]>([])
        disk.onOperation = { disk, _ in images.withLock { $0.append(disk.afterProcessDeath()) } }
        try Habit.$current.withValue(Habit(setting: [299])) {
            try stores.use(V2.self, Plan.self, migration: options(1 << 20, workers: 1)) { _, _ in }
        }
        disk.onOperation = nil
        return try images.withLock { $0 }.compactMap { image in
            let log = try Log.open(
                stores.directory, on: image.afterProcessDeath(), clock: .system, options: Stores.options,
                deriver: RowIndexDeriver())
            defer { log.abandonForTests() }
            guard let record = try StoredCatalog.read(log.snapshot())?.migration, record.entity == 1,
                record.entityDone == 75
            else { return nil }
            return (image, record.attempts)
        }
    }

    @Test("work that is saved at the stage's end is progress")
    func countsItsEndAsProgress() throws {
        let stores = try makeStores()
        let first = try #require(try kills(stores).first)
        #expect(first.attempts?.resumes ?? 0 == 0)
        let second = try kills(Stores(first.disk, stores.directory))
        #expect(second.contains { $0.attempts?.resumes == 1 })
        #expect(second.last?.attempts?.resumes == 0)
    }

    @Test("A11: output.leave leaves a property, and the report counts its values")
    func leavesAProperty() throws {
        let stores = try makeStores()
        try Habit.$current.withValue(Habit(leavesAlbum: true)) {
            try stores.use(V2.self, Plan.self, migration: options(2_000, workers: 2)) { container, context in
                let text = container.migrationReport.text
                #expect(text.contains("Photo.album: 240 had a value, 0 of the new objects have one\n"))
                let outcome = try outcome(context).prefix(Self.count)
                #expect(Array(outcome) == (0..<Self.count).map { expectedPhoto($0, keepsAlbum: false) })
            }
        }
        #expect(try stores.findings(V2.self) == [])
    }

    @Test(
        "A11: a property that is set on some objects keeps its default on the rest, whenever it is set first",
        arguments: [500, 2_000, 1 << 20].suffix(TestSize.of(3, unoptimized: 2)),
        [0, 150, 299].suffix(TestSize.of(3, unoptimized: 2)))
    func takesBackWhatIsSetLater(batch: Int, at number: Int) throws {
        var outcomes: [[String: [UInt8]]] = []
        for workers in [1, 4] {
            let stores = try makeStores()
            try Habit.$current.withValue(Habit(setting: [number])) {
                try stores.use(V2.self, Plan.self, migration: options(batch, workers: workers)) { container, context in
                    let text = container.migrationReport.text
                    #expect(text.contains("Photo.note: 150 had a value, 1 of the new objects have one\n"))
                    #expect(text.contains("Photo.rank: 300 had a value, 300 of the new objects have one, carried over"))
                    let photos = try outcome(context).prefix(Self.count)
                    for (place, photo) in photos.enumerated() where place != number {
                        let hasAlbum = number % 5 == 0
                        #expect(photo == expectedPhoto(place, keepsNote: false, keepsAlbum: hasAlbum))
                    }
                    #expect(photos[number].contains(" set "))
                    #expect(container.rowStore.log.snapshot().recordCount(of: .blobs) == 0)
                }
            }
            #expect(try stores.findings(V2.self) == [])
            outcomes.append(try stores.rows())
        }
        #expect(outcomes[0] == outcomes[1])
    }

    @Test("A11: a stage that was stopped carries over as one that was not", arguments: [[], [40], [200]] as [Set<Int>])
    func goesOnAsItBegan(setting: Set<Int>) throws {
        let whole = try makeStores()
        let stopped = try makeStores()
        let options = options(1, workers: 1)
        try Habit.$current.withValue(Habit(setting: setting)) {
            try whole.use(V2.self, Plan.self, migration: options) { _, _ in }
        }
        Habit.$current.withValue(Habit(setting: setting, stopsAt: 120)) {
            #expect(throws: MigrationError.self) { try stopped.open(V2.self, Plan.self, migration: options) }
        }
        try Habit.$current.withValue(Habit(setting: setting)) {
            try stopped.use(V2.self, Plan.self, migration: options) { container, _ in
                #expect(container.migrationReport.resumes == 1)
            }
        }
        let wholeOutcome = try whole.use(V2.self, Plan.self) { try outcome($1) }
        let stoppedOutcome = try stopped.use(V2.self, Plan.self) { try outcome($1) }
        #expect(stoppedOutcome == wholeOutcome)
        #expect(try stopped.findings(V2.self) == [])
    }
}
