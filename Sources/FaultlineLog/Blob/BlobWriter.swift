import CLZ4
import FaultlineDisk

/// Writes one blob to the end of a blob segment, chunk by chunk; the chunk table follows, and the headers come last.
///
/// Memory: a buffer of about 1 MiB, and 8 bytes for each chunk of 64 KiB. Nothing is synchronized: the commit does
/// that. An abandoned blob leaves dead bytes.
struct BlobWriter: ~Copyable {
    private static let bufferByteCount = 1 << 20

    let segment: BlobSegment
    private let layout: BlobLayout
    private var entries = ByteWriter(byteCapacity: 1_024)
    private var chunkCount = 0
    private var rawByteCount: UInt64 = 0
    private var isCompressing: Bool
    private var isCompressed = false
    /// Payload bytes so far, with room for the header.
    private var payloadByteCount: UInt64

    private let buffer: UnsafeMutableRawPointer
    /// The payload offset of the buffer's first byte.
    private var bufferedFrom: UInt64
    private var buffered = 0

    /// Begins a blob at the segment's end.
    init(_ segment: BlobSegment, isCompressing: Bool) {
        self.segment = segment
        self.isCompressing = isCompressing
        layout = BlobLayout(recordOffset: segment.end + UInt64(FrameHeader.byteCount))
        payloadByteCount = UInt64(BlobHeader.byteCount)
        bufferedFrom = payloadByteCount
        buffer = BufferMemory.allocate(byteCount: Self.bufferByteCount + Limits.chunkByteCount)
    }

    deinit {
        BufferMemory.deallocate(buffer, byteCount: Self.bufferByteCount + Limits.chunkByteCount)
    }

    /// Adds a chunk: 65,536 bytes, or fewer if it is the last.
    mutating func append(_ chunk: UnsafeRawBufferPointer) throws(LogError) {
        rawByteCount += UInt64(chunk.count)
        if isCompressing {
            // Worthwhile if it saves an eighth; the first chunk decides for all.
            let limit = chunk.count - chunk.count / 8
            let count = LZ4_compress_default(
                chunk.baseAddress?.assumingMemoryBound(to: CChar.self),
                (buffer + buffered).assumingMemoryBound(to: CChar.self),
                Int32(chunk.count), Int32(limit))
            if count > 0, Int(count) <= limit, Int(count) < chunk.count {
                isCompressed = true
                let bytes = UnsafeRawBufferPointer(start: buffer + buffered, count: Int(count))
                note(bytes, flag: ChunkGroup.flagCompressed)
                buffered += Int(count)
                if buffered >= Self.bufferByteCount { try flush() }
                return
            }
            if chunkCount == 0 { isCompressing = false }
        }
        try take(chunk, flag: 0)
    }

    /// Adds all chunks of another blob in their stored form.
    ///
    /// - Throws: Errors of reading the other blob, with its file; disk errors.
    mutating func append(all reader: inout BlobReader) throws(LogError) {
        for index in 0..<reader.chunkCount { _ = try append(chunk: index, of: &reader) }
    }

    /// Adds a chunk of another blob in its stored form.
    ///
    /// - Returns: The bytes that it takes.
    /// - Throws: Errors of reading the other blob, with its file; disk errors.
    mutating func append(chunk index: Int, of reader: inout BlobReader) throws(LogError) -> UInt64 {
        let (bytes, chunk) = try reader.readStored(index)
        rawByteCount += UInt64(reader.rawByteCount(index))
        if chunk.isCompressed { isCompressed = true }
        try take(bytes, flag: chunk.isCompressed ? ChunkGroup.flagCompressed : 0)
        return UInt64(bytes.count)
    }

    /// Records a chunk in its stored form, and copies it into the buffer.
    private mutating func take(_ stored: UnsafeRawBufferPointer, flag: UInt32) throws(LogError) {
        note(stored, flag: flag)
        if let source = stored.baseAddress { (buffer + buffered).copyMemory(from: source, byteCount: stored.count) }
        buffered += stored.count
        if buffered >= Self.bufferByteCount { try flush() }
    }

