internal import Glibc

/// Text as rows store it: UTF-8, with flags.
///
/// Two texts are equal if they are canonically equivalent, as by Swift's `==`, and their order is Swift's `<` on their
/// normal forms C, which is that of the bytes. (On other forms `<` can contradict `==`: with Swift 6.3 neither of e +
/// U+0301 and U+00E9 + b is less.) Text known to be in normal form is compared without being decoded.
enum StoredText {
    /// The flags of valid UTF-8: all ASCII, or in normal form C.
    static func flags(of text: UnsafeRawBufferPointer) -> VariableFlags {
        guard let base = text.baseAddress else { return [.ascii, .normal] }
        let count = text.count
        var all: UInt64 = 0
        var index = 0
        while index &+ 8 <= count {
            all |= base.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            index &+= 8
        }
        while index < count {
            all |= UInt64(base.load(fromByteOffset: index, as: UInt8.self))
            index &+= 1
        }
        if all & 0x8080_8080_8080_8080 == 0 { return [.ascii, .normal] }
        return isNormal(text) ? .normal : []
    }

    /// Whether valid UTF-8 is in normal form C, as far as a quick check shows.
    private static func isNormal(_ text: UnsafeRawBufferPointer) -> Bool {
        // Scalars below U+0300 neither compose with one before them nor decompose: all bytes are below CC.
        if text.allSatisfy({ $0 < 0xCC }) { return true }
        let bytes = text.assumingMemoryBound(to: UInt8.self)
        // Safe because callers give valid UTF-8, from a String or validated.
        var span = unsafe UTF8Span(unchecked: bytes.span)
        return span.checkForNFC(quickCheck: true)
    }

    /// Compares bytes: −1, 0, 1 in the order of unsigned bytes, a prefix first.
    @inline(__always)
    static func byteOrder(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
        let shared = min(left.count, right.count)
        if shared > 0, let leftBase = left.baseAddress, let rightBase = right.baseAddress {
            let order = memcmp(leftBase, rightBase, shared)
            if order != 0 { return order < 0 ? -1 : 1 }
        }
        return left.count == right.count ? 0 : left.count < right.count ? -1 : 1
    }

    @inline(__always)
    static func areEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        guard left.count == right.count else { return false }
        guard left.count > 0, let leftBase = left.baseAddress, let rightBase = right.baseAddress else { return true }
        return memcmp(leftBase, rightBase, left.count) == 0
    }

    /// Compares two texts as Swift compares strings: −1, 0 or 1.
    static func order(
        _ left: UnsafeRawBufferPointer,
        _ leftFlags: VariableFlags,
        _ right: UnsafeRawBufferPointer,
        _ rightFlags: VariableFlags
    ) -> Int {
        if leftFlags.comparesAsBytes && rightFlags.comparesAsBytes { return byteOrder(left, right) }
        if areEqual(left, right) { return 0 }
        return normalForm(of: left).withUnsafeBytes { left in
            normalForm(of: right).withUnsafeBytes { byteOrder(left, $0) }
        }
    }

    /// The bytes of a text's normal form C.
    static func normalForm(of text: UnsafeRawBufferPointer) -> [UInt8] {
        String(decoding: text, as: UTF8.self)._nfcCodeUnits
    }
}
