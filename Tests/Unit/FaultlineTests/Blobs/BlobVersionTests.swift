import Faultline
import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Foundation
import Testing

/// A `Blob` is one version of a value, for every task and context.
struct BlobVersionTests {
    private static let byteCount = 300_000

    private func filled() throws -> (TestStore, ModelContext, Photo) {
        let store = try TestStore(Photo.self)
        let context = store.context()
        let photo = Photo("p")
        photo.large = Data(repeating: 1, count: Self.byteCount)
        context.insert(photo)
        try context.save()
        return (store, context, photo)
    }

    @Test func `it stays readable after its value was replaced, deleted, compacted and closed`() async throws {
        // Small files, so that compaction drops those of the values.
        var options = LogOptions()
        options.segmentByteCount = 64 << 10
        options.maintenance = .manual
        let container = try ModelContainer(for: [Photo.self], directory: "/store", on: MemoryDisk(), options: options)
        let context = ModelContext(container)
        var random = Seed(4)
        let (first, second) = (Data(random.bytes(Self.byteCount)), Data(random.bytes(Self.byteCount)))
        let photo = Photo("p")
        photo.large = first
        context.insert(photo)
        try context.save()
        let old = try #require(photo.blob(\.large))
        photo.large = second
        let unsaved = try #require(photo.blob(\.large))
        try context.save()
        let new = try #require(photo.blob(\.large))
        context.delete(photo)
        try context.save()
        try container.checkpoint()
        #expect(try container.compact().droppedFileCount > 1)
        func check() async throws {
            #expect(try old.data() == first)
            #expect(try unsaved.data(in: 5..<7) == second[5..<7])
            let found = try await Task.detached { try new.data(in: 0..<4) }.value
            #expect(found == second[..<4])
        }
        try await check()
        // The files stay for the values alone: no context is at an old state.
        #expect(try container.compact().heldByteCount > UInt64(Self.byteCount))
        try container.close()
        try await check()
    }

    @Test func `it is passed on to another context, and the save copies it without reading it into memory`() throws {
        let (store, context, photo) = try filled()
        let blob = try #require(photo.blob(\.large))
        context.delete(photo)
        try context.save()
        let other = store.context()
        let copy = Photo("copy")
        other.insert(copy)
        copy.setBlob(blob, for: \.large)
        let read = other.counters.blobBytesRead
        try other.save()
        #expect(other.counters.blobBytesRead == read)
        #expect(try store.reopened().first(Photo.self).large == Data(repeating: 1, count: Self.byteCount))
    }

    @Test func `it does not hold its context's state`() throws {
        let (store, context, photo) = try filled()
        let blob = try #require(photo.blob(\.large))
        let other = store.context()
        try other.first(Photo.self).large = Data(repeating: 3, count: Self.byteCount)
        try other.save()
        #expect(store.container.pins.isEmpty)
        #expect(try store.context().first(Photo.self).large.first == 3)
        #expect(try blob.data(in: 0..<1) == Data([1]))
        withExtendedLifetime((context, photo)) {}
    }
}
