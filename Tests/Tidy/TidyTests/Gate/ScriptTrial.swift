import Foundation

/// A temporary repository with one script of `.ci` and a list of pieces.
struct ScriptTrial: ~Copyable {
    struct Outcome {
        let status: Int32
        let output: String
    }

    let folder: URL

    /// Creates the repository with one commit.
    init(_ script: String, pieces: String) throws {
        let name = script == "check" ? "gate" : "night"
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("faultline-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent(".ci"), withIntermediateDirectories: true)
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent("docs"), withIntermediateDirectories: true)
        let source = URL(fileURLWithPath: Repository.path).appendingPathComponent(".ci/\(script)")
        try FileManager.default.copyItem(at: source, to: folder.appendingPathComponent(".ci/\(script)"))
        try write(".ci/\(name)", pieces)
        try write("docs/Proofs.md", "# Proofs\n")
        try write(".gitignore", "ran\nallowed\n")
        _ = try shell("git init -q && git add -A && \(Self.commit)")
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private static let commit =
        "git -c user.name=Test -c user.email=test@example.org commit -q -m Begin --no-verify"

    func write(_ path: String, _ text: String) throws {
        try Data(text.utf8).write(to: folder.appendingPathComponent(path))
    }

    func read(_ path: String) -> String {
        (try? String(contentsOf: folder.appendingPathComponent(path), encoding: .utf8)) ?? ""
    }

    /// The pieces in the ledger, with their results.
    var ledger: [String] {
        read("docs/Proofs.md").split(separator: "\n").dropFirst().map { line in
            let cells = line.split(separator: "|").map(\.trimmed)
            return cells.count == 6 ? "\(cells[1]) \(cells[5])" : String(line)
        }
    }

    func commitAll() throws { _ = try shell("git add -A && \(Self.commit)") }

    /// Runs a command at the root of the repository.
    func shell(_ command: String) throws -> Outcome {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["bash", "-c", command]
        process.currentDirectoryURL = folder
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Outcome(status: process.terminationStatus, output: String(decoding: data, as: UTF8.self))
    }
}
