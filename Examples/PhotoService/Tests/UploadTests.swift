import FaultlineService
import Foundation
import Hummingbird
import HummingbirdTesting
import PhotoAPI
import PhotoService
import Testing

/// Uploads that end early, are too long, or lose their photo.
@Suite struct UploadTests {
    private struct Cut: Error {}

    /// Parts of 100,000 bytes; `end` runs before the last.
    private func parts(
        _ count: Int, announced: Int? = nil, limit: Int = 10_000_000,
        end: @escaping @Sendable () async throws -> Void = {}
    ) throws -> PixelParts {
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: ByteBuffer.self)
        let sending = Task {
            do {
                for number in 0..<count {
                    if number == count - 1 { try await end() }
                    continuation.yield(ByteBuffer(repeating: UInt8(number), count: 100_000))
                }
                continuation.finish()
            } catch { continuation.finish(throwing: error) }
        }
        _ = sending
        return try PixelParts(RequestBody(asyncSequence: stream), byteCount: announced, byteCountMax: limit)
    }

    @Test func `an upload that fails leaves the pixels as they were`() async throws {
        try await withLibrary { client, library in
            let album = try await client.addAlbum("Sea")
            let photo = try await client.add(1, to: album.id)
            #expect(try await library.setPixels(parts(3, announced: 300_000), of: photo.id))
            await #expect(throws: Cut.self) {
                try await library.setPixels(parts(20) { throw Cut() }, of: photo.id)
            }
            await #expect(throws: HTTPError.self) {
                try await library.setPixels(parts(20, limit: 500_000), of: photo.id)
            }
            await #expect(throws: HTTPError.self) {
                try await library.setPixels(parts(20, announced: 2_000_001), of: photo.id)
            }
            #expect(throws: HTTPError.self) { try parts(1, announced: 10_000_001) }
            let body = try await client.execute(uri: "/photos/\(photo.id)/pixels", method: .get).body
            #expect(body.readableBytes == 300_000 && body.readableBytesView.last == 2)
            #expect(try await library.photo(photo.id)?.byteCount == 300_000)
        }
    }

    @Test func `a photo that is deleted during its upload is not found`() async throws {
        try await withLibrary { client, library in
            let album = try await client.addAlbum("Sea")
            let photo = try await client.add(1, to: album.id)
            let parts = try parts(20) { _ = try await library.deleteAlbum(album.id) }
            #expect(try await library.setPixels(parts, of: photo.id) == false)
        }
    }

    @Test func `pixels that are replaced while they are sent are sent as they were`() async throws {
        try await withLibrary { client, library in
            let album = try await client.addAlbum("Sea")
            let photo = try await client.add(1, to: album.id)
            #expect(try await library.setPixels(parts(10), of: photo.id))
            let pixels = try #require(try await library.pixels(of: photo.id))
            var sent: [UInt8] = []
            try await pixels.send { part in
                if sent.isEmpty { _ = try await library.setPixels(parts(1), of: photo.id) }
                sent.append(contentsOf: part.readableBytesView)
            }
            #expect(sent.count == 1_000_000 && sent.last == 9)
            #expect(try await library.photo(photo.id)?.byteCount == 100_000)
        }
    }
}
