/// Where the bytes of a blob record lie: `docs/FileFormat.md` section 10.1.
///
/// The payload (header, chunks, chunk table) is cut into pieces that fit into frames. Each piece but the first has a
/// frame header and a record header before it.
struct BlobLayout {
    /// Payload bytes of every frame but the last.
    static let pieceByteCount = UInt64(Limits.frameBodyByteCountMax - RecordHeader.byteCount)
    private static let overhead = UInt64(FrameHeader.byteCount + RecordHeader.byteCount)

    /// The header of the blob record, in bytes from the start of the file.
    let recordOffset: UInt64

    /// Where a byte of the payload lies.
    func place(of payloadOffset: UInt64) -> UInt64 {
        recordOffset + UInt64(RecordHeader.byteCount) + payloadOffset + payloadOffset / Self.pieceByteCount
            * Self.overhead
    }

    /// Bytes from `payloadOffset` to the end of its piece.
    func contiguous(from payloadOffset: UInt64) -> UInt64 {
        Self.pieceByteCount - payloadOffset % Self.pieceByteCount
    }

    /// Where the frame of the last payload byte ends.
    func end(payloadByteCount: UInt64) -> UInt64 {
        guard payloadByteCount > 0 else { return recordOffset + UInt64(RecordHeader.byteCount) }
        return (place(of: payloadByteCount - 1) + 1).roundedUpTo8
    }
}
