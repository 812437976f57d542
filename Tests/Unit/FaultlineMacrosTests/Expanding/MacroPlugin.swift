import Foundation

/// The compiler plugin in a process of its own, asked for expansions as the compiler asks.
///
/// A message is JSON. Its length stands before it, as eight bytes in little-endian order.
final class MacroPlugin {
    private let process = Process()
    private let requests = Pipe()
    private let responses = Pipe()

    /// Starts the plugin that was built beside the tests.
    init() throws {
        let executable = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: "FaultlineMacros-tool")
        guard FileManager.default.isExecutableFile(atPath: executable.path) else {
            throw PluginFailure(description: "No compiler plugin at \(executable.path): swift build --build-tests")
        }
        process.executableURL = executable
        // The handle and not the pipe, so that the reading end stays open here: writing to a plugin that has ended must
        // not end the tests by a signal.
        process.standardInput = requests.fileHandleForReading
        process.standardOutput = responses
        try process.run()
        // From version 5 on, expansions arrive as one text.
        try send(.getCapability(capability: .init(protocolVersion: 7)))
        _ = try receive()
    }

    deinit {
        // An empty message ends the plugin.
        try? write(Data())
        process.waitUntilExit()
    }

    func expand(_ request: PluginRequest) throws -> PluginExpansion {
        try send(request)
        return try JSONDecoder().decode(PluginResponse.self, from: receive()).expandMacroResult
    }

    private func send(_ request: PluginRequest) throws {
        try write(try JSONEncoder().encode(request))
    }

    private func write(_ payload: Data) throws {
        let length = withUnsafeBytes(of: UInt64(payload.count).littleEndian) { Data($0) }
        try requests.fileHandleForWriting.write(contentsOf: length + payload)
    }

    private func receive() throws -> Data {
        let length = try read(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
        guard let count = Int(exactly: length) else {
            throw PluginFailure(description: "The compiler plugin announces a message of \(length) bytes")
        }
        return try read(count)
    }

    private func read(_ count: Int) throws -> Data {
        var data = Data()
        while data.count < count {
            guard let piece = try responses.fileHandleForReading.read(upToCount: count - data.count), !piece.isEmpty
            else { throw PluginFailure(description: "The compiler plugin ended without an answer") }
            data += piece
        }
        return data
    }
}

/// Why there is no expansion.
struct PluginFailure: Error, CustomStringConvertible {
    let description: String
}
