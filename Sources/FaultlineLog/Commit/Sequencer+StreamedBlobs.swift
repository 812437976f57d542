import FaultlineDisk

extension Sequencer {
    /// Writes a blob whose bytes come piece by piece, and exactly `byteCount` of them unless that is nil.
    func putBlob(
        byteCount: UInt64?, owner: BlobOwner, _ next: (UnsafeMutableRawBufferPointer) throws -> Int
    ) throws -> RecordID {
        if let byteCount { try checkBlob(byteCount) }
        let segment = try openBlobSegment()
        var writer = BlobWriter(segment, isCompressing: options.isCompressingBlobs)
        let chunk = BufferMemory.allocateBuffer(byteCount: Limits.chunkByteCount)
        defer { BufferMemory.deallocate(chunk) }
        var total: UInt64 = 0
        do {
            while true {
                let count = try Self.fill(chunk, next)
                if count == 0 { break }
                total += UInt64(count)
                if let byteCount, total > byteCount {
                    throw LogError.tooLarge("A blob of \(byteCount) bytes was announced, but more came.")
                }
                try checkBlob(total)
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

    /// Fills a chunk, or less if the stream ends.
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
