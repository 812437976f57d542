import FaultlineDisk

/// The manifest's entry for a file that no longer changes: `docs/FileFormat.md` section 8, edit 2.
package struct SealedFile: Equatable, Sendable {
    static let byteCount = 72

    /// The table of section 8, edit 2.
    enum Fields {
        static let number = Field.U64(0)
        static let end = Field.U64(8)
        static let chain = Field.U32(16)
        static let reserved = Field.U32(20)
        static let firstSequence = Field.U64(24)
        static let lastSequence = Field.U64(32)
        static let contentHash = Field.Bytes(40, 32)
    }

    package let number: UInt64
    /// The end of the file's valid bytes.
    package let end: UInt64
    /// headCRC of the last frame; 0 if it is not known, or there is none.
    package let chain: UInt32
    /// Every transaction with visible records in the file lies within these bounds.
    package let firstSequence: UInt64
    package let lastSequence: UInt64
    /// Zero if it was not computed; this version never computes it.
    package let contentHash: ContentHash

    package init(
        number: UInt64, end: UInt64, chain: UInt32, firstSequence: UInt64, lastSequence: UInt64,
        contentHash: ContentHash = ContentHash()
    ) {
        self.number = number
        self.end = end
        self.chain = chain
        self.firstSequence = firstSequence
        self.lastSequence = lastSequence
        self.contentHash = contentHash
    }

    init(reading bytes: UnsafeRawPointer) throws(FormatFault) {
        guard bytes[Fields.reserved] == 0 else { throw .newerFormat }
        number = bytes[Fields.number]
        end = bytes[Fields.end]
        chain = bytes[Fields.chain]
        firstSequence = bytes[Fields.firstSequence]
        lastSequence = bytes[Fields.lastSequence]
        contentHash = ContentHash(reading: bytes[Fields.contentHash])
        guard end <= Limits.countMax, firstSequence <= Limits.countMax, lastSequence <= Limits.countMax else {
            throw .outOfRange
        }
    }

    func write(to writer: inout ByteWriter) {
        writer.append(structureOf: Self.byteCount) { bytes in
            bytes[Fields.number] = number
            bytes[Fields.end] = end
            bytes[Fields.chain] = chain
            bytes[Fields.firstSequence] = firstSequence
            bytes[Fields.lastSequence] = lastSequence
            contentHash.write(to: bytes[Fields.contentHash])
        }
    }
}

/// A hash of 32 bytes over a file's content; versions that do not compute it keep it.
package struct ContentHash: Equatable, Sendable {
    private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

    package init() {}

    init(reading bytes: UnsafeRawPointer) {
        words = (bytes.u64(0), bytes.u64(8), bytes.u64(16), bytes.u64(24))
    }

    func write(to bytes: UnsafeMutableRawPointer) {
        bytes.set(words.0, 0)
        bytes.set(words.1, 8)
        bytes.set(words.2, 16)
        bytes.set(words.3, 24)
    }

    package static func == (left: ContentHash, right: ContentHash) -> Bool { left.words == right.words }
}
