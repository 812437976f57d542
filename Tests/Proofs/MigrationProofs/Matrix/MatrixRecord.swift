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
    /// A last line that was cut off is dropped; lines of other commits stay in the file and are not used.
    init(_ file: String, commit: String) throws {
        self.file = file
        self.commit = commit
        guard let text = FileManager.default.contents(atPath: file) else { return }
        for line in text.split(separator: UInt8(ascii: "\n")) {
            guard let found = try? JSONDecoder().decode(MatrixLine.self, from: Data(line)), found.commit == commit
            else { continue }
            lines[found.cell] = found
        }
    }

    subscript(cell: MatrixCell) -> MatrixLine? { lines[cell] }

    /// Adds a line of a child process, durably.
    mutating func append(_ text: String) throws {
        let line = try JSONDecoder().decode(MatrixLine.self, from: Data(text.utf8))
        let descriptor = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw MatrixError(description: "\(file) cannot be written (errno \(errno))") }
        defer { close(descriptor) }
        let bytes = Array((text + "\n").utf8)
        guard write(descriptor, bytes, bytes.count) == bytes.count, fsync(descriptor) == 0 else {
            throw MatrixError(description: "\(file) cannot be written (errno \(errno))")
        }
        lines[line.cell] = line
    }

    /// A line as text.
    static func text(_ line: MatrixLine) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return String(decoding: try encoder.encode(line), as: UTF8.self)
    }
}
