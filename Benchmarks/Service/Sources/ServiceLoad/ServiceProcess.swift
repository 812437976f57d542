import BenchmarkKit
import Foundation

/// A service that runs in a process of its own.
final class ServiceProcess {
    let port: Int
    private let process = Process()

    /// Starts a service over a folder, and waits until it listens.
    init(_ program: String, _ arguments: [String], store: String) throws {
        process.executableURL = URL(filePath: program)
        process.arguments = ["--store", store, "--port", "0"] + arguments
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        var text = ""
        while !text.contains("\n") {
            let piece = output.fileHandleForReading.availableData
            guard !piece.isEmpty else { throw BenchmarkError(.storage, "\(program) ended before it listened") }
            text += String(decoding: piece, as: UTF8.self)
        }
        guard let port = text.split(whereSeparator: \.isNewline).first?.split(separator: " ").last.flatMap({ Int($0) })
        else { throw BenchmarkError(.wrongResult, "\(program) printed no port: \(text)") }
        self.port = port
    }

    /// Ends it as an orchestrator does, and waits for its end.
    func stop() throws {
        process.terminate()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw BenchmarkError(.storage, "a service ended with status \(process.terminationStatus)")
        }
    }

    /// The threads of the process, and the most memory that it had, in KiB.
    func figures() throws -> (threads: Int, peakKiB: Int) {
        let status = try String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)
        func number(_ key: String) -> Int {
            let line = status.split(separator: "\n").first { $0.hasPrefix(key) } ?? ""
            return line.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) } ?? 0
        }
        return (number("Threads:"), number("VmHWM:"))
    }
}
