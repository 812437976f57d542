import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import PhotoAPI
import Synchronization
import Testing

/// The program under load, killed and stopped.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ProcessTests {
    /// The photos that were acknowledged.
    private final class Photos: Sendable {
        let all = Mutex<[PhotoBody]>([])
    }

    private final class Counts: Sendable {
        let refused = Atomic(0)
        let threads = Atomic(0)
    }

    private func post<Body: Decodable>(
        _ client: TestClient, _ address: String, _ value: some Encodable, as: Body.Type = Body.self
    ) async throws -> Body? {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        let response = try await client.post(
            address, headers: [.contentType: "application/json"], body: ByteBuffer(bytes: encoder.encode(value)))
        guard response.status == .created else { return nil }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return try decoder.decode(Body.self, from: Data(try #require(response.body).readableBytesView))
    }

    private func makeAlbum(_ service: RunningService) async throws -> AlbumBody {
        try await service.withClient { client in
            let user = NewUser(email: "\(UUID())@example.org", givenName: "Ada", familyName: "King")
            let owner = try #require(try await post(client, "/users", user, as: UserBody.self))
            return try #require(try await post(client, "/albums", NewAlbum(owner: owner.id, title: "Sea")))
        }
    }

    @Test func `every photo that was acknowledged is found after a kill`() async throws {
        let folder = try TemporaryFolder()
        var service = try await RunningService(folder)
        let acknowledged = Photos()
        for _ in 0..<3 {
            let album = try await makeAlbum(service)
            let before = acknowledged.all.withLock { $0.count }
            await withTaskGroup { group in
                for writer in 0..<16 {
                    group.addTask { [service] in
                        // Ends with an error when the process is killed.
                        try? await service.withClient { client in
                            for number in 0... {
                                let new = NewPhoto(
                                    album: album.id, title: "\(writer).\(number)", caption: "", camera: "box",
                                    takenAt: Date(timeIntervalSince1970: Double(number)), tags: ["\(number % 7)"])
                                let added = try await post(client, "/photos", new, as: PhotoBody.self)
                                acknowledged.all.withLock { $0.append(contentsOf: added.map { [$0] } ?? []) }
                            }
                        }
                    }
                }
                group.addTask { [service] in
                    while acknowledged.all.withLock({ $0.count }) < before + 300 {
                        try? await Task.sleep(for: .milliseconds(1))
                    }
                    service.kill()
                }
            }
            service = try await RunningService(folder)
            for photo in acknowledged.all.withLock({ $0 }) {
                let response = try await service.withClient { try await $0.get("/photos/\(photo.id)") }
                #expect(response.status == .ok, "\(photo)")
            }
        }
        #expect(service.stop() == 0)
    }

    @Test func `64 clients make few threads, and no request fails`() async throws {
        let service = try await RunningService(TemporaryFolder())
        let album = try await makeAlbum(service)
        let counts = Counts()
        try await withThrowingTaskGroup { group in
            for number in 0..<64 {
                group.addTask {
                    try await service.withClient { client in
                        for round in 0..<30 {
                            let new = NewPhoto(
                                album: album.id, title: "\(number).\(round)", caption: "", camera: "box",
                                takenAt: Date(timeIntervalSince1970: Double(round)), tags: ["\(round)"])
                            let added = try await post(client, "/photos", new, as: PhotoBody.self)
                            guard let added, try await client.get("/photos/\(added.id)").status == .ok,
                                try await client.get("/photos?limit=50").status == .ok
                            else {
                                counts.refused.add(1, ordering: .relaxed)
                                continue
                            }
                        }
                    }
                    counts.threads.max(try service.threadCount, ordering: .relaxed)
                }
            }
            try await group.waitForAll()
        }
        #expect(counts.refused.load(ordering: .relaxed) == 0)
        // On two processors: 4 for calls, 2 for connections, the main thread, and 6 or 7 of Dispatch and of tasks.
        let limit = ProcessInfo.processInfo.activeProcessorCount * 2 + 10
        #expect(counts.threads.load(ordering: .relaxed) <= limit)
        let metrics = try await service.withClient { try await $0.get("/metrics") }
        #expect(String(buffer: try #require(metrics.body)).contains("faultline_commits{store=\"photos\"} "))
        #expect(service.stop() == 0)
    }

    @Test func `32 uploads of 5 MB at once take less than 100 MiB of memory, and are sent back whole`() async throws {
        let service = try await RunningService(TemporaryFolder())
        let album = try await makeAlbum(service)
        var photos: [PhotoBody] = []
        for number in 0..<32 {
            let new = NewPhoto(
                album: album.id, title: "\(number)", caption: "", camera: "box", takenAt: Date(), tags: [])
            photos.append(try #require(try await service.withClient { try await post($0, "/photos", new) }))
        }
        let before = try service.peakByteCount
        try await withThrowingTaskGroup { group in
            for (number, photo) in photos.enumerated() {
                group.addTask {
                    let pixels = ByteBuffer(repeating: UInt8(number), count: 5_000_000)
                    let status = try await service.withClient { client in
                        try await client.put("/photos/\(photo.id)/pixels", body: pixels).status
                    }
                    #expect(status == .noContent)
                }
            }
            try await group.waitForAll()
        }
        let after = try service.peakByteCount
        #expect(after - before < 100 << 20, "\((after - before) >> 20) MiB")
        for (number, photo) in photos.enumerated() {
            let body = try await service.withClient { try await $0.get("/photos/\(photo.id)/pixels").body }
            #expect(body == ByteBuffer(repeating: UInt8(number), count: 5_000_000))
        }
        #expect(service.stop() == 0)
    }
}
