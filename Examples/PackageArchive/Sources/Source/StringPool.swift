import Glibc

/// Makes one `String` for equal bytes, so that a name that occurs a thousand times is decoded and stored once.
///
/// Texts are numbered from 0 in the order in which they were first seen. Text 0 is the empty one.
struct StringPool {
    private(set) var texts: [String] = []
    /// Numbers of texts that were not UTF-8 and were read as Latin-1.
    private(set) var repaired: Set<Int32> = []
    /// The bytes of all texts, one after another, for comparison in a look-up.
    private var bytes: [UInt8] = []
    private var ends: [Int] = []
    /// Number + 1 of a text, or 0 for a free slot: open addressing, linear probing, a power of two of slots.
    private var slots: [Int32] = []

    init() {
        slots = Array(repeating: 0, count: 1 << 12)
        _ = intern(UnsafeRawBufferPointer(start: nil, count: 0))
    }

    /// The number of the text with these bytes.
    mutating func intern(_ text: UnsafeRawBufferPointer) -> Int32 {
        let mask = slots.count - 1
        var slot = Self.hash(text) & mask
        while true {
            let number = slots[slot] - 1
            if number < 0 { break }
            if isEqual(number, text) { return number }
            slot = (slot + 1) & mask
        }
        let number = Int32(truncatingIfNeeded: texts.count)
        slots[slot] = number + 1
        append(text, number)
        if texts.count * 2 > slots.count { grow() }
        return number
    }

    @inline(__always)
    subscript(number: Int32) -> String { texts[Int(number)] }

    private mutating func append(_ text: UnsafeRawBufferPointer, _ number: Int32) {
        bytes.append(contentsOf: text)
        ends.append(bytes.count)
        let (string, isRepaired) = Self.decode(text)
        texts.append(string)
        if isRepaired { repaired.insert(number) }
    }

    /// The text of `bytes`: UTF-8, or Latin-1 if they are not UTF-8 (old packages), which the result reports.
    static func decode(_ bytes: UnsafeRawBufferPointer) -> (String, isRepaired: Bool) {
        if let string = String(validating: bytes, as: UTF8.self) { return (string, false) }
        var string = ""
        for byte in bytes { string.unicodeScalars.append(Unicode.Scalar(byte)) }
        return (string, true)
    }

    @inline(__always)
    private func isEqual(_ number: Int32, _ text: UnsafeRawBufferPointer) -> Bool {
        let place = Int(number)
        let start = place == 0 ? 0 : ends[place - 1]
        guard ends[place] - start == text.count else { return false }
        guard let other = text.baseAddress, text.count > 0 else { return true }
        return bytes.withUnsafeBytes { own in
            guard let base = own.baseAddress else { return false }
            return memcmp(base + start, other, text.count) == 0
        }
    }

    private mutating func grow() {
        slots = Array(repeating: 0, count: slots.count * 4)
        let mask = slots.count - 1
        for place in texts.indices {
            let start = place == 0 ? 0 : ends[place - 1]
            var slot =
                bytes.withUnsafeBytes { Self.hash(UnsafeRawBufferPointer(rebasing: $0[start..<ends[place]])) } & mask
            while slots[slot] != 0 { slot = (slot + 1) & mask }
            slots[slot] = Int32(truncatingIfNeeded: place) + 1
        }
    }

    /// FNV-1a over words of eight bytes, then the rest; folded so that the low bits carry all of it.
    @inline(__always)
    private static func hash(_ text: UnsafeRawBufferPointer) -> Int {
        var state: UInt64 = 0xcbf2_9ce4_8422_2325
        var place = 0
        while place + 8 <= text.count {
            state = (state ^ text.loadUnaligned(fromByteOffset: place, as: UInt64.self)) &* 0x9E37_79B9_7F4A_7C15
            state ^= state >> 29
            place += 8
        }
        while place < text.count {
            state = (state ^ UInt64(text[place])) &* 0x0000_0100_0000_01B3
            place += 1
        }
        state ^= state >> 32
        state = state &* 0xD6E8_FEB8_6659_FD93
        return Int(truncatingIfNeeded: state >> 20)
    }
}
