import Faultline
import FaultlineCommands
import FaultlineDisk
import Foundation

/// Writes the objects of a quarantine, a line each.
struct QuarantineDump {
    private static let pieceByteCount = 3 << 18

    private let quarantine: Quarantine
    private let isJSON: Bool
    private let hasValues: Bool
    private let blobs: BlobDestination
    private let output = DumpOutput()

    init(_ quarantine: Quarantine, asJSON: Bool, withValues: Bool, blobs: BlobDestination) {
        self.quarantine = quarantine
        isJSON = asJSON
        hasValues = withValues
        self.blobs = blobs
    }

    /// Writes the lines: objects first, then their related objects with their values.
    ///
    /// - Throws: If the store cannot be read, or the output takes no more.
    func run() throws {
        var count = 0
        try quarantine.enumerate { object in
            count += 1
            try write(object)
        }
        if hasValues { try quarantine.enumerateRelated(write) }
        if !isJSON, count == 0 { try output.write("The quarantine is empty.\n") }
        try output.flush()
    }

    private func write(_ object: QuarantinedObject) throws {
        guard isJSON else {
            let property = object.propertyName.map { ".\($0)" } ?? ""
            return try output.write(
                "\(object.id)  \(object.entityName) \(object.number)\(property)  \(object.fromVersion) → \(object.toVersion)  \(object.rule.rawValue): \(object.reason)\n"
            )
        }
        var line = JSONLine()
        line.add("quarantined", Int(clamping: object.id))
        line.add("entity", object.entityName)
        line.add("id", Int(clamping: object.number))
        line.add("from", object.fromVersion)
        line.add("to", object.toVersion)
        line.add("rule", object.rule.rawValue)
        if let property = object.propertyName { line.add("property", property) }
        line.add("reason", object.reason)
        try output.write(line.line.dropLast())
        if hasValues {
            try output.write(",\"values\":{")
            for (place, name) in object.propertyNames.enumerated() {
                try output.write((place > 0 ? "," : "") + JSONLine.quoted(name) + ":")
                try write(name, of: object)
            }
            try output.write("}")
        }
        try output.write("}\n")
    }

    private func write(_ relation: QuarantinedRelation) throws {
        let numbers = relation.numbers.map { "\($0)" }.joined(separator: ",")
        try output.write(
            "{\"\(relation.refersToObject ? "referred_to" : "members_of")\":\(relation.id),\"entity\":\(JSONLine.quoted(relation.entityName)),\"property\":\(JSONLine.quoted(relation.propertyName)),\"ids\":[\(numbers)]}\n"
        )
    }

    private func write(_ name: String, of object: QuarantinedObject) throws {
        guard let value = object[name] else { return try output.write("null") }
        switch value {
        case .bool(let value): try output.write(value ? "true" : "false")
        case .integer(let value): try output.write("\(value)")
        case .unsigned(let value): try output.write("\(value)")
        case .float(let value): try output.write(value.isFinite ? value.description : "null")
        case .double(let value): try output.write(value.isFinite ? value.description : "null")
        case .date(let value):
            try output.write(DateText.json(secondsSince2001: value.timeIntervalSinceReferenceDate))
        case .uuid(let value): try output.write("\"\(value.uuidString)\"")
        case .decimal(let value): try output.write(value.isNaN ? "null" : "\(value)")
        case .string(let value), .url(let value): try output.write(JSONLine.quoted(value))
        case .data(let value): try output.write("\"\(value.base64EncodedString())\"")
        case .codable(let value): try output.write(value.json)
        case .object(let entity, let number):
            try output.write("{\"entity\":\(JSONLine.quoted(entity)),\"id\":\(number)}")
        case .large(let byteCount): try writeLarge(name, byteCount, of: object)
        }
    }

    private func writeLarge(_ name: String, _ byteCount: Int, of object: QuarantinedObject) throws {
        try output.write("{\"bytes\":\(byteCount)")
        switch blobs {
        case .none: break
        case .base64:
            try output.write(",\"base64\":\"")
            try forEachPiece(name, byteCount, of: object) { piece, _ in
                try output.write(piece.base64EncodedString())
            }
            try output.write("\"")
        case .folder(let folder):
            let file = "\(object.id).\(object.propertyNames.firstIndex(of: name) ?? 0).blob"
            do {
                let opened = try PosixDisk().open("\(folder)/\(file)", for: .creating)
                defer { opened.close() }
                try forEachPiece(name, byteCount, of: object) { piece, offset in
                    try piece.withUnsafeBytes { try opened.write($0, at: UInt64(offset)) }
                }
            } catch let error as DiskError {
                throw CommandFailure(CommandFailure.refused, "\(error) The dump is not whole.")
            }
            try output.write(",\"file\":\(JSONLine.quoted(file))")
        }
        try output.write("}")
    }

    private func forEachPiece(
        _ name: String, _ byteCount: Int, of object: QuarantinedObject, _ body: (Data, _ offset: Int) throws -> Void
    ) throws {
        for offset in stride(from: 0, to: byteCount, by: Self.pieceByteCount) {
            let range = offset..<min(offset + Self.pieceByteCount, byteCount)
            guard let piece = try quarantine.bytes(of: name, in: object, range: range) else { return }
            try body(piece, offset)
        }
    }
}
