/// The offsets of a blob record's bytes: `docs/FileFormat.md` section 10.1.
///
/// The payload (header, chunks, chunk table) is cut into pieces that fit into frames. A frame header and a record
/// header precede each piece but the first.
struct BlobLayout {
    /// Payload bytes of every frame but the last.
    static let pieceByteCount = UInt64(Limits.frameBodyByteCountMax - RecordHeader.byteCount)
    /// Bytes of the headers before each piece.
    static let overhead = UInt64(FrameHeader.byteCount + RecordHeader.byteCount)

    /// The header of the blob record, in bytes from the start of the file.
    let recordOffset: UInt64

    /// The file offset of a byte of the payload.
    func place(of payloadOffset: UInt64) -> UInt64 {
        recordOffset + UInt64(RecordHeader.byteCount) + payloadOffset + payloadOffset / Self.pieceByteCount
            * Self.overhead
    }

    /// Bytes from `payloadOffset` to the end of its piece.
    func contiguous(from payloadOffset: UInt64) -> UInt64 {
        Self.pieceByteCount - payloadOffset % Self.pieceByteCount
    }

    /// A piece of the payload, and the frame around it.
    struct Piece {
        /// The offset of the frame's header; the record's header follows it.
        let frameOffset: UInt64
        /// Bytes of the payload before it.
        let payloadOffset: UInt64
        let byteCount: Int
        let isLast: Bool

        /// Bytes of the frame behind its header.
        var bodyByteCount: Int { RecordHeader.byteCount + byteCount.roundedUpTo8 }
    }

    static func pieceCount(payloadByteCount: UInt64) -> UInt64 { (payloadByteCount - 1) / pieceByteCount + 1 }

    /// The piece with a number, from 0, of a payload that is not empty.
    func piece(_ number: UInt64, payloadByteCount: UInt64) -> Piece {
        let start = number * Self.pieceByteCount
        let byteCount = min(Self.pieceByteCount, payloadByteCount - start)
        return Piece(
            frameOffset: place(of: start) - Self.overhead, payloadOffset: start, byteCount: Int(byteCount),
            isLast: start + byteCount == payloadByteCount)
    }

    /// The offset at which the frame of the last payload byte ends.
    func end(payloadByteCount: UInt64) -> UInt64 {
        guard payloadByteCount > 0 else { return recordOffset + UInt64(RecordHeader.byteCount) }
        return (place(of: payloadByteCount - 1) + 1).roundedUpTo8
    }
}
