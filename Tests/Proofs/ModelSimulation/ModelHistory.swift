import FaultlineLog

/// A digest of the results of each operation.
///
/// Two runs with a different digest saw different results.
package struct ModelHistory: Equatable, Sendable {
    /// The digests, by operation number.
    private(set) var digests: [UInt64]
    private var number = 0

    init(operationCount: Int) {
        digests = [UInt64](repeating: 0, count: operationCount)
    }

    /// Assigns the following results to this operation.
    mutating func begin(_ operation: ModelOperation) { number = operation.number }

    mutating func note(_ value: UInt64) {
        // FNV-1a, with whole words instead of bytes.
        digests[number] = (digests[number] ^ value) &* 0x100_0000_01B3 &+ 0x9E37_79B9_7F4A_7C15
    }

    mutating func note(_ value: Int) { note(UInt64(bitPattern: Int64(value))) }

    mutating func note(_ bytes: some Sequence<UInt8>) {
        var digest: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01B3 }
        note(digest)
    }

    /// Returns the number of the first operation with different results, or `nil` if there is none.
    func firstDifference(from other: ModelHistory) -> Int? {
        zip(digests, other.digests).enumerated().first { $0.element.0 != $0.element.1 }?.offset
    }
}
