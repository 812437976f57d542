import FaultlineLog
import FaultlineModel
import FaultlineStore

/// The bytes of one value, for a picture in a page, or to be kept as a file.
struct ValueAnswer {
    let view: StoreView

    /// Answers a request for a value.
    ///
    /// - Throws: A failure of status 404 if there is no such value; `LogError` if it cannot be read.
    func answer(_ name: String, _ id: RecordID, _ property: String, range header: String?) throws -> PageAnswer {
        let entity = try view.entity(name)
        let slot = try entity.slot(property)
        guard case .attribute(let kind) = entity.storage.layout.columns[slot].kind, kind.hasBytes else {
            throw PageFailure(404, "\(name).\(property) has no bytes.")
        }
        let found = try view.row(id, entity) { row -> (blob: BlobReference?, bytes: [UInt8])? in
            guard !row.isNil(slot) else { return nil }
            if let blob = row.blobReference(slot) { return (blob, try view.bytes(of: blob, MediaType.byteCount)) }
            return (nil, Array(row.variable(slot)))
        }
        guard let value = found ?? nil else { throw PageFailure(404, "\(name) \(id) has no \(property).") }
        let type = kind == .data ? MediaType(value.bytes) : .other
        var headers = [("accept-ranges", "bytes")]
        if !type.isPicture {
            headers.append(
                (
                    "content-disposition",
                    "attachment; filename=\"\(Self.fileName(name, id, property)).\(kind == .data ? type.fileExtension : "txt")\""
                ))
        }
        let mediaType = kind == .data ? type.rawValue : "text/plain; charset=utf-8"
        let byteCount = value.blob?.byteCount ?? UInt64(value.bytes.count)
        var range = 0..<byteCount
        var status = 200
        switch ByteRange.decode(header, byteCount: byteCount) {
        case .whole: break
        case .unsatisfiable:
            return PageAnswer(
                416, "text/plain; charset=utf-8", .bytes([]), headers: [("content-range", "bytes */\(byteCount)")])
        case .part(let part):
            (range, status) = (part, 206)
            headers.append(("content-range", "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(byteCount)"))
        }
        guard let blob = value.blob else {
            let bytes = Array(value.bytes[Int(range.lowerBound)..<Int(range.upperBound)])
            return PageAnswer(status, mediaType, .bytes(bytes), headers: headers)
        }
        let part = PageAnswer.BlobPart(snapshot: view.snapshot, identifier: blob.identifier, range: range)
        return PageAnswer(status, mediaType, .blob(part), headers: headers)
    }

    /// A name of letters and digits for a file.
    private static func fileName(_ entity: String, _ id: RecordID, _ property: String) -> String {
        "\(entity)-\(id)-\(property)".map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") ? "\($0)" : "_" }
            .joined()
    }
}

extension AttributeKind {
    /// Whether a value is a run of bytes or text.
    fileprivate var hasBytes: Bool { self == .data || self == .string || self == .url }
}
