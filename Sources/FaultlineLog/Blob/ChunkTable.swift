/// The chunks of one blob: the stored size and offset of each.
///
/// Memory: one group of the table, the one read last.
struct ChunkTable: ~Copyable {
    struct Chunk {
        /// From the start of the blob's payload.
        let payloadOffset: UInt64
        let storedByteCount: Int
        let isCompressed: Bool
        let checksum: UInt32
    }

    let count: Int
    private let rawByteCount: UInt64
    /// The payload offset of the table, behind the last chunk.
    private let start: UInt64
    private let bytes: UnsafeMutableRawPointer
    private var group = -1
    /// The chunks of the group whose sizes are summed up in `offset`.
    private var walked = 0
    private var offset: UInt64 = 0

    /// Whether chunks and table of these sizes can fill a payload of this size.
    static func isPossible(_ placement: BlobPlacement) -> Bool {
        guard placement.rawByteCount <= Limits.blobByteCountMax else { return false }
        let table = ChunkGroup.byteCount(ofChunks: ChunkGroup.chunkCount(ofBytes: placement.rawByteCount))
        let around = UInt64(BlobHeader.byteCount + table)
        return placement.storedByteCount >= around && placement.storedByteCount - around <= placement.rawByteCount
    }

    /// The table of a blob with a possible placement.
    init(_ placement: BlobPlacement) {
        rawByteCount = placement.rawByteCount
        count = ChunkGroup.chunkCount(ofBytes: rawByteCount)
        start = placement.storedByteCount - UInt64(ChunkGroup.byteCount(ofChunks: count))
        bytes = .allocate(byteCount: ChunkGroup.byteCountMax, alignment: 8)
    }

    deinit {
        bytes.deallocate()
    }

    /// Raw bytes of a chunk.
    func rawByteCount(_ index: Int) -> Int {
        Int(min(UInt64(Limits.chunkByteCount), rawByteCount - UInt64(index) * UInt64(Limits.chunkByteCount)))
    }

    /// The chunk with an index.
    ///
    /// - Returns: Nil if the table does not verify or contradicts itself.
    /// - Complexity: One read if the previous chunk was of another group.
    mutating func chunk(_ index: Int, of blob: BlobBytes) throws(LogError) -> Chunk? {
        let (group, place) = (index / ChunkGroup.chunkCountMax, index % ChunkGroup.chunkCountMax)
        if group != self.group {
            guard try load(group, of: blob) else { return nil }
        } else if place < walked {
            rewind()
        }
        while walked < place {
            offset += UInt64(word(walked) & ~ChunkGroup.flagCompressed)
            walked += 1
        }
        let isCompressed = word(place) & ChunkGroup.flagCompressed != 0
        let stored = Int(word(place) & ~ChunkGroup.flagCompressed)
        let raw = rawByteCount(index)
        guard isCompressed ? stored < raw : stored == raw, offset >= UInt64(BlobHeader.byteCount), offset <= start,
            UInt64(stored) <= start - offset
        else { return nil }
        return Chunk(
            payloadOffset: offset, storedByteCount: stored, isCompressed: isCompressed,
            checksum: bytes.u32(ChunkGroup.headerByteCount + place * ChunkGroup.entryByteCount + 4))
    }

    private func word(_ place: Int) -> UInt32 {
        bytes.u32(ChunkGroup.headerByteCount + place * ChunkGroup.entryByteCount)
    }

    private mutating func rewind() {
        walked = 0
        offset = bytes[ChunkGroup.Fields.firstChunk]
    }

    private mutating func load(_ group: Int, of blob: BlobBytes) throws(LogError) -> Bool {
        self.group = -1
        let first = group * ChunkGroup.chunkCountMax
        let byteCount = ChunkGroup.byteCount(ofChunks: min(count - first, ChunkGroup.chunkCountMax))
        let place = start + UInt64(group * ChunkGroup.byteCountMax)
        try blob.read(into: UnsafeMutableRawBufferPointer(start: bytes, count: byteCount), at: place)
        guard ChunkGroup.isValid(bytes, byteCount, seed: blob.seed(at: place)) else { return false }
        self.group = group
        rewind()
        return true
    }
}
