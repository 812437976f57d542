import Faultline
import FaultlineTestSupport
import Foundation
import Testing

/// The memory that large values take while they are written and read, each in a process of its own.
struct BlobMemoryTests {
    /// Pieces that repeat one buffer.
    private struct Repeated: AsyncSequence {
        let piece: [UInt8]
        let count: Int

        struct Iterator: AsyncIteratorProtocol {
            let piece: [UInt8]
            var left: Int

            mutating func next() async -> [UInt8]? {
                guard left > 0 else { return nil }
                left -= 1
                return piece
            }
        }

        func makeAsyncIterator() -> Iterator { Iterator(piece: piece, left: count) }
    }

    private static func measured(_ limit: Int, _ body: () async throws -> Void) async throws {
        #expect(PeakMemory.reset())
        let before = try #require(PeakMemory.residentByteCount)
        try await body()
        let growth = try #require(PeakMemory.peakByteCount) - before
        #expect(growth <= limit, "\(growth) bytes above the base line, and \(limit) are allowed")
    }

    private static func save(_ blob: Blob, _ container: ModelContainer) async throws {
        try await container.perform { context in
            let photo = Photo("p")
            photo.setBlob(blob, for: \.large)
            context.insert(photo)
            try await context.save()
        }
    }

    @Test(.enabled(if: PeakMemory.isExact)) func `a value of 1 GiB is written and read in 8 MiB`() async {
        await #expect(processExitsWith: .success) {
            let store = try TestStore(Photo.self)
            let container = store.container
            let piece = [UInt8]((0..<65_536).map { UInt8(truncatingIfNeeded: $0 &* 7) })
            let count = TestSize.of(16_384, unoptimized: 2_048)
            // The memory of the first use is not counted.
            try await Self.save(try await container.makeBlob(from: Repeated(piece: piece, count: 64)), container)
            let known = try #require(try store.context().first(Photo.self).blob(\.large))
            for try await bytes in known.bytes() { #expect(bytes.count == 262_144) }
            try await Self.measured(8 << 20) {
                let blob = try await container.makeBlob(from: Repeated(piece: piece, count: count))
                try await Self.save(blob, container)
                let writer = container.blobWriter()
                for _ in 0..<count { try piece.withUnsafeBytes { try writer.write($0) } }
                try await Self.save(try writer.finish(), container)
                var byteCount = 0
                for photo in try store.context().all(Photo.self) {
                    let blob = try #require(photo.blob(\.large))
                    for try await bytes in blob.bytes() { byteCount += bytes.count }
                }
                #expect(byteCount == (2 * count + 64) * piece.count)
            }
        }
    }

    @Test(.enabled(if: PeakMemory.isExact)) func `32 uploads at once take at most 100 MiB`() async {
        await #expect(processExitsWith: .success) {
            let store = try TestStore(Photo.self)
            let container = store.container
            let piece = [UInt8]((0..<65_536).map { UInt8(truncatingIfNeeded: $0 &* 7) })
            try await Self.save(try await container.makeBlob(from: Repeated(piece: piece, count: 10)), container)
            try await Self.measured(100 << 20) {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<32 {
                        group.addTask {
                            let blob = try await container.makeBlob(from: Repeated(piece: piece, count: 80))
                            try await Self.save(blob, container)
                        }
                    }
                    try await group.waitForAll()
                }
            }
            #expect(try store.context().fetchCount(FetchDescriptor<Photo>()) == 33)
        }
    }

    @Test(.enabled(if: PeakMemory.isExact)) func `a value of another object is copied in 8 MiB`() async {
        await #expect(processExitsWith: .success) {
            let store = try TestStore(Photo.self)
            let container = store.container
            let piece = [UInt8]((0..<65_536).map { UInt8(truncatingIfNeeded: $0 &* 7) })
            try await Self.save(try await container.makeBlob(from: Repeated(piece: piece, count: 16)), container)
            try await Self.save(
                try await container.makeBlob(from: Repeated(piece: piece, count: 1_000)), container)
            let context = store.context()
            let photos = try context.all(Photo.self)
            let blobs = try photos.map { try #require($0.blob(\.large)) }
            func copy(_ number: Int) throws {
                let copy = Photo("copy")
                context.insert(copy)
                copy.setBlob(blobs[number], for: \.large)
                try context.save()
            }
            try copy(0)
            try await Self.measured(8 << 20) { try copy(1) }
        }
    }

    @Test("B5: a save adds no copy of large Data", .enabled(if: PeakMemory.isExact)) func largeData() async {
        await #expect(processExitsWith: .success) {
            let store = try TestStore(Photo.self)
            let context = store.context()
            let byteCount = 64 << 20
            for count in [1 << 20, byteCount] {
                let data = Data(repeating: 7, count: count)
                let photo = Photo("p")
                context.insert(photo)
                photo.large = data
                if count < byteCount {
                    try context.save()
                } else {
                    try await Self.measured(8 << 20) { try context.save() }
                }
                #expect(data.count == count)
            }
        }
    }
}
