package import Foundation

extension UUID {
    /// The identifier of 16 bytes given as two little-endian words.
    package init(storedWords words: (UInt64, UInt64)) {
        self = withUnsafeBytes(of: (words.0.littleEndian, words.1.littleEndian)) {
            UUID(uuid: $0.loadUnaligned(as: uuid_t.self))
        }
    }

    /// The 16 bytes as two little-endian words.
    package var storedWords: (UInt64, UInt64) {
        withUnsafeBytes(of: uuid) {
            (
                UInt64(littleEndian: $0.loadUnaligned(as: UInt64.self)),
                UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
    }
}
