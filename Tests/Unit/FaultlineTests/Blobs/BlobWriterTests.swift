import Faultline
import FaultlineLog
import FaultlineStore
import Foundation
import Testing

/// Large values that are written before an object has them.
struct BlobWriterTests {
    private static func bytes(_ number: Int, count: Int = 300_000) -> Data {
        Data((0..<count).map { UInt8(truncatingIfNeeded: number &* 17 &+ $0 &* 31 &+ $0 >> 9) })
    }

    private func write(_ bytes: Data, to store: TestStore) throws -> Blob {
        let writer = store.container.blobWriter()
        var rest = bytes[...]
        while !rest.isEmpty {
            try writer.write(rest.prefix(70_001))
            rest = rest.dropFirst(70_001)
        }
        #expect(writer.byteCount == bytes.count)
        return try writer.finish()
    }

    private func blobCount(_ store: TestStore) -> Int {
        store.container.rowStore.log.snapshot().recordCount(of: .blobs)
    }

    @Test(arguments: [0, 1, 4_095, 4_096, 65_536, 300_000, 2_000_000]) func `a value is given before or after insert`(
        byteCount: Int
    ) throws {
        let store = try TestStore(Photo.self)
        let context = store.context()
        let bytes = Self.bytes(1, count: byteCount)
        let (first, second) = (Photo("first"), Photo("second"))
        let blobs = [try write(bytes, to: store), try write(bytes, to: store)]
        #expect(blobs.allSatisfy { $0.byteCount == byteCount })
        for blob in blobs { #expect(try blob.data() == bytes) }
        first.setBlob(blobs[0], for: \.large)
        #expect(first.large == bytes)
        context.insert(first)
        context.insert(second)
        second.setBlob(blobs[1], for: \.large)
        #expect(second.large == bytes && first.large == bytes)
        let read = context.counters.blobBytesRead
        try context.save()
        #expect(context.counters.blobBytesRead == read)
        #expect(blobCount(store) == (byteCount < 4_096 ? 0 : 2))
        #expect(first.large == bytes && second.large == bytes)
        let reopened = try store.reopened()
        for photo in try reopened.all(Photo.self) { #expect(photo.large == bytes) }
    }

    @Test func `a value replaces another one, in any context, and is copied for a second object`() throws {
        let store = try TestStore(Photo.self)
        let context = store.context()
        for name in ["a", "b"] {
            let photo = Photo(name)
            photo.large = Self.bytes(1)
            photo.external = Self.bytes(2)
            context.insert(photo)
        }
        try context.save()
        #expect(blobCount(store) == 4)
        let blob = try write(Self.bytes(3), to: store)
        for number in 0..<2 {
            let other = store.context()
            let photo = try other.all(Photo.self, sortBy: [SortDescriptor(\.name)])[number]
            photo.setBlob(blob, for: \.large)
            photo.setBlob(blob, for: \.external)
            try other.save()
        }
        #expect(blobCount(store) == 4)
        #expect(try blob.data(in: 5..<9) == Self.bytes(3)[5..<9])
        for photo in try store.reopened().all(Photo.self) {
            #expect(photo.large == Self.bytes(3) && photo.external == Self.bytes(3))
        }
    }

    @Test func `a value whose object was rolled back, or replaced before the save, can be given again`() throws {
        let store = try TestStore(Photo.self)
        let context = store.context()
        let blob = try write(Self.bytes(4), to: store)
        let dropped = Photo("dropped")
        context.insert(dropped)
        dropped.setBlob(blob, for: \.large)
        context.rollback()
        let photo = Photo("p")
        context.insert(photo)
        photo.setBlob(try write(Self.bytes(5), to: store), for: \.large)
        photo.large = Data([1])
        photo.setBlob(blob, for: \.large)
        try context.save()
        #expect(blobCount(store) == 1)
        #expect(try store.reopened().all(Photo.self).map(\.large) == [Self.bytes(4)])
    }

    @Test func `a value of another store is copied`() throws {
        let (store, other) = (try TestStore(Photo.self), try TestStore(Photo.self, place: .memory))
        let photo = Photo("p")
        let context = other.context()
        context.insert(photo)
        photo.setBlob(try write(Self.bytes(6), to: store), for: \.large)
        try context.save()
        #expect(try other.context().first(Photo.self).large == Self.bytes(6))
        #expect(blobCount(store) == 0 && blobCount(other) == 1)
    }

    @Test func `a filter and a sort see a value that is not saved`() throws {
        let store = try TestStore(Photo.self)
        let context = store.context()
        let photo = Photo("p")
        photo.setBlob(try write(Self.bytes(7), to: store), for: \.large)
        context.insert(photo)
        let wanted = Self.bytes(7)
        let found = try context.fetch(FetchDescriptor<Photo>(predicate: #Predicate { $0.large == wanted }))
        #expect(found.count == 1)
        #expect(try photo.blob(\.large)?.data(in: 0..<4) == wanted.prefix(4))
        try context.save()
    }

    @Test func `errors name the state and the remedy`() throws {
        let store = try TestStore(Photo.self)
        let writer = store.container.blobWriter()
        try writer.write(Self.bytes(1))
        _ = try writer.finish()
        for act in [{ try writer.write([1]) }, { _ = try writer.finish() }] {
            let error = #expect(throws: StorageError.self) { try act() }
            #expect(error?.code == .closed)
            #expect(error?.description.contains("another writer") == true)
        }
        let (late, unused) = (store.container.blobWriter(), store.container.blobWriter())
        try late.write(Self.bytes(1))
        try store.container.close()
        #expect(#expect(throws: StorageError.self) { _ = try late.finish() }?.code == .closed)
        #expect(#expect(throws: StorageError.self) { try unused.write(Self.bytes(1)) }?.code == .closed)
    }
}
