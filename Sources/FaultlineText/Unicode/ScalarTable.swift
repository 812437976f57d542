/// The properties of all Unicode scalars, read once from `UnicodeDatabase`: about 150 KB.
///
/// A scalar's block of 128 is found by its upper bits. Blocks that are alike in all scalars are kept once.
// Safe because the memory is written in the initializer alone, and never freed.
struct ScalarTable: @unchecked Sendable {
    static let shared = ScalarTable()

    private let blocks: UnsafePointer<UInt16>
    private let entries: UnsafePointer<UInt32>
    /// Folded texts: a byte with the number of bytes, then UTF-8.
    let texts: UnsafePointer<UInt8>
    /// For each byte: its lower case if it is a letter or a digit of ASCII, `beyondASCII` beyond ASCII, 0 otherwise.
    let words: UnsafePointer<UInt8>

    static let beyondASCII: UInt8 = 0xFF

    @inline(__always) subscript(scalar: UInt32) -> ScalarEntry {
        ScalarEntry(bits: entries[Int(blocks[Int(scalar >> 7)]) << 7 | Int(scalar & 127)])
    }

    private init() {
        var builder = ScalarTableBuilder()
        builder.read()
        blocks = Self.copy(builder.blocks)
        entries = Self.copy(builder.entries)
        texts = Self.copy(builder.texts)
        words = Self.copy(
            (0...UInt8.max).map { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): byte
                case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte | 0x20
                case 0x80...: Self.beyondASCII
                default: 0
                }
            })
    }

    private static func copy<T: BitwiseCopyable>(_ values: [T]) -> UnsafePointer<T> {
        let copy = UnsafeMutablePointer<T>.allocate(capacity: values.count)
        copy.initialize(from: values, count: values.count)
        return UnsafePointer(copy)
    }
}

/// Reads the streams of `UnicodeDatabase`: `Fixtures/unicode/generate` says how they are made.
private struct ScalarTableBuilder {
    private static let scalarCount = 0x110000

    var blocks = [UInt16](repeating: 0, count: scalarCount >> 7)
    var entries = [UInt32](repeating: 0, count: 128)
    /// The byte at 0 is no text, so that 0 stands for an unchanged scalar.
    var texts: [UInt8] = [0]
    /// Blocks in which all scalars have one value, by that value; several parts of the table may share one.
    private var uniform: [UInt32: UInt16] = [0: 0]
    private var isShared = [true]
    private var places: [[UInt8]: Int] = [:]

    mutating func read() {
        var stream = NumberStream(UnicodeDatabase.classes)
        var scalar = 0
        while let count = stream.next(), let value = stream.nextByte() {
            fill(scalar, count, UInt32(value))
            scalar += count
        }
        stream = NumberStream(UnicodeDatabase.marks)
        scalar = 0
        while let count = stream.next(), let value = stream.nextByte() {
            if value != 0 { for mark in scalar..<scalar + count { set(mark, UInt32(value) << 8) } }
            scalar += count
        }
        readFolds()
    }

    private mutating func readFolds() {
        var stream = NumberStream(UnicodeDatabase.folds)
        var scalar = 0
        while let distance = stream.next(), let head = stream.next() {
            scalar += distance
            let count = head >> 3
            switch head & 3 {
            case 0:
                for dropped in scalar..<scalar + count { setText(dropped, []) }
                scalar += count
            case 1:
                let stride = head >> 2 & 1 + 1
                let number = stream.next() ?? 0
                let delta = number & 1 == 0 ? number >> 1 : -(number >> 1) - 1
                for index in 0..<count { setText(scalar + index * stride, [scalar + index * stride + delta]) }
                scalar += (count - 1) * stride + 1
            default:
                setText(scalar, (0..<count).map { _ in stream.next() ?? 0 })
                scalar += 1
            }
        }
    }

    private mutating func setText(_ scalar: Int, _ folded: [Int]) {
        var text: [UInt8] = [0]
        for number in folded {
            guard let scalar = Unicode.Scalar(UInt32(number)) else { continue }
            text += Array(String(Character(scalar)).utf8)
        }
        text[0] = UInt8(text.count - 1)
        let place = places[text] ?? texts.count
        if place == texts.count {
            places[text] = place
            texts += text
        }
        set(scalar, UInt32(place) << 16)
    }

    private mutating func fill(_ start: Int, _ count: Int, _ value: UInt32) {
        guard value != 0 else { return }
        var scalar = start
        while scalar < start + count {
            if scalar & 127 == 0, scalar + 128 <= start + count {
                blocks[scalar >> 7] = uniformBlock(value)
                scalar += 128
            } else {
                set(scalar, value)
                scalar += 1
            }
        }
    }

    private mutating func uniformBlock(_ value: UInt32) -> UInt16 {
        if let block = uniform[value] { return block }
        let block = UInt16(isShared.count)
        entries += repeatElement(value, count: 128)
        isShared.append(true)
        uniform[value] = block
        return block
    }

    /// Adds bits to the entry of a scalar, in a block of its own.
    private mutating func set(_ scalar: Int, _ bits: UInt32) {
        var block = Int(blocks[scalar >> 7])
        if isShared[block] {
            let copy = Array(entries[block << 7..<(block + 1) << 7])
            entries += copy
            block = isShared.count
            isShared.append(false)
            blocks[scalar >> 7] = UInt16(block)
        }
        entries[block << 7 | scalar & 127] |= bits
    }
}

/// Numbers in base 64: seven bits a byte, the lowest first.
private struct NumberStream {
    private var bytes: [UInt8] = []
    private var position = 0

    init(_ text: StaticString) {
        var bits: UInt32 = 0
        var count = 0
        text.withUTF8Buffer { text in
            bytes.reserveCapacity(text.count * 3 / 4)
            for byte in text {
                let value: UInt8
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = byte - UInt8(ascii: "A")
                case UInt8(ascii: "a")...UInt8(ascii: "z"): value = byte - UInt8(ascii: "a") + 26
                case UInt8(ascii: "0")...UInt8(ascii: "9"): value = byte - UInt8(ascii: "0") + 52
                case UInt8(ascii: "+"): value = 62
                case UInt8(ascii: "/"): value = 63
                default: continue
                }
                bits = bits << 6 | UInt32(value)
                count += 6
                if count >= 8 {
                    count -= 8
                    bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
                }
            }
        }
    }

    mutating func nextByte() -> UInt8? {
        guard position < bytes.count else { return nil }
        position += 1
        return bytes[position - 1]
    }

    mutating func next() -> Int? {
        var value = 0
        var shift = 0
        while let byte = nextByte() {
            value |= Int(byte & 0x7F) << shift
            guard byte & 0x80 != 0 else { return value }
            shift += 7
        }
        return nil
    }
}
