/// The folded bytes of a term that is being read.
struct TermBuffer {
    /// A term, and room for a scalar that is too much.
    static let capacity = TextAnalyzer.termByteCountMax + 8

    let bytes: UnsafeMutablePointer<UInt8>
    let table: ScalarTable
    private(set) var count = 0
    /// Whether the term was cut.
    private(set) var isFull = false
    /// The last scalar, with which the next one may be composed; 0 after words of ASCII, which compose with none.
    private var last: UInt32 = 0

    init(bytes: UnsafeMutablePointer<UInt8>, table: ScalarTable) {
        self.bytes = bytes
        self.table = table
    }

    @inline(__always) var term: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: bytes, count: count) }

    @inline(__always) var kind: TermKind { isFull ? .cut : .whole }

    @inline(__always) mutating func clear() {
        count = 0
        isFull = false
        last = 0
    }

    /// Takes over bytes of ASCII that were written in place.
    @inline(__always) mutating func setCount(_ count: Int, isFull: Bool) {
        self.count = count
        self.isFull = isFull
        last = 0
    }

    /// Adds the folded text of a scalar.
    @inline(__always) mutating func appendFolded(_ scalar: UInt32, _ entry: ScalarEntry) {
        forEachFolded(scalar, entry, table) { append($0, table[$0].combiningClass) }
    }

    /// Adds a scalar that is folded.
    mutating func append(_ scalar: UInt32, _ combiningClass: UInt8) {
        guard !isFull, scalar != 0, scalar != 0xFFFD else { return }
        if let composed = compose(last, scalar) {
            count -= Self.byteCount(last)
            last = 0
            append(composed, 0)
            return
        }
        let length = Self.byteCount(scalar)
        guard count + length <= TextAnalyzer.termByteCountMax else {
            isFull = true
            return
        }
        var place = count
        if combiningClass != 0 { place = placeOfMark(combiningClass) }
        if place < count { (bytes + place + length).update(from: bytes + place, count: count - place) }
        Self.encode(scalar, bytes + place)
        count += length
        last = place + length == count ? scalar : 0
    }

    /// Where a mark goes in canonical order: before the marks of a higher class.
    private func placeOfMark(_ combiningClass: UInt8) -> Int {
        var place = count
        let reader = ScalarReader(bytes: bytes, count: count)
        while place > 0 {
            var start = place - 1
            while start > 0, bytes[start] & 0xC0 == 0x80 { start -= 1 }
            guard table[reader.scalar(at: start).value].combiningClass > combiningClass else { break }
            place = start
        }
        return place
    }

    /// Drops the separators of thousands: commas or apostrophes in front of groups of three digits, and only those.
    mutating func dropSeparatorsOfThousands() {
        var head = 0
        while head < count, isDigit(head) { head += 1 }
        guard head >= 1, head <= 3, head < count else { return }
        let separator = bytes[head]
        guard separator == UInt8(ascii: ",") || separator == UInt8(ascii: "'") else { return }
        var end = head
        while end < count, bytes[end] == separator {
            guard isDigit(end + 1), isDigit(end + 2), isDigit(end + 3), !isDigit(end + 4) else { return }
            end += 4
        }
        // A comma after the groups is of another use: 1'234,5 keeps it, 1,234'5 keeps all.
        guard end == count || bytes[end] != UInt8(ascii: "'") else { return }
        var write = head
        for read in head..<count where read >= end || bytes[read] != separator {
            bytes[write] = bytes[read]
            write += 1
        }
        count = write
    }

    private func isDigit(_ index: Int) -> Bool {
        index < count && bytes[index] >= UInt8(ascii: "0") && bytes[index] <= UInt8(ascii: "9")
    }

    @inline(__always) static func byteCount(_ scalar: UInt32) -> Int {
        scalar < 0x80 ? 1 : scalar < 0x800 ? 2 : scalar < 0x10000 ? 3 : 4
    }

    @inline(__always) static func encode(_ scalar: UInt32, _ bytes: UnsafeMutablePointer<UInt8>) {
        func tail(_ shift: UInt32) -> UInt8 { 0x80 | UInt8(truncatingIfNeeded: scalar >> shift) & 0x3F }
        switch byteCount(scalar) {
        case 1: bytes[0] = UInt8(truncatingIfNeeded: scalar)
        case 2:
            bytes[0] = 0xC0 | UInt8(truncatingIfNeeded: scalar >> 6)
            bytes[1] = tail(0)
        case 3:
            bytes[0] = 0xE0 | UInt8(truncatingIfNeeded: scalar >> 12)
            bytes[1] = tail(6)
            bytes[2] = tail(0)
        default:
            bytes[0] = 0xF0 | UInt8(truncatingIfNeeded: scalar >> 18)
            bytes[1] = tail(12)
            bytes[2] = tail(6)
            bytes[3] = tail(0)
        }
    }
}

/// Calls a closure for each scalar of a scalar's folded text.
@inline(__always)
func forEachFolded(_ scalar: UInt32, _ entry: ScalarEntry, _ table: ScalarTable, _ body: (UInt32) -> Void) {
    let text = entry.foldedText
    guard text != 0 else {
        body(scalar)
        return
    }
    let folded = ScalarReader(bytes: table.texts + text + 1, count: Int(table.texts[text]))
    var offset = 0
    while offset < folded.count {
        let (part, length) = folded.scalar(at: offset)
        body(part)
        offset += length
    }
}

/// The scalar that two scalars compose to, of Hangul or of Kana: all that folding leaves decomposed.
@inline(__always) func compose(_ first: UInt32, _ second: UInt32) -> UInt32? {
    guard first >= 0x1100 else { return nil }
    switch second {
    case 0x1161...0x1175:
        guard first <= 0x1112 else { return nil }
        return 0xAC00 + ((first - 0x1100) * 21 + second - 0x1161) * 28
    case 0x11A8...0x11C2:
        guard first >= 0xAC00, first <= 0xD7A3, (first - 0xAC00) % 28 == 0 else { return nil }
        return first + second - 0x11A7
    case 0x3099, 0x309A:
        return composeKana(first, isVoiced: second == 0x3099)
    default:
        return nil
    }
}

private func composeKana(_ first: UInt32, isVoiced: Bool) -> UInt32? {
    guard first >= 0x3041, first <= 0x30FE else { return nil }
    // Katakana follow Hiragana in the same order, 0x60 later.
    let kana = first >= 0x30A1 ? first - 0x60 : first
    switch kana {
    case 0x306F...0x307B where kana % 3 == 0: return first + (isVoiced ? 1 : 2)
    case 0x304B...0x3061 where isVoiced && kana % 2 == 1: return first + 1
    case 0x3064, 0x3066, 0x3068, 0x309D: return isVoiced ? first + 1 : nil
    case 0x3046: return isVoiced ? first + 0x4E : nil
    case 0x308F...0x3092 where first > 0x30A0: return isVoiced ? first + 8 : nil
    default: return nil
    }
}
