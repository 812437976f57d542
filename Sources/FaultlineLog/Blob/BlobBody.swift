import FaultlineDisk

/// The bytes of a blob, complete but for the headers before its pieces, which name its identifier and its owner.
struct BlobBody {
    let layout: BlobLayout
    let rawByteCount: UInt64
    /// Bytes of header, chunks and chunk table.
    let payloadByteCount: UInt64
    let chunkCount: Int
    let isCompressed: Bool

    /// The offset behind the blob's last frame.
    var end: UInt64 { layout.end(payloadByteCount: payloadByteCount) }

    /// The offset of the first frame's header.
    var start: UInt64 { layout.recordOffset - UInt64(FrameHeader.byteCount) }

    var pieceCount: UInt64 { BlobLayout.pieceCount(payloadByteCount: payloadByteCount) }

    private var flags: UInt32 { isCompressed ? BlobHeader.flagCompressed : 0 }

    /// The placement of the blob.
    ///
    /// - Parameters:
    ///   - segment: Its segment.
    ///   - recordCRC: The checksum of its record's header; 0 as long as there is none: only `verify` reads it.
    /// - Returns: The row of the blob's placement record.
    func placement(in segment: UInt64, recordCRC: UInt32) -> BlobPlacement {
        BlobPlacement(
            segment: segment, offset: layout.recordOffset, rawByteCount: rawByteCount,
            storedByteCount: payloadByteCount, recordCRC: recordCRC, flags: flags)
    }

    /// The fields of a blob's headers that its bytes do not tell.
    struct HeaderFields {
        let id: RecordID
        let owner: BlobOwner
        /// The progress of the log: the newest durable and the newest acknowledged transaction.
        let durableSequence: UInt64
        let acknowledgedSequence: UInt64
        /// An offset of the file up to which a synchronization had succeeded, at most that of the frame.
        let durable: UInt64
    }

    /// The headers before a piece, to be written at its frame's offset.
    struct Headers: ~Copyable {
        /// The header of the frame, that of the record, and before the first piece that of the blob.
        var bytes = ByteWriter(byteCapacity: 128)
        /// headCRC of the frame.
        fileprivate(set) var headCRC: UInt32 = 0
        /// The checksum of the record's header.
        fileprivate(set) var recordCRC: UInt32 = 0
    }

    /// Makes the headers before a piece.
    ///
    /// - Parameters:
    ///   - number: The piece, from 0.
    ///   - fields: The fields that the bytes do not tell.
    ///   - previousHead: headCRC of the frame that was written before; 0 if that is not known.
    ///   - file: The segment's file.
    /// - Returns: The bytes, with their checksums.
    func headers(
        before number: UInt64, _ fields: HeaderFields, previousHead: UInt32, in file: ManagedFile
    ) -> Headers {
        let piece = layout.piece(number, payloadByteCount: payloadByteCount)
        let blobHeaderByteCount = number == 0 ? BlobHeader.byteCount : 0
        var headers = Headers()
        headers.bytes.appendZeros(Int(BlobLayout.overhead) + blobHeaderByteCount)
        guard let start = headers.bytes.mutableBytes.baseAddress else { return headers }
        let record = start + FrameHeader.byteCount
        if number == 0 { header(owner: fields.owner).write(to: record + RecordHeader.byteCount) }
        RecordHeader.write(
            to: record,
            storedByteCount: number == 0 ? Int(truncatingIfNeeded: payloadByteCount) : piece.byteCount,
            rawByteCount: number == 0 ? Int(truncatingIfNeeded: rawByteCount) : piece.byteCount,
            table: TableID.blobs.rawValue, layout: 0, id: fields.id, operation: .blob, flags: [])
        RecordHeader.seal(
            record, RecordHeader.byteCount + blobHeaderByteCount,
            binding: file.recordBinding(at: piece.frameOffset + UInt64(FrameHeader.byteCount)))
        let frame = FrameHeader(
            kind: .blob, bodyByteCount: piece.bodyByteCount,
            headersCRC: CRC32C.checksum(record, RecordHeader.byteCount), recordCount: 1,
            flags: piece.isLast ? 0 : FrameHeader.flagContinued, sequence: fields.durableSequence,
            durable: fields.durable, previousHead: previousHead, part: UInt32(number),
            spill: fields.acknowledgedSequence)
        headers.headCRC = frame.write(to: start, at: piece.frameOffset, of: file.header)
        headers.recordCRC = record[RecordHeader.Fields.checksum]
        return headers
    }

    private func header(owner: BlobOwner) -> BlobHeader {
        let around = UInt64(BlobHeader.byteCount + ChunkGroup.byteCount(ofChunks: chunkCount))
        return BlobHeader(
            rawByteCount: rawByteCount, storedByteCount: payloadByteCount - around, chunkCount: UInt32(chunkCount),
            owner: owner, flags: flags)
    }
}
