import Foundation

/// A run of `FaultlineProofs` or `MigrationProofs`, for work that must be measured, or killed, in a separate process.
package struct ProofProcess {
    /// Its output, line by line, or only the last line.
    package private(set) var lines: [String] = []
    /// Its exit status; negative: the signal that ended it.
    package private(set) var status: Int32 = 0

    private static func executable(_ name: String) -> URL {
        // The tests and the proofs are built into one folder.
        URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: name)
    }

    /// Runs it to its end, or kills it.
    ///
    /// - Parameters:
    ///   - arguments: Its command line.
    ///   - name: The executable.
    ///   - keepsAllLines: Whether lines before the last are kept.
    ///   - killAt: Called after each line that it prints; SIGKILL is sent when it returns true.
    /// - Throws: Foundation's error if it cannot be started.
    package init(
        _ arguments: [String], of name: String = "FaultlineProofs", keepsAllLines: Bool = true,
        killAt: ((_ line: String) -> Bool)? = nil
    ) throws {
        let process = Process()
        process.executableURL = Self.executable(name)
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardInput = FileHandle.nullDevice
        try process.run()
        var rest = Data()
        while true {
            let piece = output.fileHandleForReading.availableData
            if piece.isEmpty { break }
            rest.append(piece)
            while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: rest[rest.startIndex..<end], as: UTF8.self)
                if !keepsAllLines { lines.removeAll(keepingCapacity: true) }
                lines.append(line)
                rest = Data(rest[(end + 1)...])
                if killAt?(line) == true { kill(process.processIdentifier, SIGKILL) }
            }
        }
        process.waitUntilExit()
        status = process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
    }

    /// A number of the last line, which is a JSON object; nil if there is none of that name.
    package subscript(_ name: String) -> Int? {
        guard let line = lines.last,
            let values = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        else { return nil }
        return values[name] as? Int
    }
}
