import CLZ4
import FaultlineDisk

/// Reads ranges of blobs; each chunk is verified before a byte of it is handed out.
struct BlobReader: ~Copyable {
    private let id: RecordID
    private let placement: BlobPlacement
    private let managed: ManagedFile
    private let layout: BlobLayout
    private let head: UnsafeMutableRawBufferPointer
    private var table: ChunkTable
    private let stored: UnsafeMutableRawBufferPointer
    private let raw: UnsafeMutableRawBufferPointer

    /// Reads and verifies the blob's header and chunk table.
    init(_ id: RecordID, _ placement: BlobPlacement, _ managed: ManagedFile) throws(LogError) {
        self.id = id
        self.placement = placement
        self.managed = managed
        layout = BlobLayout(recordOffset: placement.offset)
        let fixed = RecordHeader.byteCount + BlobHeader.fixedByteCount
        let (chunkCount, tableEnd) = try Self.sizes(id, placement, managed)
        let head = UnsafeMutableRawBufferPointer.allocate(byteCount: RecordHeader.byteCount + tableEnd, alignment: 8)
        var isKept = false
        defer { if !isKept { head.deallocate() } }
        try managed.read(into: head, at: placement.offset, "reading a blob's chunk table")
        guard fixed <= head.count, let start = head.baseAddress, start.u32(0) == placement.recordCRC,
            CRC32C.checksum(start + 4, head.count - 4) ^ managed.recordMask(at: placement.offset) == start.u32(0),
            start.u16(12) == TableID.blobs.rawValue,
            UnsafeRawPointer(start).u48(16) == id,
            let table = ChunkTable(
                UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(head)[RecordHeader.byteCount...]),
                placement: placement),
            Int(table.header.chunkCount) == chunkCount
        else { throw Self.damaged(id, "has a header that does not verify", managed, placement.offset) }
        isKept = true
        self.head = head
        self.table = table
        stored = .allocate(byteCount: Limits.chunkByteCount, alignment: 64)
        raw = .allocate(byteCount: Limits.chunkByteCount, alignment: 64)
    }

    deinit {
        head.deallocate()
        stored.deallocate()
        raw.deallocate()
    }

    /// How many chunks the header speaks of, bounded before memory is taken for their table.
    private static func sizes(
        _ id: RecordID, _ placement: BlobPlacement, _ managed: ManagedFile
    ) throws(LogError) -> (chunkCount: Int, tableEnd: Int) {
        try withUnsafeTemporaryAllocation(
            byteCount: RecordHeader.byteCount + BlobHeader.fixedByteCount, alignment: 8
        ) { (bytes) throws(LogError) in
            try managed.read(into: bytes, at: placement.offset, "reading a blob's header")
            guard let start = bytes.baseAddress, let header = BlobHeader(reading: start + RecordHeader.byteCount),
                UInt64(header.tableEnd) <= placement.storedByteCount
            else { throw damaged(id, "has a header that does not verify", managed, placement.offset) }
            return (Int(header.chunkCount), header.tableEnd)
        }
    }

    /// Bytes of the blob.
    var byteCount: UInt64 { placement.rawByteCount }
    var header: BlobHeader { table.header }

    /// Reads a range; ranges of one reader must rise by whole chunks.
    mutating func read(_ range: Range<UInt64>, into target: UnsafeMutableRawBufferPointer) throws(LogError) {
        precondition(range.upperBound <= placement.rawByteCount, "The range lies inside the blob.")
        precondition(target.count == range.count, "The memory is as large as the range.")
        guard !range.isEmpty, let base = target.baseAddress else { return }
        let chunkByteCount = UInt64(Limits.chunkByteCount)
        var index = Int(range.lowerBound / chunkByteCount)
        let last = Int((range.upperBound - 1) / chunkByteCount)
        while index <= last {
            let chunk = try entry(index)
            let rawStart = UInt64(index) * chunkByteCount
            let rawCount = table.rawByteCount(index)
            let from = max(range.lowerBound, rawStart)
            let through = min(range.upperBound, rawStart + UInt64(rawCount))
            let place = base + Int(from - range.lowerBound)
            let isWhole = from == rawStart && Int(through - from) == rawCount
            if isWhole {
                try read(chunk, index, rawCount, into: UnsafeMutableRawBufferPointer(start: place, count: rawCount))
            } else {
                let whole = UnsafeMutableRawBufferPointer(rebasing: raw[0..<rawCount])
                try read(chunk, index, rawCount, into: whole)
                if let source = whole.baseAddress {
                    place.copyMemory(from: source + Int(from - rawStart), byteCount: Int(through - from))
                }
            }
            index += 1
        }
    }

    /// Reads a chunk as stored, verified.
    mutating func readStored(_ index: Int) throws(LogError) -> (bytes: UnsafeRawBufferPointer, chunk: ChunkTable.Chunk)
    {
        let chunk = try entry(index)
        let bytes = UnsafeMutableRawBufferPointer(rebasing: stored[0..<chunk.storedByteCount])
        try readStored(chunk, index, into: bytes)
        return (UnsafeRawBufferPointer(bytes), chunk)
    }

    /// Reads a chunk, and throws its bytes away.
    mutating func verifyChunk(_ index: Int) throws(LogError) {
        let chunk = try entry(index)
        let rawCount = table.rawByteCount(index)
        try read(chunk, index, rawCount, into: UnsafeMutableRawBufferPointer(rebasing: raw[0..<rawCount]))
    }

    private mutating func entry(_ index: Int) throws(LogError) -> ChunkTable.Chunk {
        guard let chunk = table.chunk(index) else {
            throw Self.damaged(id, "has a chunk table that contradicts itself", managed, placement.offset)
        }
        return chunk
    }

    private func read(
        _ chunk: ChunkTable.Chunk, _ index: Int, _ rawCount: Int, into target: UnsafeMutableRawBufferPointer
    ) throws(LogError) {
        guard chunk.isCompressed else { return try readStored(chunk, index, into: target) }
        let bytes = UnsafeMutableRawBufferPointer(rebasing: stored[0..<chunk.storedByteCount])
        try readStored(chunk, index, into: bytes)
        guard
            LZ4_decompress_safe(
                bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
                target.baseAddress?.assumingMemoryBound(to: CChar.self),
                Int32(bytes.count), Int32(rawCount)) == Int32(rawCount)
        else {
            throw Self.damaged(
                id, "has a chunk \(index) that cannot be decompressed", managed, layout.place(of: chunk.payloadOffset))
        }
    }

    private func readStored(
        _ chunk: ChunkTable.Chunk, _ index: Int, into target: UnsafeMutableRawBufferPointer
    ) throws(LogError) {
        var done = 0
        while done < target.count {
            let offset = chunk.payloadOffset + UInt64(done)
            let count = min(target.count - done, Int(min(layout.contiguous(from: offset), UInt64(Int.max))))
            try managed.read(
                into: UnsafeMutableRawBufferPointer(rebasing: target[done..<(done + count)]),
                at: layout.place(of: offset),
                "reading a blob")
            done += count
        }
        guard CRC32C.checksum(UnsafeRawBufferPointer(target)) == chunk.checksum else {
            throw Self.damaged(
                id, "has a chunk \(index) that does not verify", managed, layout.place(of: chunk.payloadOffset))
        }
    }

    private static func damaged(_ id: RecordID, _ what: String, _ managed: ManagedFile, _ offset: UInt64) -> LogError {
        .damaged("Blob \(id) \(what).", managed.path, offset)
    }
}
