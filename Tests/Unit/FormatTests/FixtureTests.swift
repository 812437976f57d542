import Faultline
import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Foundation
import Testing

/// Stores of earlier releases: this release must open or refuse each, exactly as `Fixtures/README.md` says.
///
/// With `FAULTLINE_REWRITE=1` in the environment they are written again; only a new format version is a reason for
/// that.
@Suite(.serialized) struct FixtureTests {
    private static let fixtures = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../Fixtures/format-1").standardizedFileURL
    private static let table = TableID(rawValue: 16)
    private static let isRewriting = ProcessInfo.processInfo.environment["FAULTLINE_REWRITE"] == "1"

    private let folder = TemporaryDirectory()

    init() throws {
        if Self.isRewriting { try Self.makeAll() }
    }

    /// A copy of a fixture, which is never opened in its own folder.
    private func copy(_ name: String) throws -> String {
        let target = folder.path + "/" + name
        try FileManager.default.copyItem(atPath: Self.fixtures.appending(path: name).path, toPath: target)
        return target
    }

    private func open(_ path: String) throws -> Log {
        try Log.open(path, on: PosixDisk(), clock: .system, options: LogOptions(), deriver: NoIndexes())
    }

    private func values(_ log: Log) throws -> [UInt64: [UInt8]] {
        var values: [UInt64: [UInt8]] = [:]
        try log.snapshot().scan(Self.table, from: 1, through: 1_000, readAhead: 65_536) { records in
            for record in records { values[record.id] = Array(record.row) }
            return true
        }
        return values
    }

    @Test func opensAnEmptyStore() throws {
        let log = try open(copy("empty"))
        #expect(try values(log).isEmpty)
        try log.close()
    }

    @Test func readsEveryRecordOfASmallStore() throws {
        let log = try open(copy("small"))
        #expect(try values(log) == [1: [1, 1], 3: [3, 3, 3], 4: Array(repeating: 4, count: 1_000)])
        try log.close()
    }

    @Test func readsBlobsBack() throws {
        let log = try open(copy("blobs"))
        let snapshot = log.snapshot()
        for (id, byteCount) in [(1, 5_000), (2, 200_000)] {
            var bytes = [UInt8](repeating: 0, count: byteCount)
            try bytes.withUnsafeMutableBytes {
                try snapshot.readBlob(RecordID(id), range: 0..<UInt64(byteCount), into: $0)
            }
            #expect(bytes == Self.pattern(byteCount))
        }
        try log.close()
    }

    @Test func recoversATornTailInSilence() throws {
        let log = try open(copy("torn-tail"))
        #expect(try values(log) == [1: [1], 2: [2]])
        try log.close()
    }

    @Test func refusesRotAndNamesThePlace() throws {
        let path = try copy("rotten-record")
        let error = #expect(throws: LogError.self) { try open(path) }
        #expect(error?.code == .damaged)
        #expect(error?.path?.hasPrefix(path) == true)
        #expect(error?.offset != nil)
    }

