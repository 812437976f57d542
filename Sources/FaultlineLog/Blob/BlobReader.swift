import CLZ4
import FaultlineDisk

/// Reads ranges of blobs; verifies each chunk before it returns a byte of it.
///
/// The placement and one group of the chunk table locate a range. Only salvage needs the blob's header.
package struct BlobReader: ~Copyable {
    private let id: RecordID
    private let placement: BlobPlacement
    private let blob: BlobBytes
    private var table: ChunkTable
    private let stored: UnsafeMutableRawBufferPointer
    private let raw: UnsafeMutableRawBufferPointer

    /// Prepares a reader without reading.
    ///
    /// - Throws: `.damaged` if the placement contradicts itself.
    package init(_ id: RecordID, _ placement: BlobPlacement, _ managed: ManagedFile) throws(LogError) {
        guard ChunkTable.isPossible(placement) else {
            throw managed.noting(
                .damaged("Blob \(id) has a placement that contradicts itself.", managed.path, placement.offset))
        }
        self.id = id
        self.placement = placement
        blob = BlobBytes(managed: managed, layout: BlobLayout(recordOffset: placement.offset))
        table = ChunkTable(placement)
        stored = BufferMemory.allocateBuffer(byteCount: Limits.chunkByteCount)
        raw = BufferMemory.allocateBuffer(byteCount: Limits.chunkByteCount)
    }

    deinit {
        BufferMemory.deallocate(stored)
        BufferMemory.deallocate(raw)
    }

    /// The file that the blob lies in.
    var path: String { blob.managed.path }

    /// Bytes of the blob.
    var byteCount: UInt64 { placement.rawByteCount }

    var chunkCount: Int { table.count }

    /// Raw bytes of a chunk.
    func rawByteCount(_ index: Int) -> Int { table.rawByteCount(index) }

    /// Reads a range.
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

    /// Reads and verifies a chunk in its stored form.
    mutating func readStored(_ index: Int) throws(LogError) -> (bytes: UnsafeRawBufferPointer, chunk: ChunkTable.Chunk)
    {
        let chunk = try entry(index)
        let bytes = UnsafeMutableRawBufferPointer(rebasing: stored[0..<chunk.storedByteCount])
        try readStored(chunk, index, into: bytes)
        return (UnsafeRawBufferPointer(bytes), chunk)
    }

    /// Reads and verifies the whole blob, with its frames and header, and discards the bytes.
    package mutating func verify() throws(LogError) {
        try verifyHeader()
        try BlobFrames(id: id, placement: placement, blob: blob).verify()
        for index in 0..<table.count {
            let chunk = try entry(index)
            let rawCount = table.rawByteCount(index)
            try read(chunk, index, rawCount, into: UnsafeMutableRawBufferPointer(rebasing: raw[0..<rawCount]))
        }
    }

    /// The object that the blob was written for, from the verified header.
    func owner() throws(LogError) -> BlobOwner { try readHeader().owner }

    private func verifyHeader() throws(LogError) {
        _ = try readHeader()
    }

    private func readHeader() throws(LogError) -> BlobHeader {
        let byteCount = RecordHeader.byteCount + BlobHeader.byteCount
        let header: BlobHeader? = try withUnsafeTemporaryAllocation(byteCount: byteCount, alignment: 8) {
            (bytes) throws(LogError) in
            try blob.managed.read(into: bytes, at: placement.offset, "reading a blob's header")
            guard let start = UnsafeRawPointer(bytes.baseAddress) else { return nil }
            let binding = blob.managed.recordBinding(at: placement.offset)
            guard start[RecordHeader.Fields.checksum] == placement.recordCRC,
                start[RecordHeader.Fields.table] == TableID.blobs.rawValue,
                let header = BlobHeader(verifying: start, id: id, binding: binding)
            else { return nil }
            let isPlaced =
                header.rawByteCount == placement.rawByteCount && header.payloadByteCount == placement.storedByteCount
            return isPlaced ? header : nil
        }
        guard let header else { throw damaged("has a header that does not verify", placement.offset) }
        return header
    }

    private mutating func entry(_ index: Int) throws(LogError) -> ChunkTable.Chunk {
        guard let chunk = try table.chunk(index, of: blob) else {
            throw damaged("has a chunk table that does not verify", placement.offset)
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
        else { throw damaged("has a chunk \(index) that cannot be decompressed", place(of: chunk)) }
    }

    private func readStored(
        _ chunk: ChunkTable.Chunk, _ index: Int, into target: UnsafeMutableRawBufferPointer
    ) throws(LogError) {
        try blob.read(into: target, at: chunk.payloadOffset)
        guard CRC32C.checksum(UnsafeRawBufferPointer(target)) == chunk.checksum else {
            throw damaged("has a chunk \(index) that does not verify", place(of: chunk))
        }
    }

    private func place(of chunk: ChunkTable.Chunk) -> UInt64 { blob.layout.place(of: chunk.payloadOffset) }

    private func damaged(_ what: String, _ offset: UInt64) -> LogError {
        blob.managed.noting(.damaged("Blob \(id) \(what).", blob.managed.path, offset))
    }
}
