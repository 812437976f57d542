/// A 128-bit hash that is the same in every process, on every machine, in every version of the library.
///
/// FNV-1a over 128 bits (Fowler, Noll, Vo; draft-eastlake-fnv, the offset basis and prime given there). It detects
/// accidental differences; it does not resist deliberate collisions.
public struct Fingerprint: Hashable, Codable, Sendable, Comparable, LosslessStringConvertible {
    /// The upper 64 bits.
    public let high: UInt64
    /// The lower 64 bits.
    public let low: UInt64

    /// Makes a fingerprint from its stored halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Hashes the UTF-8 bytes of a text.
    ///
    /// - Complexity: O(n) for n bytes.
    public init(of text: String) {
        let prime = UInt128(1) << 88 | 0x13b
        var hash = UInt128(0x6c62_272e_07bb_0142) << 64 | 0x62b8_2175_6295_c58d
        for byte in text.utf8 {
            hash = (hash ^ UInt128(byte)) &* prime
        }
        self.init(high: UInt64(truncatingIfNeeded: hash >> 64), low: UInt64(truncatingIfNeeded: hash))
    }

    /// Reads the form of `description`: 32 hexadecimal digits in lower case; nil for anything else.
    public init?(_ description: String) {
        let digits = Array(description.utf8)
        guard digits.count == 32,
            digits.allSatisfy({
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
            }),
            let high = UInt64(String(decoding: digits[..<16], as: UTF8.self), radix: 16),
            let low = UInt64(String(decoding: digits[16...], as: UTF8.self), radix: 16)
        else { return nil }
        self.init(high: high, low: low)
    }

    /// Orders fingerprints as 128-bit numbers.
    public static func < (left: Fingerprint, right: Fingerprint) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }

    /// 32 hexadecimal digits.
    public var description: String {
        let digits = [high, low].map { String($0, radix: 16) }
        return digits.map { String(repeating: "0", count: 16 - $0.count) + $0 }.joined()
    }
}
