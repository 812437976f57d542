import Foundation

/// The commits since the first ratchet, read from git.
struct History: Sendable {
    /// An error for an unavailable history: no git, a shallow clone, or an export without commits.
    struct Missing: Error, CustomStringConvertible {
        let description: String
    }

    private static let firstFile = "Tests/Ratchet/files.txt"
    private let first: String

    /// Finds the commit that added the first ratchet.
    init() throws {
        guard try Self.git("rev-parse", "--is-shallow-repository") == "false" else {
            throw Missing(description: "the clone is shallow: commits are not checked (git fetch --unshallow)")
        }
        let commits = try Self.git("log", "--diff-filter=A", "--format=%H", "--", Self.firstFile)
        guard let first = commits.split(separator: "\n").last else {
            throw Missing(description: "\(Self.firstFile) has no commit yet: commits are not checked")
        }
        self.first = String(first)
    }

    /// Returns the subjects of the later commits, each with its commit.
    func subjects() throws -> [(commit: String, subject: String)] {
        try Self.git("log", "--no-merges", "--format=%h %s", "\(first)..HEAD").split(separator: "\n").map { line in
            let parts = line.split(separator: " ", maxSplits: 1)
            return (String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
        }
    }

    /// Returns the totals of a list in the newest 40 commits that changed it.
    func totals(of path: String) throws -> [(commit: String, total: Int)] {
        let commits = try Self.git("log", "-40", "--format=%h", "--", path).split(separator: "\n").map(String.init)
        return try commits.compactMap { commit in
            RatchetList(try Self.git("show", "\(commit):\(path)")).map { (commit, $0.total) }
        }
    }

    private static func git(_ arguments: String...) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["git", "-c", "safe.directory=*", "-C", Repository.path] + arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        do { try process.run() } catch { throw Missing(description: "git does not run here: commits are not checked") }
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Missing(description: "git \(arguments[0]) fails here: commits are not checked")
        }
        return String(decoding: data, as: UTF8.self).trimmed
    }
}