    private mutating func note(_ stored: UnsafeRawBufferPointer, flag: UInt32) {
        precondition(chunkCount < Limits.chunkCountMax, "A blob's size is checked before its chunks come.")
        entries.append(UInt32(stored.count) | flag)
        entries.append(CRC32C.checksum(stored))
        chunkCount += 1
        payloadByteCount += UInt64(stored.count)
    }

    /// Writes the buffered bytes, and skips the headers between the pieces.
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
        try segment.room.make(through: offset + UInt64(bytes.count), in: segment.managed.file)
        segment.furthest = max(segment.furthest, offset + UInt64(bytes.count))
        try segment.write(bytes, at: offset)
    }

    /// Adds the chunk table, group by group.
    private mutating func appendTable() throws(LogError) {
        guard let source = entries.bytes.baseAddress else { return }
        var firstChunk = UInt64(BlobHeader.byteCount)
        var first = 0
        while first < chunkCount {
            let count = min(chunkCount - first, ChunkGroup.chunkCountMax)
            let byteCount = ChunkGroup.byteCount(ofChunks: count)
            let group = buffer + buffered
            let own = source + first * ChunkGroup.entryByteCount
            (group + ChunkGroup.headerByteCount).copyMemory(
                from: own, byteCount: count * ChunkGroup.entryByteCount)
            ChunkGroup.seal(
                group, byteCount, firstChunk: firstChunk,
                seed: segment.managed.header.seed(at: layout.place(of: payloadByteCount)))
            for index in 0..<count {
                firstChunk += UInt64(own.u32(index * ChunkGroup.entryByteCount) & ~ChunkGroup.flagCompressed)
            }
            buffered += byteCount
            payloadByteCount += UInt64(byteCount)
            first += count
            if buffered >= Self.bufferByteCount { try flush() }
        }
    }

    /// Writes chunk table and headers, and moves the segment's end behind the blob.
    consuming func finish(id: RecordID, owner: BlobOwner) throws(LogError) -> BlobPlacement {
        let body = try close()
        let fields = segment.headerFields(id: id, owner: owner, durable: segment.durable)
        var previousHead = segment.previousHead
        var recordCRC: UInt32 = 0
        for number in 0..<body.pieceCount {
            var headers = body.headers(before: number, fields, previousHead: previousHead, in: segment.managed)
            previousHead = headers.headCRC
            if number == 0 { recordCRC = headers.recordCRC }
            try write(&headers, before: number, of: body)
        }
        segment.end = body.end
        segment.previousHead = previousHead
        return body.placement(in: segment.managed.number, recordCRC: recordCRC)
    }

    /// Writes the chunk table, leaves out the headers, and moves the segment's end behind the blob.
    consuming func finishWithoutHeaders() throws(LogError) -> BlobBody {
        let body = try close()
        try flush()
        segment.end = body.end
        return body
    }

    /// Adds chunk table and padding, which is the tail of the last piece.
    private mutating func close() throws(LogError) -> BlobBody {
        try appendTable()
        while (bufferedFrom + UInt64(buffered)) & 7 != 0 {
            (buffer + buffered).storeBytes(of: 0, as: UInt8.self)
            buffered += 1
        }
        return BlobBody(
            layout: layout, rawByteCount: rawByteCount, payloadByteCount: payloadByteCount, chunkCount: chunkCount,
            isCompressed: isCompressed)
    }

    /// Writes the headers before one piece, with the piece itself if all of it is still in memory.
    private mutating func write(
        _ headers: inout BlobBody.Headers, before number: UInt64, of body: BlobBody
    ) throws(LogError) {
        let piece = body.layout.piece(number, payloadByteCount: body.payloadByteCount)
        if number == 0, piece.isLast, bufferedFrom == UInt64(BlobHeader.byteCount) {
            // A small blob is one write.
            headers.bytes.append(UnsafeRawBufferPointer(start: buffer, count: buffered))
            buffered = 0
            return try write(headers.bytes.bytes, at: piece.frameOffset)
        }
        if buffered > 0 { try flush() }
        try write(headers.bytes.bytes, at: piece.frameOffset)
    }
}
