import CLZ4
import FaultlineDisk

/// Writes one blob to the end of a blob segment, chunk by chunk; its headers come last.
///
/// Memory: a buffer of about 1 MiB and the chunk table. Nothing is synchronized: that is the commit's business. Whoever
/// gives the blob up leaves dead bytes.
struct BlobWriter: ~Copyable {
    private static let bufferByteCount = 1 << 20

    let segment: BlobSegment
    private let layout: BlobLayout
    private let frameOffset: UInt64
    private let chunkCapacity: Int
    private var entries = ByteWriter(byteCapacity: 1_024)
    private var chunkCount = 0
    private var rawByteCount: UInt64 = 0
    private var isCompressing: Bool
    private var isCompressed = false
    /// Payload bytes so far, the place of header and table included.
    private var payloadByteCount: UInt64

    private let buffer: UnsafeMutableRawPointer
    /// Payload bytes in the buffer begin here.
    private var bufferedFrom: UInt64
    private var buffered = 0

    /// Begins a blob at the segment's end.
    ///
    /// The chunk table in front of the blob has `chunkCapacity` entries, so at most so many chunks may come.
    init(_ segment: BlobSegment, chunkCapacity: Int, isCompressing: Bool) {
        self.segment = segment
        self.chunkCapacity = chunkCapacity
        self.isCompressing = isCompressing
        frameOffset = segment.end
        layout = BlobLayout(recordOffset: frameOffset + UInt64(FrameHeader.byteCount))
        payloadByteCount = UInt64(BlobHeader.fixedByteCount + chunkCapacity * BlobHeader.chunkEntryByteCount)
        bufferedFrom = payloadByteCount
        buffer = .allocate(byteCount: Self.bufferByteCount + Limits.chunkByteCount, alignment: 64)
    }

    deinit {
        buffer.deallocate()
    }

    /// Chunks that still fit.
    var roomForChunks: Int { chunkCapacity - chunkCount }

    /// Adds a chunk: 65,536 bytes, or fewer if it is the last.
    mutating func append(_ chunk: UnsafeRawBufferPointer) throws(LogError) {
        rawByteCount += UInt64(chunk.count)
        if isCompressing {
            // Worth it from an eighth on; the first chunk speaks for all.
            let limit = chunk.count - chunk.count / 8
            let count = LZ4_compress_default(
                chunk.baseAddress?.assumingMemoryBound(to: CChar.self),
                (buffer + buffered).assumingMemoryBound(to: CChar.self),
                Int32(chunk.count), Int32(limit))
            if count > 0, Int(count) <= limit, Int(count) < chunk.count {
                isCompressed = true
                let bytes = UnsafeRawBufferPointer(start: buffer + buffered, count: Int(count))
                note(bytes, flag: BlobHeader.chunkCompressed)
                buffered += Int(count)
                if buffered >= Self.bufferByteCount { try flush() }
                return
            }
            if chunkCount == 0 { isCompressing = false }
        }
        note(chunk, flag: 0)
        if let source = chunk.baseAddress { (buffer + buffered).copyMemory(from: source, byteCount: chunk.count) }
        buffered += chunk.count
        if buffered >= Self.bufferByteCount { try flush() }
    }

    /// Adds a chunk that is stored already, as it is.
    mutating func append(stored chunk: UnsafeRawBufferPointer, _ entry: ChunkTable.Chunk, rawByteCount: Int)
        throws(LogError)
    {
        self.rawByteCount += UInt64(rawByteCount)
        if entry.isCompressed { isCompressed = true }
        note(chunk, flag: entry.isCompressed ? BlobHeader.chunkCompressed : 0)
        if let source = chunk.baseAddress { (buffer + buffered).copyMemory(from: source, byteCount: chunk.count) }
        buffered += chunk.count
        if buffered >= Self.bufferByteCount { try flush() }
    }

    private mutating func note(_ stored: UnsafeRawBufferPointer, flag: UInt32) {
        precondition(chunkCount < chunkCapacity, "A blob gets no more chunks than its table has entries.")
        entries.append(UInt32(stored.count) | flag)
        entries.append(CRC32C.checksum(stored))
        chunkCount += 1
        payloadByteCount += UInt64(stored.count)
    }

    /// Writes what is buffered, around the headers between the pieces.
    private mutating func flush() throws(LogError) {
        var done = 0
        while done < buffered {
            let offset = bufferedFrom + UInt64(done)
            let count = min(buffered - done, Int(min(layout.contiguous(from: offset), UInt64(Int.max))))
            try write(UnsafeRawBufferPointer(start: buffer + done, count: count), at: layout.place(of: offset))
            done += count
        }
        bufferedFrom += UInt64(buffered)
        buffered = 0
    }

    private func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(LogError) {
        segment.furthest = max(segment.furthest, offset + UInt64(bytes.count))
        do {
            try segment.managed.file.write(bytes, at: offset)
        } catch {
            segment.hasFailed = true
            throw LogError(error, doing: "writing a blob")
        }
    }

