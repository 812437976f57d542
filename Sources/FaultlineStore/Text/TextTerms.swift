/// The rule of terms in keys: docs/FileFormat.md 13.7.
enum TextTerms {
    /// The only byte of the key of an object that is set aside: no UTF-8 begins with it.
    static let asideMark: UInt8 = 0xFF
    /// The first byte of the key with an object's lengths, and the byte behind a term: no term contains it.
    static let lengthsMark: UInt8 = 0
    /// The largest number of bytes of a term.
    static let termByteCountMax = 255
    /// The largest number of bytes of a key with positions.
    static let keyByteCountMax = 1_024

    /// Whether bytes can be a term: no key is the beginning of another object's, and none stands among those of lengths
    /// or of objects that are set aside.
    static func isTerm(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard (1...termByteCountMax).contains(bytes.count), bytes[0] != asideMark else { return false }
        return !bytes.contains(lengthsMark)
    }
}
