import FaultlineDisk

/// The chunks of one blob, in memory: what each takes in the file, and where it begins.
struct ChunkTable {
    struct Chunk {
        /// From the start of the record's payload.
        let payloadOffset: UInt64
        let storedByteCount: Int
        let isCompressed: Bool
        let checksum: UInt32
    }

    let header: BlobHeader
    let placement: BlobPlacement
    private let entries: UnsafeRawBufferPointer
    private var walked = 0
    private var offset: UInt64

    /// Reads the table; nil if it contradicts itself or the placement.
    ///
    /// `bytes` is the payload up to the first chunk, verified by the record's checksum; it has to outlive the table.
    init?(_ bytes: UnsafeRawBufferPointer, placement: BlobPlacement) {
        guard bytes.count >= BlobHeader.fixedByteCount, let start = bytes.baseAddress,
            let header = BlobHeader(reading: start),
            header.tableEnd == bytes.count, header.rawByteCount == placement.rawByteCount,
            UInt64(header.tableEnd) + header.storedByteCount == placement.storedByteCount
        else { return nil }
        self.header = header
        self.placement = placement
        entries = UnsafeRawBufferPointer(rebasing: bytes[BlobHeader.fixedByteCount...])
        offset = UInt64(header.tableEnd)
    }

    /// Raw bytes of a chunk.
    func rawByteCount(_ index: Int) -> Int {
        let start = UInt64(index) * UInt64(Limits.chunkByteCount)
        return Int(min(UInt64(Limits.chunkByteCount), header.rawByteCount - start))
    }

    /// The chunk of that index; indexes asked for must rise.
    ///
    /// - Returns: Nil if the table contradicts itself.
    mutating func chunk(_ index: Int) -> Chunk? {
        guard let start = entries.baseAddress, index >= walked, index < Int(header.chunkCount) else { return nil }
        while walked < index {
            offset += UInt64(start.u32(walked * 8) & ~BlobHeader.chunkCompressed)
            walked += 1
        }
        let word = start.u32(index * 8)
        let stored = Int(word & ~BlobHeader.chunkCompressed)
        let isCompressed = word & BlobHeader.chunkCompressed != 0
        let raw = rawByteCount(index)
        guard isCompressed ? stored < raw : stored == raw, offset + UInt64(stored) <= placement.storedByteCount else {
            return nil
        }
        return Chunk(
            payloadOffset: offset, storedByteCount: stored, isCompressed: isCompressed,
            checksum: start.u32(index * 8 + 4))
    }
}
