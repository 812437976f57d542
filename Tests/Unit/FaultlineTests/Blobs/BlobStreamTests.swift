import Faultline
import FaultlineLog
import Foundation
import Synchronization
import Testing

/// Large values as sequences, in both directions.
@Suite(.timeLimit(.minutes(5))) struct BlobStreamTests {
    private static func bytes(_ count: Int = 700_000) -> Data {
        Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 13 &+ $0 >> 8) })
    }

    private struct Broken: Error {}

    /// Pieces of a value; counts how many were asked for.
    private struct Pieces: AsyncSequence {
        let all: [[UInt8]]
        var breaksAfter = Int.max
        let asked = Counter()

        final class Counter: Sendable {
            let count = Atomic<Int>(0)
        }

        init(_ data: Data, pieceByteCount: Int = 50_000, breaksAfter: Int = .max) {
            all = stride(from: 0, to: data.count, by: pieceByteCount).map {
                Array(data.dropFirst($0).prefix(pieceByteCount))
            }
            self.breaksAfter = breaksAfter
        }

        struct Iterator: AsyncIteratorProtocol {
            let pieces: Pieces
            var place = 0

            mutating func next() async throws -> [UInt8]? {
                pieces.asked.count.wrappingAdd(1, ordering: .relaxed)
                if place == pieces.breaksAfter { throw Broken() }
                await Task.yield()
                guard place < pieces.all.count else { return nil }
                place += 1
                return pieces.all[place - 1]
            }
        }

        func makeAsyncIterator() -> Iterator { Iterator(pieces: self) }
    }

    @Test func `a sequence becomes a value, and a value a sequence`() async throws {
        let store = try TestStore(Photo.self)
        let container = store.container
        let bytes = Self.bytes()
        let blob = try await container.makeBlob(from: Pieces(bytes))
        try await container.perform { context in
            let photo = Photo("p")
            photo.setBlob(blob, for: \.large)
            context.insert(photo)
            try await context.save()
        }
        let found = try #require(try store.reopened().first(Photo.self).blob(\.large))
        var pieces: [Data] = []
        for try await piece in found.bytes() { pieces.append(piece) }
        #expect(pieces.map(\.count) == [262_144, 262_144, 700_000 - 524_288])
        #expect(pieces.reduce(Data(), +) == bytes)
        var part = Data()
        for try await piece in found.bytes(in: 100_000..<500_000) { part += piece }
        #expect(part == bytes[100_000..<500_000])
        for range in [-1..<5, 0..<700_001] {
            await #expect {
                for try await _ in found.bytes(in: range) {}
            } throws: { ($0 as? StorageError)?.code == .outOfRange }
        }
    }

    @MainActor @Test func `an object of an actor gets a sequence`() async throws {
        let store = try TestStore(Photo.self)
        let context = store.context()
        let photo = Photo("p")
        await #expect {
            try await photo.setBlob(from: Pieces(Self.bytes()), for: \.large)
        } throws: { SwiftDataError.missingModelContext ~= $0 }
        context.insert(photo)
        try await photo.setBlob(from: Pieces(Self.bytes()), for: \.large)
        try await photo.setBlob(from: Pieces(Self.bytes(9_000)), for: \.external)
        try context.save()
        let found = try store.reopened().first(Photo.self)
        #expect(found.large == Self.bytes() && found.external == Self.bytes(9_000))
    }

    @Test func `the error of a sequence is thrown as it is, and nothing is asked for after it`() async throws {
        let store = try TestStore(Photo.self)
        let pieces = Pieces(Self.bytes(), breaksAfter: 9)
        await #expect(throws: Broken.self) { _ = try await store.container.makeBlob(from: pieces) }
        #expect(pieces.asked.count.load(ordering: .relaxed) == 10)
        try store.container.checkpoint()
        try store.verify()
    }

    @Test func `a task that is cancelled stops both`() async throws {
        let store = try TestStore(Photo.self)
        let container = store.container
        let blob = try await container.makeBlob(from: Pieces(Self.bytes()))
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            await #expect(throws: CancellationError.self) {
                _ = try await container.makeBlob(from: Pieces(Self.bytes()))
            }
            await #expect(throws: CancellationError.self) {
                for try await _ in blob.bytes() {}
            }
        }
        await task.value
    }

    @Test func `many tasks write at once, beside saves`() async throws {
        let store = try TestStore(Photo.self)
        let container = store.container
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<16 {
                group.addTask {
                    let blob = try await container.makeBlob(from: Pieces(Self.bytes(100_000 + number)))
                    try await container.perform { context in
                        let photo = Photo("\(number)")
                        photo.setBlob(blob, for: \.large)
                        context.insert(photo)
                        try await context.save()
                    }
                }
            }
            try await group.waitForAll()
        }
        let all = try store.reopened().all(Photo.self)
        #expect(all.count == 16)
        for photo in all { #expect(photo.large == Self.bytes(100_000 + (Int(photo.name) ?? 0))) }
    }
}
