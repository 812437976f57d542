import Foundation

/// `docs/FileFormat.md` and `docs/format/Catalog.md` as data: the tables of their sections, by the type in the heading.
struct FormatDocument {
    /// A field of a byte table.
    struct Field {
        let offset: Int
        let byteCount: Int
        let text: String
    }

    /// The lines of both documents.
    let lines: [String]

    init() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
        lines = try ["docs/FileFormat.md", "docs/format/Catalog.md", "docs/format/Postings.md"].flatMap { path in
            let text = try String(contentsOf: root.appending(path: path), encoding: .utf8)
            return text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        }
    }

    /// The fields of the first byte table below the heading that names `type`.
    func fields(of type: String) throws -> [Field] {
        try table(below: type, columns: ["offset", "bytes", "field"]).compactMap { row in
            guard let offset = Int(row[0]), let byteCount = Int(row[1]) else { return nil }
            return Field(offset: offset, byteCount: byteCount, text: row[2])
        }
    }

    /// The rows of the first table below the heading that contains `heading`, whose first columns have the given names.
    func table(below heading: String, columns: [String]) throws -> [[String]] {
        guard let start = lines.firstIndex(where: { $0.hasPrefix("#") && $0.contains(heading) }) else {
            throw FormatDocumentError(message: "The documents have no heading with \(heading).")
        }
        let begin = "| " + columns.joined(separator: " | ")
        guard let head = lines[start...].firstIndex(where: { $0.hasPrefix(begin) }) else {
            throw FormatDocumentError(message: "No table with the columns \(columns) below \(heading).")
        }
        return lines[(head + 2)...].prefix { $0.hasPrefix("|") }.map { line in
            line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }
}

/// The error of a document without a part that a test needs.
struct FormatDocumentError: Error {
    let message: String
}

extension [FormatDocument.Field] {
    /// The one field whose text begins with `words`.
    func field(_ words: String) throws -> FormatDocument.Field {
        guard let found = first(where: { $0.text.hasPrefix(words) }) else {
            throw FormatDocumentError(message: "The document names no field \"\(words)\": it has \(map(\.text)).")
        }
        return found
    }

    /// Reads a number of the field's width, little endian.
    func number(_ words: String, in bytes: [UInt8], at start: Int) throws -> UInt64 {
        let field = try field(words)
        var value: UInt64 = 0
        for place in (0..<field.byteCount).reversed() {
            value = value << 8 | UInt64(bytes[start + field.offset + place])
        }
        return value
    }
}
