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

    /// Records a value that cannot be carried over.
    ///
    /// - Throws: `unwritable`.
    func note(
        _ reason: ImportFinding.Reason, _ entity: String, _ property: String, _ object: Int64, column: String,
        _ value: SQLiteValue
    ) throws(ImportError) {
        let key = Key(entity: entity, property: property, reason: reason)
        findings[
            key, default: ImportFinding(entity: entity, property: property, reason: reason, count: 0, objects: [])
        ].note(object, atMost: Self.exampleCount)
        var line = "{\"entity\":\(Self.quoted(entity)),\"property\":\(Self.quoted(property)),\"object\":\(object)"
        line += ",\"column\":\(Self.quoted(column)),\"reason\":\"\(reason.rawValue)\",\"type\":\"\(value.typeName)\""
        switch value {
        case .null: break
        case .integer(let number): line += ",\"value\":\(number)"
        case .real(let number): line += ",\"value\":\(number.isFinite ? "\(number)" : "\"\(number)\"")"
        case .text(let bytes), .blob(let bytes): line += ",\"base64\":\"\(Data(bytes).base64EncodedString())\""
        }
        buffer.append(contentsOf: (line + "}\n").utf8)
        if buffer.count >= Self.bufferByteCount { try flush() }
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
