internal import Glibc

/// Searches text as Swift does: character by character, in any normal form.
///
/// ASCII is searched as bytes. The only character of ASCII that has two bytes is the line end CR LF, so a match must
/// not begin or end within one.
extension StoredText {
    private static let carriageReturn: UInt8 = 0x0D
    private static let lineFeed: UInt8 = 0x0A

    /// `text.starts(with: prefix)`.
    static func begins(_ text: UnsafeRawBufferPointer, _ flags: VariableFlags, with prefix: RowOperand) -> Bool {
        if flags.comparesAsBytes, prefix.isASCII {
            guard text.count >= prefix.byteCount, let base = text.baseAddress,
                memcmp(base, prefix.bytes, prefix.byteCount) == 0
            else { return false }
            if flags.contains(.ascii) { return isBoundary(text, prefix.byteCount) }
        } else if flags.contains(.ascii) {
            return false
        }
        return String(decoding: text, as: UTF8.self).starts(with: prefix.string)
    }

    /// `text.contains(part)`, for a part that is not empty.
    static func contains(_ text: UnsafeRawBufferPointer, _ flags: VariableFlags, _ part: RowOperand) -> Bool {
        if flags.comparesAsBytes, part.isASCII {
            var start = 0
            var isFound = false
            while let found = find(part, in: text, from: start) {
                isFound = true
                guard flags.contains(.ascii) else { break }
                if isBoundary(text, found), isBoundary(text, found + part.byteCount) { return true }
                start = found + 1
            }
            if !isFound || flags.contains(.ascii) { return false }
        } else if flags.contains(.ascii) {
            return false
        }
        return containsCharacters(String(decoding: text, as: UTF8.self), part.string)
    }

    /// Whether an offset in ASCII is not within a line end of two bytes.
    @inline(__always)
    private static func isBoundary(_ text: UnsafeRawBufferPointer, _ place: Int) -> Bool {
        guard place > 0, place < text.count else { return true }
        return !(text[place] == lineFeed && text[place - 1] == carriageReturn)
    }

    /// The first offset of the part's bytes, from an offset on.
    private static func find(_ part: RowOperand, in text: UnsafeRawBufferPointer, from start: Int) -> Int? {
        guard let base = text.baseAddress, part.byteCount > 0 else { return nil }
        let first = Int32(part.bytes.load(as: UInt8.self))
        var place = start
        // Offsets at which the part ends within the text.
        let limit = text.count - part.byteCount + 1
        while place < limit {
            guard let found = memchr(base + place, first, limit - place) else { return nil }
            place = UnsafeRawPointer(found) - base
            if memcmp(base + place, part.bytes, part.byteCount) == 0 { return place }
            place += 1
        }
        return nil
    }

    @inline(never)
    private static func containsCharacters(_ text: String, _ part: String) -> Bool {
        var rest = text[...]
        while true {
            if rest.starts(with: part) { return true }
            guard !rest.isEmpty else { return false }
            rest.removeFirst()
        }
    }
}
