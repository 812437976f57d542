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
        let pool = try DatabasePool(path: store + "/photos.sqlite")
        try Self.waitForDisk(pool)
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

    /// Lets every transaction be on the disk when its response is sent.
    ///
    /// On the connection that writes: a pool sets NORMAL there after `prepareDatabase`.
    private static func waitForDisk(_ pool: DatabasePool) throws {
        let level = try pool.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA synchronous = FULL")
            return try Int.fetchOne(database, sql: "PRAGMA synchronous")
        }
        guard level == 2 else { throw ValidationError("SQLite refused synchronous=FULL.") }
    }
}
