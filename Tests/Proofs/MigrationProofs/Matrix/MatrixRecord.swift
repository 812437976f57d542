import FaultlineTestSupport
import Foundation
import Glibc

/// The lines of the cells that were measured at a commit, in a file that grows by a line for each.
struct MatrixRecord {
    private let file: String
    private let commit: String
    private var lines: [MatrixCell: MatrixLine] = [:]

    /// Reads the file, if there is one.
    ///
    /// A last line that was cut off is ended and not used. Nor are lines of other commits, which stay in the file, and
    /// those of sources that were changed since a commit: all such sources have one name.
    ///
    /// - Parameters:
    ///   - file: A JSON line for each cell; of several the last counts.
    ///   - commit: The commit whose lines are used; with `+` behind it if the sources were changed since.
    /// - Throws: `MatrixError` if the file cannot be written.
    init(_ file: String, commit: String) throws {
        self.file = file
        self.commit = commit
        guard let text = FileManager.default.contents(atPath: file) else { return }
        if let last = text.last, last != UInt8(ascii: "\n") { try write("\n") }
        guard !commit.hasSuffix("+") else { return }
        for line in text.split(separator: UInt8(ascii: "\n")) {
            guard let found = try? JSONDecoder().decode(MatrixLine.self, from: Data(line)), found.commit == commit
            else { continue }
            lines[found.cell] = found
        }
    }

    subscript(cell: MatrixCell) -> MatrixLine? { lines[cell] }

    /// Drops the results of cells, which are measured again.
    mutating func forget(_ cells: [MatrixCell]) { for cell in cells { lines[cell] = nil } }

    /// Adds a line of a child process, durably.
    mutating func append(_ text: String) throws {
        let line = try JSONDecoder().decode(MatrixLine.self, from: Data(text.utf8))
        try write(text + "\n")
        lines[line.cell] = line
    }

    /// Writes the lines that count to another file, in the order of the cells.
    func copy(to other: String) throws {
        let texts = try MatrixCell.all.compactMap { lines[$0] }.map { try Self.text($0) + "\n" }
        try Data(texts.joined().utf8).write(to: URL(filePath: other))
    }

    private func write(_ text: String) throws {
        let descriptor = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw MatrixError(description: "\(file) cannot be written (errno \(errno))") }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count, fsync(descriptor) == 0 else {
            throw MatrixError(description: "\(file) cannot be written (errno \(errno))")
        }
    }

    /// A line as text.
    static func text(_ line: MatrixLine) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return String(decoding: try encoder.encode(line), as: UTF8.self)
    }
}
