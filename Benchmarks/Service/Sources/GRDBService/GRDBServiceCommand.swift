import ArgumentParser
import Foundation
import GRDB
import Hummingbird
import PhotoAPI

/// Serves a library of photos from SQLite by GRDB: the same routes, bodies and status codes as PhotoService.
@main struct GRDBServiceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "GRDBService")

    @Option(help: "The folder of the database; it is made where there is none.") var store: String
    @Option(help: "The port to listen on; 0 takes a free one and prints it.") var port = 0

    func run() async throws {
        try FileManager.default.createDirectory(atPath: store, withIntermediateDirectories: true)
        var configuration = Configuration()
        // Every transaction is on the disk when its response is sent.
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = FULL") }
        let pool = try DatabasePool(path: store + "/photos.sqlite", configuration: configuration)
        try PhotoTables.make(in: pool)
        let router = PhotoRoutes(GRDBLibrary(pool: pool)).router()
        let server = Application(
            router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)),
            onServerRunning: { channel in
                FileHandle.standardOutput.write(Data("Listening on port \(channel.localAddress?.port ?? 0)\n".utf8))
            })
        try await server.runService()
        try pool.close()
    }
}
