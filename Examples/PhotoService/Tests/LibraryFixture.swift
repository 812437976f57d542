import Faultline
import FaultlineService
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import PhotoAPI
import PhotoService
import Testing

/// A folder that is removed at the end of a test.
final class TemporaryFolder: Sendable {
    let path = FileManager.default.temporaryDirectory.appending(path: "photos-\(UUID().uuidString)").path

    init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
    deinit { try? FileManager.default.removeItem(atPath: path) }

    var storePath: String { path + "/photos.store" }
    var configuration: ModelConfiguration { ModelConfiguration(url: URL(filePath: storePath)) }
}

/// Runs a test with the routes over a store of its own.
func withLibrary(
    in folder: TemporaryFolder? = nil, limits change: (inout PhotoRoutes<StoreLibrary>.Limits) -> Void = { _ in },
    _ body: @escaping @Sendable (any TestClientProtocol) async throws -> Void
) async throws {
    try await withLibrary(in: folder, limits: change) { client, _ in try await body(client) }
}

/// Runs a test with the routes over a store of its own, and with its library.
func withLibrary(
    in folder: TemporaryFolder? = nil, limits change: (inout PhotoRoutes<StoreLibrary>.Limits) -> Void = { _ in },
    _ body: @escaping @Sendable (any TestClientProtocol, StoreLibrary) async throws -> Void
) async throws {
    let folder = try folder ?? TemporaryFolder()
    let store = StoreService(
        for: Schema(versionedSchema: PhotosV2.self), migrationPlan: PhotoPlan.self, configuration: folder.configuration)
    let running = Task { try await store.run() }
    _ = try await store.container
    var limits = PhotoRoutes<StoreLibrary>.Limits()
    change(&limits)
    let library = StoreLibrary(store)
    let application = Application(router: PhotoRoutes(library, limits: limits).router())
    do { try await application.test(.router) { client in try await body(client, library) } } catch {
        running.cancel()
        try? await running.value
        throw error
    }
    running.cancel()
    try await running.value
}

extension TestClientProtocol {
    /// Sends a request, checks the status of the response, and decodes its body.
    func send<Body: Decodable>(
        _ method: HTTPRequest.Method, _ uri: String, _ body: (any Encodable & Sendable)? = nil,
        expecting status: HTTPResponse.Status = .ok, as type: Body.Type = Body.self,
        _ location: SourceLocation = #_sourceLocation
    ) async throws -> Body {
        let response = try await execute(uri: uri, method: method, body: Self.encoded(body))
        #expect(response.status == status, "\(String(buffer: response.body))", sourceLocation: location)
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return try decoder.decode(Body.self, from: Data(response.body.readableBytesView))
    }

    /// Sends a request, and returns the status of the response.
    func status(
        _ method: HTTPRequest.Method, _ uri: String, _ body: (any Encodable & Sendable)? = nil
    ) async throws -> HTTPResponse.Status {
        try await execute(uri: uri, method: method, body: Self.encoded(body)).status
    }

    private static func encoded(_ body: (any Encodable & Sendable)?) throws -> ByteBuffer? {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        return try body.map { ByteBuffer(bytes: try encoder.encode($0)) }
    }

    func add(_ number: Int, to album: String, tags: [String] = []) async throws -> PhotoBody {
        let photo = NewPhoto(
            album: album, title: "photo \(number)", caption: "a \(number.isMultiple(of: 2) ? "beach" : "harbour")",
            camera: "camera \(number % 3)", takenAt: Date(timeIntervalSince1970: 1.7e9 + Double(number)), tags: tags)
        return try await send(.post, "/photos", photo, expecting: .created)
    }

    func addAlbum(_ title: String, email: String = "ada@example.org") async throws -> AlbumBody {
        let user = NewUser(email: email, givenName: "Ada", familyName: "King")
        let owner = try await send(.post, "/users", user, expecting: .created, as: UserBody.self)
        return try await send(.post, "/albums", NewAlbum(owner: owner.id, title: title), expecting: .created)
    }
}
