import FaultlineLog

/// What a life has seen, operation by operation, as one number each: two lives that differ in one saw different things.
package struct ModelHistory: Equatable, Sendable {
    /// By the operations' numbers.
    private(set) var digests: [UInt64]
    private var number = 0

    init(operationCount: Int) {
        digests = [UInt64](repeating: 0, count: operationCount)
    }

    /// What is noted from now on was seen by this operation.
    mutating func begin(_ operation: ModelOperation) { number = operation.number }

    mutating func note(_ value: UInt64) {
        // FNV-1a, a word at a time.
        digests[number] = (digests[number] ^ value) &* 0x100_0000_01B3 &+ 0x9E37_79B9_7F4A_7C15
    }

    mutating func note(_ value: Int) { note(UInt64(bitPattern: Int64(value))) }

    mutating func note(_ bytes: some Sequence<UInt8>) {
        var digest: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01B3 }
        note(digest)
    }

    /// The first operation that two lives saw differently; nil if there is none.
    func firstDifference(from other: ModelHistory) -> Int? {
        zip(digests, other.digests).enumerated().first { $0.element.0 != $0.element.1 }?.offset
    }
}
