/// A term of a query: folded bytes as the analyzer makes them.
package struct TextTerm: Sendable, Hashable {
    /// UTF-8, 1 to 255 bytes, without a zero.
    package let bytes: [UInt8]
    /// Whether all terms that begin with the bytes are wanted.
    package let isPrefix: Bool
    /// Where the term's word begins in the query's text, in bytes, for errors; it plays no part in equality.
    package let offset: Int

    package init(bytes: [UInt8], isPrefix: Bool = false, offset: Int = 0) {
        self.bytes = bytes
        self.isPrefix = isPrefix
        self.offset = offset
    }

    package static func == (left: TextTerm, right: TextTerm) -> Bool {
        left.bytes == right.bytes && left.isPrefix == right.isPrefix
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(bytes)
        hasher.combine(isPrefix)
    }
}

extension TextTerm: CustomStringConvertible {
    package var description: String { String(decoding: bytes, as: UTF8.self) + (isPrefix ? "*" : "") }
}