    @Test func readsObjectsThatAnEarlierBuildSaved() throws {
        let path = try copy("objects")
        let container = try ModelContainer(
            for: Shelf.self, configurations: ModelConfiguration(url: URL(filePath: path)))
        let context = ModelContext(container)
        let books = try context.fetch(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.title)]))
        #expect(books.map(\.title) == ["Dune", "Emma", "Ulysses"])
        #expect(books.map(\.pages) == [612, 474, nil])
        #expect(books.map { $0.shelf?.name } == ["fiction", "fiction", nil])
        #expect(books[0].cover == Data(Self.pattern(10_000)))
        let shelf = try #require(books[0].shelf)
        #expect(shelf.books.map(\.title) == ["Emma", "Dune"])
        try container.close()
    }

    // MARK: Writing them

    private static func pattern(_ byteCount: Int) -> [UInt8] {
        (0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }
    }

    private static func makeAll() throws {
        let manager = FileManager.default
        if manager.fileExists(atPath: fixtures.path) { try manager.removeItem(at: fixtures) }
        try manager.createDirectory(at: fixtures, withIntermediateDirectories: true)
        try make("empty") { _ in }
        try make("small") { log in
            try put(log, [1: [1, 1], 2: [2]])
            try put(log, [3: [3, 3, 3], 4: Array(repeating: 4, count: 1_000)])
            _ = try log.write(author: "fixture") { try $0.delete(2, in: table) }
        }
        try make("blobs") { log in
            for byteCount in [5_000, 200_000] {
                _ = try log.write(author: nil) { transaction in
                    try pattern(byteCount).withUnsafeBytes {
                        _ = try transaction.putBlob($0, owner: BlobOwner(table: table, slot: 0, id: 1))
                    }
                }
            }
        }
        try makeDamaged("torn-tail") { bytes in bytes.removeLast(11) }
        try makeDamaged("rotten-record") { bytes in bytes[64 + 48 + 24] ^= 0x10 }
        try makeObjects()
    }

    private static func put(_ log: Log, _ values: [UInt64: [UInt8]]) throws {
        _ = try log.write(author: nil) { transaction in
            for (id, bytes) in values.sorted(by: { $0.key < $1.key }) {
                if transaction.nextID(in: table) <= id { _ = try transaction.allocateIDs(1, in: table) }
                try transaction.put(id, in: table, layout: 0, changed: nil, flags: [], byteCount: bytes.count) {
                    $0.copyBytes(from: bytes)
                }
            }
        }
    }

    private static func make(_ name: String, _ body: (Log) throws -> Void) throws {
        let path = fixtures.appending(path: name).path
        let log = try Log.open(path, on: PosixDisk(), clock: .system, options: LogOptions(), deriver: NoIndexes())
        try body(log)
        try log.close()
    }

    /// Copies a store while it is open, as a crash would leave it, and changes the end of its log.
    private static func makeDamaged(_ name: String, _ change: (inout [UInt8]) -> Void) throws {
        let manager = FileManager.default
        let scratch = TemporaryDirectory()
        let path = scratch.path + "/store"
        let log = try Log.open(path, on: PosixDisk(), clock: .system, options: LogOptions(), deriver: NoIndexes())
        try put(log, [1: [1]])
        try put(log, [2: [2]])
        try put(log, [3: [3]])
        let target = fixtures.appending(path: name).path
        try manager.copyItem(atPath: path, toPath: target)
        try log.close()
        let segment = try manager.contentsOfDirectory(atPath: target).filter { $0.hasPrefix("s-") }.sorted()[0]
        var bytes = try [UInt8](Data(contentsOf: URL(filePath: target + "/" + segment)))
        while bytes.last == 0 { bytes.removeLast() }
        bytes += [UInt8](repeating: 0, count: (8 - bytes.count % 8) % 8)
        change(&bytes)
        try Data(bytes).write(to: URL(filePath: target + "/" + segment))
    }

    private static func makeObjects() throws {
        let path = fixtures.appending(path: "objects").path
        let container = try ModelContainer(
            for: Shelf.self, configurations: ModelConfiguration(url: URL(filePath: path)))
        let context = ModelContext(container)
        let shelf = Shelf(name: "fiction")
        context.insert(shelf)
        context.insert(Book(title: "Emma", pages: 474, cover: nil, shelf: shelf))
        context.insert(Book(title: "Dune", pages: 612, cover: Data(pattern(10_000)), shelf: shelf))
        context.insert(Book(title: "Ulysses", pages: nil, cover: nil, shelf: nil))
        try context.save()
        try container.close()
    }
}

@Model private final class Shelf {
    @Attribute(.unique) var name: String
    @Relationship(inverse: \Book.shelf) var books: [Book] = []

    init(name: String) { self.name = name }
}

@Model private final class Book {
    @Attribute(.unique) var title: String
    var pages: Int?
    @Attribute(.externalStorage) var cover: Data?
    var shelf: Shelf?

    init(title: String, pages: Int?, cover: Data?, shelf: Shelf?) {
        self.title = title
        self.pages = pages
        self.cover = cover
        self.shelf = shelf
    }
}
