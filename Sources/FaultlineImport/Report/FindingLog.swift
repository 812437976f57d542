#if Import
internal import FaultlineDisk
internal import Foundation
internal import Glibc

/// Counts findings, and writes each with its value to a file: a line of JSON a value.
///
/// Memory: a counter for each property and reason, and a buffer.
final class FindingLog {
    private struct Key: Hashable {
        let entity: String
        let property: String
        let reason: ImportFinding.Reason
    }

    private static let exampleCount = 10
    private static let bufferByteCount = 256 << 10
    private static let pieceByteCount = 48 << 10

    private var findings: [Key: ImportFinding] = [:]
    private let path: String
    private let descriptor: Int32
    private var buffer: [UInt8] = []

    /// Begins a file; one of an earlier attempt is replaced.
    ///
    /// - Throws: `unwritable`.
    init(_ path: String) throws(ImportError) {
        self.path = path
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        if descriptor < 0 { throw Self.error(path) }
    }

    deinit { close(descriptor) }

    private static func error(_ path: String) -> ImportError {
        ImportError(.unwritable, "\(path) cannot be written: \(String(cString: strerror(errno))).", path: path)
    }

    /// Whether there are no findings.
    var isEmpty: Bool { findings.isEmpty }

    /// All findings, by entity, property and reason.
    var all: [ImportFinding] {
        findings.values.sorted {
            ($0.entity, $0.property, $0.reason.rawValue) < ($1.entity, $1.property, $1.reason.rawValue)
        }
    }

    /// Records a value that cannot be carried over; of a row that is not carried over, all columns too.
    ///
    /// - Throws: `unwritable`; `unreadable` for a large value.
    func note(
        _ reason: ImportFinding.Reason, _ entity: String, _ property: String, _ object: Int64, column: String,
        _ value: FoundValue, row: [(name: String, value: FoundValue)] = []
    ) throws(ImportError) {
        let key = Key(entity: entity, property: property, reason: reason)
        findings[
            key, default: ImportFinding(entity: entity, property: property, reason: reason, count: 0, objects: [])
        ].note(object, atMost: Self.exampleCount)
        append("{\"entity\":\(Self.quoted(entity)),\"property\":\(Self.quoted(property)),\"object\":\(object)")
        append(",\"column\":\(Self.quoted(column)),\"reason\":\"\(reason.rawValue)\",")
        try append(value)
        for (index, column) in row.enumerated() {
            append("\(index == 0 ? ",\"row\":{" : ",")\(Self.quoted(column.name)):{")
            try append(column.value)
            append("}")
        }
        append(row.isEmpty ? "}\n" : "}}\n")
        if buffer.count >= Self.bufferByteCount { try flush() }
    }

    private func append(_ text: String) { buffer.append(contentsOf: text.utf8) }

    /// Adds the type and the value.
    private func append(_ value: FoundValue) throws(ImportError) {
        switch value {
        case .value(let value):
            append("\"type\":\"\(value.typeName)\"")
            switch value {
            case .null: break
            case .integer(let number): append(",\"value\":\(number)")
            case .real(let number): append(",\"value\":\(number.isFinite ? "\(number)" : "\"\(number)\"")")
            case .text(let bytes), .blob(let bytes): append(",\"base64\":\"\(Data(bytes).base64EncodedString())\"")
            }
        case .large(let large, let database, let row):
            append("\"type\":\"blob\",\"base64\":\"")
            do { try large.read(database, row: row) { try appendPieces($0) } } catch let error as ImportError {
                throw error
            } catch { throw ImportError(.unreadable, "A large value cannot be read: \(error).", path: database.path) }
            append("\"")
        }
    }

    /// Adds a large value in pieces of which all but the last have a multiple of three bytes.
    private func appendPieces(_ next: (UnsafeMutableRawBufferPointer) throws -> Int) throws {
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.pieceByteCount, alignment: 16)
        defer { piece.deallocate() }
        while true {
            let count = try next(piece)
            guard count > 0 else { return }
            append(Data(UnsafeRawBufferPointer(rebasing: piece[..<count])).base64EncodedString())
            if buffer.count >= Self.bufferByteCount { try flush() }
        }
    }

    /// Writes the lines so far to the disk.
    ///
    /// - Throws: `unwritable`.
    func finish() throws(ImportError) {
        try flush()
        guard fsync(descriptor) == 0 else { throw Self.error(path) }
    }

    private func flush() throws(ImportError) {
        var done = 0
        while done < buffer.count {
            let written = buffer.withUnsafeBytes {
                write(descriptor, $0.baseAddress.map { $0 + done }, $0.count - done)
            }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { throw Self.error(path) }
            done += written
        }
        buffer.removeAll(keepingCapacity: true)
    }

    private static func quoted(_ text: String) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        guard let bytes = try? encoder.encode(text) else { return "\"\"" }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension ImportFinding {
    fileprivate mutating func note(_ object: Int64, atMost exampleCount: Int) {
        count += 1
        if objects.count < exampleCount { objects.append(object) }
    }
}
#endif
