import ArgumentParser
import Faultline
import FaultlineService
import Foundation
import Hummingbird
import Logging
import Metrics
import PhotoAPI
import ServiceLifecycle
import UnixSignals

/// Serves a library of photos: `PhotoService --store photos.store --port 8080`.
@main struct PhotoServiceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "PhotoService", abstract: "Serves a library of photos from a store.")

    @Option(help: "The folder of the store; it is made where there is none.") var store = "photos.store"
    @Option(help: "The address to listen on.") var host = "127.0.0.1"
    @Option(help: "The port to listen on; 0 takes a free one and prints it.") var port = 8080
    @Option(help: "Requests that wait longer for a thread are refused with 503, in seconds.") var longestWait = 2.0

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("--port must be from 0 to 65,535.") }
        guard longestWait > 0, longestWait <= 3_600 else {
            throw ValidationError("--longest-wait must be more than 0 and at most 3,600 seconds.")
        }
    }

    func run() async throws {
        var logger = Logger(label: "photos")
        logger.logLevel = .notice
        let metrics = MetricsText()
        MetricsSystem.bootstrap(metrics)

        var configuration = ModelConfiguration(url: URL(filePath: store))
        configuration.options.performing.longestWait = .seconds(longestWait)
        let store = StoreService(
            for: Schema(versionedSchema: PhotosV2.self), migrationPlan: PhotoPlan.self, configuration: configuration,
            logger: logger)

        let router = PhotoRoutes(StoreLibrary(store)).router()
        router.get("metrics") { _, _ in metrics.text }
        let server = Application(
            router: router, configuration: ApplicationConfiguration(address: .hostname(host, port: port)),
            onServerRunning: { channel in
                // `print` would buffer the line, and the parent process may wait for it.
                FileHandle.standardOutput.write(Data("Listening on port \(channel.localAddress?.port ?? 0)\n".utf8))
            },
            logger: logger)
        // The first to start is the last to end: the server has answered its requests before the store closes.
        let services = ServiceGroup(
            services: [store, server], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        try await services.run()
    }
}
