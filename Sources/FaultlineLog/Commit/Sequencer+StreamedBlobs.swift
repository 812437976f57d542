import FaultlineDisk

extension Sequencer {
    /// Writes a blob whose bytes come piece by piece.
    ///
    /// Where the length is not known, the chunk table gets room for 64 MiB; when that is not enough, the chunks so far
    /// move to a place behind a table twice as large. So a stream is written twice at most, counted over all.
    func putBlob(
        byteCount: UInt64?, owner: BlobOwner, _ next: (UnsafeMutableRawBufferPointer) throws -> Int
    ) throws -> RecordID {
        if let byteCount { try checkBlob(byteCount) }
        let segment = try openBlobSegment()
        var capacity = byteCount.map(Self.chunkCount) ?? 1_024
        var writer = BlobWriter(segment, chunkCapacity: capacity, isCompressing: options.isCompressingBlobs)
        let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: Limits.chunkByteCount, alignment: 64)
        defer { chunk.deallocate() }
        var total: UInt64 = 0
        do {
            while true {
                let count = try Self.fill(chunk, next)
                if count == 0 { break }
                total += UInt64(count)
                if let byteCount, total > byteCount {
                    throw LogError.tooLarge("A blob of \(byteCount) bytes was announced, but more came.")
                }
                if writer.roomForChunks == 0 {
                    try checkBlob(total)
                    capacity = min(capacity * 2, Limits.chunkCountMax)
                    writer = try move(writer, capacity: capacity, rawByteCount: total - UInt64(count), owner: owner)
                }
                try writer.append(UnsafeRawBufferPointer(rebasing: chunk[0..<count]))
                if count < chunk.count { break }
            }
            if let byteCount, total < byteCount {
                throw LogError(.missing, "A blob of \(byteCount) bytes was announced, but only \(total) came.")
            }
        } catch {
            segment.skipGivenUpBytes()
            throw error
        }
        return try place(writer, owner: owner)
    }

    /// Begins the blob again with a larger table, with the chunks written so far.
    private func move(
        _ writer: consuming BlobWriter, capacity: Int, rawByteCount: UInt64, owner: BlobOwner
    ) throws(LogError) -> BlobWriter {
        let segment = writer.segment
        let placement = try writer.finish(id: 0, owner: owner)
        var reader = try BlobReader(0, placement, segment.managed)
        var larger = BlobWriter(segment, chunkCapacity: capacity, isCompressing: options.isCompressingBlobs)
        for index in 0..<Self.chunkCount(rawByteCount) {
            let (bytes, chunk) = try reader.readStored(index)
            try larger.append(stored: bytes, chunk, rawByteCount: Limits.chunkByteCount)
        }
        return larger
    }

    /// Fills a chunk as far as the stream goes.
    private static func fill(
        _ chunk: UnsafeMutableRawBufferPointer, _ next: (UnsafeMutableRawBufferPointer) throws -> Int
    ) throws -> Int {
        var count = 0
        while count < chunk.count {
            let got = try next(UnsafeMutableRawBufferPointer(rebasing: chunk[count...]))
            precondition(got >= 0 && got <= chunk.count - count, "A stream gives no more bytes than there is room for.")
            if got == 0 { break }
            count += got
        }
        return count
    }
}
