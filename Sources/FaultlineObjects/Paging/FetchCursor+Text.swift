internal import FaultlineDisk
internal import FaultlineLog
internal import Foundation

/// Cursors as text, for addresses.
extension FetchCursor: LosslessStringConvertible {
    /// The cursor as text.
    ///
    ///     let next = "/photos?after=\(cursor)"
    ///
    /// It has ASCII letters, digits, `-` and `_` only, so it is a parameter of a URL as it is. It holds the values of
    /// sort keys, unencrypted: one for a date has about 70 characters, and one for a long text is long.
    ///
    /// - Complexity: Linear in the length of the keys.
    public var description: String {
        var writer = ByteWriter(byteCapacity: 128)
        writer.append(Self.textVersion)
        writer.append(identifier.storeID.0)
        writer.append(identifier.storeID.1)
        writer.appendVarint(identifier.number)
        writer.append(text: identifier.entityName)
        writer.appendVarint(UInt64(order.count))
        for name in order { writer.append(text: name) }
        writer.appendVarint(UInt64(keys.count))
        for key in keys {
            writer.appendVarint(UInt64(key.count))
            key.withUnsafeBytes { writer.append($0) }
        }
        return Base64URL.encode(writer.bytes)
    }

    /// Reads the text of a cursor, which may come from a client.
    ///
    ///     guard let cursor = FetchCursor(parameters["after"]) else { throw HTTPError(.badRequest) }
    ///
    /// - Parameter description: The text. Nil is returned if it is not as `description` writes it, if no object can have
    ///   the identifier, and for more than 256 properties. A fetch refuses a cursor of another fetch.
    /// - Complexity: Linear in the length of the text.
    public init?(_ description: String) {
        guard let bytes = Base64URL.decode(description) else { return nil }
        guard let cursor = bytes.withUnsafeBytes(Self.read) else { return nil }
        self = cursor
    }

    private static var textVersion: UInt8 { 1 }
    /// The most properties of an order that a text may have.
    fileprivate static var sortCountMax: UInt64 { 256 }

    private static func read(_ bytes: UnsafeRawBufferPointer) -> FetchCursor? {
        var reader = ByteReader(bytes)
        guard reader.readUInt8() == textVersion, let high = reader.readUInt64(), let low = reader.readUInt64(),
            (high, low) != PersistentIdentifier.unsaved, (high, low) != PersistentIdentifier.decodedTemporary,
            let number = reader.readVarint(), (1...Limits.recordIDMax).contains(number),
            let entity = reader.readText(), entity.utf8.count <= PersistentIdentifier.nameByteCountMax,
            let order = reader.readList({ $0.readText() }),
            let keys = reader.readList({ $0.readSizedBytes().map { [UInt8]($0) } }), reader.remainingByteCount == 0
        else { return nil }
        let identifier = PersistentIdentifier(storeID: (high, low), entityName: entity, number: number)
        return FetchCursor(identifier: identifier, order: order, keys: keys)
    }
}

extension ByteWriter {
    fileprivate mutating func append(text: String) {
        var text = text
        text.withUTF8 { bytes in
            appendVarint(UInt64(bytes.count))
            append(UnsafeRawBufferPointer(bytes))
        }
    }
}

extension ByteReader {
    fileprivate mutating func readSizedBytes() -> UnsafeRawBufferPointer? {
        readVarint().flatMap(Int.init(exactly:)).flatMap { readBytes($0) }
    }

    fileprivate mutating func readText() -> String? {
        readSizedBytes().flatMap { String(validating: $0, as: UTF8.self) }
    }

    fileprivate mutating func readList<Element>(_ read: (inout ByteReader) -> Element?) -> [Element]? {
        guard let count = readVarint(), count <= FetchCursor.sortCountMax else { return nil }
        var elements: [Element] = []
        for _ in 0..<count {
            guard let element = read(&self) else { return nil }
            elements.append(element)
        }
        return elements
    }
}

/// Bytes as text in the alphabet of addresses, without padding (RFC 4648, section 5).
private enum Base64URL {
    static func encode(_ bytes: UnsafeRawBufferPointer) -> String {
        let text = Data(bytes).base64EncodedData().compactMap { byte -> UInt8? in
            switch byte {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            case UInt8(ascii: "="): nil
            default: byte
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Nil for text that `encode` does not write.
    static func decode(_ text: String) -> Data? {
        var standard = text.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            default: byte
            }
        }
        while standard.count % 4 != 0 { standard.append(UInt8(ascii: "=")) }
        // Other text may stand for the same bytes.
        guard let bytes = Data(base64Encoded: Data(standard)), bytes.withUnsafeBytes(encode) == text else { return nil }
        return bytes
    }
}
