import FaultlineDisk

/// The manifest's entry for a file that no longer changes: `docs/FileFormat.md` section 8, edit 2.
package struct SealedFile: Equatable, Sendable {
    static let byteCount = 72

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
        guard bytes.u32(20) == 0 else { throw .newerFormat }
        number = bytes.u64(0)
        end = bytes.u64(8)
        chain = bytes.u32(16)
        firstSequence = bytes.u64(24)
        lastSequence = bytes.u64(32)
        contentHash = ContentHash(reading: bytes + 40)
        guard end <= Limits.countMax, firstSequence <= Limits.countMax, lastSequence <= Limits.countMax else {
            throw .outOfRange
        }
    }

    func write(to writer: inout ByteWriter) {
        writer.append(number)
        writer.append(end)
        writer.append(chain)
        writer.append(UInt32(0))
        writer.append(firstSequence)
        writer.append(lastSequence)
        contentHash.write(to: &writer)
    }
}

/// A hash of 32 bytes over a file's content; versions that do not compute it keep it.
package struct ContentHash: Equatable, Sendable {
    private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

    package init() {}

    init(reading bytes: UnsafeRawPointer) {
        words = (bytes.u64(0), bytes.u64(8), bytes.u64(16), bytes.u64(24))
    }

    func write(to writer: inout ByteWriter) {
        writer.append(words.0)
        writer.append(words.1)
        writer.append(words.2)
        writer.append(words.3)
    }

    package static func == (left: ContentHash, right: ContentHash) -> Bool { left.words == right.words }
}
