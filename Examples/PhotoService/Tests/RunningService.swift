import Foundation
import Glibc
import HTTPTypes
import HummingbirdTesting
import NIOCore
import NIOPosix
import Testing

/// The program, run as a process of its own.
final class RunningService: Sendable {
    private let process: Process
    private let folder: TemporaryFolder
    let port: Int

    init(_ folder: TemporaryFolder) async throws {
        self.folder = folder
        process = Process()
        process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
            .deletingLastPathComponent().appending(path: "PhotoService")
        process.arguments = ["--store", folder.storePath, "--port", "0"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let handle = output.fileHandleForReading
        let line = try #require(
            String(data: handle.availableData, encoding: .utf8)?.split(whereSeparator: \.isNewline).first)
        port = try #require(line.split(separator: " ").last.flatMap { Int($0) })
        // The server listens before the store is open.
        try await withClient { client in
            while try await client.get("/health").status != .ok { try await Task.sleep(for: .milliseconds(5)) }
        }
    }

    deinit { if process.isRunning { Glibc.kill(process.processIdentifier, SIGKILL) } }

    func withClient<R: Sendable>(_ body: @Sendable (TestClient) async throws -> R) async throws -> R {
        let client = TestClient(
            host: "127.0.0.1", port: port, configuration: TestClient.Configuration(),
            eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup.singleton))
        client.connect()
        do {
            let result = try await body(client)
            try await client.shutdown()
            return result
        } catch {
            try? await client.shutdown()
            throw error
        }
    }

    /// Ends the process by SIGKILL.
    func kill() {
        Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Ends the process by SIGTERM; returns its status.
    func stop() -> Int32 {
        process.terminate()
        process.waitUntilExit()
        return process.terminationStatus
    }

    /// The most memory that the process had, in bytes.
    var peakByteCount: Int {
        get throws {
            let status = try String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)
            let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
            return try #require(Int(line.filter(\.isNumber))) << 10
        }
    }

    var threadCount: Int {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process.processIdentifier)/task").count
        }
    }
}
