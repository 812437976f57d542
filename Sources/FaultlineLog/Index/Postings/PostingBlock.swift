import FaultlineDisk

/// The form of a block of postings: docs/format/Postings.md.
///
/// Such a block has groups instead of arrays: for each term the term itself, and columns of bits for its entries.
enum PostingBlock {
    static let headerByteCount = 28
    /// The value of byte 8: no block of other entries has it.
    static let form: UInt8 = 0x7F

    /// The header; its first eight bytes are those of `IndexBlock`.
    enum Fields {
        static let form = Field.U8(8)
        static let reserved = Field.U8(9)
        /// The identifier of the first entry.
        static let id = Field.U48(10)
        /// The sequence number of the first entry.
        static let sequence = Field.U64(16)
        /// How sequence numbers rise with identifiers, times 65,536.
        static let slope = Field.U32(24)
    }

    static let entryCountMax = 2_048
    static let termByteCountMax = 255
    static let payloadByteCountMax = 4_095
    static let idWidthMax = 48
    static let sequenceWidthMax = 56
    static let lengthWidthMax = 12
    static let firstWidthMax = 8
    /// The most bytes of a block: a single entry of the largest term and payload.
    static let byteCountMax =
        headerByteCount + IndexBlock.entryBlockByteCountMax + 8 * termByteCountMax
        + payloadByteCountMax

    /// Whether the block whose header is at `start`, which has 24 bytes at least, has this form.
    @inline(__always)
    static func isForm(_ start: UnsafeRawPointer) -> Bool { start[Fields.form] == form }

    /// The line through the sequence numbers of a block.
    struct Line {
        var id: UInt64 = 0
        var sequence: UInt64 = 0
        var slope: UInt32 = 0

        /// The sequence number on the line, modulo 2^64.
        @inline(__always)
        func sequence(at other: UInt64) -> UInt64 {
            let rise = Int64(bitPattern: other &- id) &* Int64(slope)
            return sequence &+ UInt64(bitPattern: rise &>> 16)
        }
    }

    /// A number that has few bits where a signed one is small.
    @inline(__always)
    static func zigzag(_ number: Int64) -> UInt64 { UInt64(bitPattern: (number &<< 1) ^ (number &>> 63)) }

    @inline(__always)
    static func signed(_ number: UInt64) -> Int64 { Int64(bitPattern: number &>> 1) ^ (0 &- Int64(number & 1)) }

    /// The bytes of a number in LEB128.
    @inline(__always)
    static func varintByteCount(_ number: UInt64) -> Int { (70 &- (number | 1).leadingZeroBitCount) / 7 }

    /// The bits that a number needs; none for 0.
    @inline(__always)
    static func width(_ number: UInt64) -> Int { 64 &- number.leadingZeroBitCount }

    /// A number of a column.
    ///
    /// It is read from a word that ends where the number does, or up to seven bits behind: so no read leaves the block,
    /// whose header lies before all columns.
    ///
    /// - Parameters:
    ///   - start: The block.
    ///   - bit: The first bit of the number, counted from the block's start; 64 at least.
    ///   - width: At most 56.
    /// - Returns: The number.
    @inline(__always)
    static func bits(_ start: UnsafeRawPointer, _ bit: Int, _ width: Int) -> UInt64 {
        let place = (bit &+ width &+ 7) &>> 3 &- 8
        let word = start.u64(place) &>> UInt64(truncatingIfNeeded: bit &- place &* 8)
        return word & (1 &<< UInt64(truncatingIfNeeded: width) &- 1)
    }
}

/// The parts of a posting's key, which a block of postings divides.
struct PostingKey {
    let termByteCount: Int
    let payload: UnsafeRawPointer
    let payloadByteCount: Int

    /// Divides a key; nil if the entry is no posting.
    @inline(__always)
    init?(_ key: UnsafeRawPointer, _ byteCount: Int, id: UInt64) {
        var term = 0
        let limit = min(byteCount, PostingBlock.termByteCountMax &+ 1)
        while term < limit, key.u8(term) != 0 { term &+= 1 }
        self.init(key, byteCount, termByteCount: term, id: id)
    }

    /// Divides a key whose first zero is behind so many bytes, if it has one there.
    @inline(__always)
    init?(_ key: UnsafeRawPointer, _ byteCount: Int, termByteCount: Int, id: UInt64) {
        let payloadByteCount = byteCount &- termByteCount &- 9
        guard termByteCount <= PostingBlock.termByteCountMax, payloadByteCount > 0,
            payloadByteCount <= PostingBlock.payloadByteCountMax, key.u8(termByteCount) == 0,
            UInt64(bigEndian: key.loadUnaligned(fromByteOffset: termByteCount &+ 1, as: UInt64.self)) == id
        else { return nil }
        self.termByteCount = termByteCount
        payload = key + (termByteCount &+ 9)
        self.payloadByteCount = payloadByteCount
    }
}
