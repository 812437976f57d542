#if Service
import Configuration
import FaultlineService
import FaultlineTestSupport
import Logging
import ServiceLifecycle
import Synchronization
import Testing
import UnixSignals

private enum PhotoService {
    @Model final class Photo {
        @Attribute(.unique) var key: UUID
        var name: String
        init(key: UUID, name: String) {
            self.key = key
            self.name = name
        }
    }

    // snippet
    struct PhotoServer: Service {
        let store: StoreService

        func run() async throws { try await serveRequests() }  // your HTTP server

        func readiness() throws -> (status: Int, body: Data) {
            let health = store.health
            return (health.statusCode, try JSONEncoder().encode(health))  // 200 or 503
        }

        func name(of key: UUID) async throws -> String? {
            try await store.perform("name of photo") { context in
                try context.first(\Photo.key, equals: key)?.name
            }
        }
    }
    // end
}

extension PhotoService.PhotoServer {
    fileprivate static let key = UUID()
    fileprivate static let served = AsyncStream<String?>.makeStream()

    fileprivate func serveRequests() async throws {
        try await store.perform("add photo") { context in
            context.insert(PhotoService.Photo(key: Self.key, name: "beach"))
            try await context.save()
        }
        let readiness = try readiness()
        #expect(readiness.status == 200)
        #expect(String(decoding: readiness.body, as: UTF8.self).contains("\"ready\""))
        Self.served.continuation.yield(try await name(of: Self.key))
        try await gracefulShutdown()
    }
}

/// The code of In a service that needs the trait `Service`.
@Suite(.timeLimit(.minutes(2))) struct ServiceSetUpGuide {
    private typealias Photo = PhotoService.Photo
    private typealias PhotoServer = PhotoService.PhotoServer
    private let folder = TemporaryDirectory()

    // swift-format-ignore
    private func EnvironmentVariablesProvider() -> Configuration.EnvironmentVariablesProvider {
        Configuration.EnvironmentVariablesProvider(environmentVariables: ["STORE_PATH": folder.path + "/photos.store"])
    }

    private func main() async throws {
        // snippet
        let logger = Logger(label: "photos")
        let config = ConfigReader(provider: EnvironmentVariablesProvider())
        let configuration = try ModelConfiguration(config: config.scoped(to: "store"))  // STORE_PATH
        let store = StoreService(for: Photo.self, configuration: configuration, logger: logger)
        let server = PhotoServer(store: store)
        let group = ServiceGroup(
            services: [store, server], gracefulShutdownSignals: [.sigterm], logger: logger)
        try await group.run()
        // end
    }

    @Test func `In a service: ten lines`() async throws {
        let running = Task { try await main() }
        var name: String?
        for await served in PhotoServer.served.stream {
            name = served
            break
        }
        #expect(name == "beach")
        running.cancel()
        _ = await running.result
        let container = try ModelContainer(
            for: Photo.self, configurations: ModelConfiguration(url: URL(filePath: folder.path + "/photos.store")))
        #expect(container.health.reasons.isEmpty)
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Photo>()) == 1)
        try container.close()
    }
}
#endif
