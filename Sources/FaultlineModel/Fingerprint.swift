/// A 128-bit hash that is the same in every process, on every machine, in every version of the library.
///
/// FNV-1a over 128 bits (Fowler, Noll, Vo; draft-eastlake-fnv, the offset basis and prime given there). It finds
/// accidental differences; it does not withstand somebody who looks for collisions.
public struct Fingerprint: Hashable, Codable, Sendable, Comparable, LosslessStringConvertible {
    /// The upper 64 bits.
    public let high: UInt64
    /// The lower 64 bits.
    public let low: UInt64

    /// Takes a fingerprint that was stored.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Hashes a text by its bytes in UTF-8.
    public init(of text: String) {
        let prime = UInt128(1) << 88 | 0x13b
        var hash = UInt128(0x6c62_272e_07bb_0142) << 64 | 0x62b8_2175_6295_c58d
        for byte in text.utf8 {
            hash = (hash ^ UInt128(byte)) &* prime
        }
        self.init(high: UInt64(truncatingIfNeeded: hash >> 64), low: UInt64(truncatingIfNeeded: hash))
    }

    /// Reads what `description` gives: 32 hexadecimal digits in lower case; nil for anything else.
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