    /// Writes the headers and moves the segment's end behind the blob.
    consuming func finish(id: RecordID, owner: BlobOwner) throws(LogError) -> BlobPlacement {
        let header = BlobHeader(
            rawByteCount: rawByteCount, storedByteCount: payloadByteCount - UInt64(headByteCount),
            chunkCount: UInt32(chunkCapacity),
            owner: owner, flags: isCompressed ? BlobHeader.flagCompressed : 0)
        entries.appendZeros(chunkCapacity * BlobHeader.chunkEntryByteCount - entries.byteCount)

        var head = ByteWriter(byteCapacity: FrameHeader.byteCount + RecordHeader.byteCount + headByteCount)
        head.appendZeros(FrameHeader.byteCount + RecordHeader.byteCount + BlobHeader.fixedByteCount)
        head.append(entries.bytes)
        guard let start = head.mutableBytes.baseAddress else { throw .tooLarge("A blob's header has no memory.") }
        let record = start + FrameHeader.byteCount
        header.write(to: record + RecordHeader.byteCount)
        RecordHeader.write(
            to: record, storedByteCount: Int(truncatingIfNeeded: payloadByteCount),
            rawByteCount: Int(truncatingIfNeeded: rawByteCount), table: TableID.blobs.rawValue, layout: 0, id: id,
            operation: .blob,
            flags: [])
        RecordHeader.seal(
            record, RecordHeader.byteCount + headByteCount, mask: segment.managed.recordMask(at: layout.recordOffset))
        let recordCRC = record.u32(0)

        // The padding is the tail of the last piece.
        while (bufferedFrom + UInt64(buffered)) & 7 != 0 {
            (buffer + buffered).storeBytes(of: 0, as: UInt8.self)
            buffered += 1
        }
        let pieceCount = (payloadByteCount - 1) / BlobLayout.pieceByteCount + 1
        var previousHead = segment.previousHead
        for piece in 0..<pieceCount {
            previousHead = try writeFrame(piece, of: pieceCount, id: id, &head, previousHead)
        }
        let placement = BlobPlacement(
            segment: segment.managed.number, offset: layout.recordOffset, rawByteCount: rawByteCount,
            storedByteCount: payloadByteCount, recordCRC: recordCRC, flags: header.flags)
        segment.end = layout.end(payloadByteCount: payloadByteCount)
        segment.previousHead = previousHead
        return placement
    }

    private var headByteCount: Int { BlobHeader.fixedByteCount + chunkCapacity * BlobHeader.chunkEntryByteCount }

    /// Writes the headers before one piece, with the piece itself if all of it is still in memory.
    private mutating func writeFrame(
        _ piece: UInt64, of pieceCount: UInt64, id: RecordID, _ head: inout ByteWriter, _ previousHead: UInt32
    ) throws(LogError) -> UInt32 {
        let pieceStart = piece * BlobLayout.pieceByteCount
        let pieceCount64 = min(BlobLayout.pieceByteCount, payloadByteCount - pieceStart)
        let offset = layout.place(of: pieceStart) - UInt64(FrameHeader.byteCount + RecordHeader.byteCount)
        var continuation = ByteWriter(byteCapacity: 128)
        if piece > 0 {
            continuation.appendZeros(FrameHeader.byteCount + RecordHeader.byteCount)
            if let start = continuation.mutableBytes.baseAddress {
                let record = start + FrameHeader.byteCount
                RecordHeader.write(
                    to: record, storedByteCount: Int(pieceCount64), rawByteCount: Int(pieceCount64),
                    table: TableID.blobs.rawValue,
                    layout: 0, id: id, operation: .blob, flags: [])
                RecordHeader.seal(
                    record, RecordHeader.byteCount,
                    mask: segment.managed.recordMask(at: offset + UInt64(FrameHeader.byteCount)))
            }
        }
        let bytes = piece > 0 ? continuation.mutableBytes : head.mutableBytes
        guard let start = bytes.baseAddress else { return previousHead }
        let frame = FrameHeader(
            kind: .blob, bodyByteCount: RecordHeader.byteCount + Int(pieceCount64).roundedUpTo8,
            headersCRC: CRC32C.checksum(start + FrameHeader.byteCount, RecordHeader.byteCount), recordCount: 1,
            flags: piece + 1 < pieceCount ? FrameHeader.flagContinued : 0, durable: segment.durable,
            previousHead: previousHead,
            part: UInt32(piece))
        let result = frame.write(to: start, at: offset, of: segment.managed.header)
        if piece == 0, pieceCount == 1, bufferedFrom == UInt64(headByteCount) {
            // A small blob is one write.
            head.append(UnsafeRawBufferPointer(start: buffer, count: buffered))
            buffered = 0
            try write(head.bytes, at: offset)
            return result
        }
        if buffered > 0 { try flush() }
        try write(UnsafeRawBufferPointer(bytes), at: offset)
        return result
    }
}
