import FaultlineDisk

/// Reads the blocks of a run in order, in large pieces, bypassing the cache, and verifies each.
struct BlockStream: ~Copyable {
    /// The buffer holds the largest block in any case.
    static let byteCountMax = 64 << 10 + 4096

    private let file: DiskFile
    private let header: FileHeader
    private let isIndex: Bool
    private let end: UInt64
    private var buffer: UnsafeMutableRawPointer
    private var capacity: Int
    /// The part of the file in the buffer.
    private var bufferOffset: UInt64
    private var bufferByteCount = 0
    /// The offset of the next block.
    private(set) var offset: UInt64
    private let growsBuffer: Bool

    /// A stream of the blocks of `file`, with that header, in a range that begins with a block.
    ///
    /// The first read takes `readByteCount` bytes; later ones are larger, up to `byteCountMax`.
    init(
        _ file: DiskFile, _ header: FileHeader, in range: Range<UInt64>, isIndex: Bool = false,
        readByteCount: Int = BlockStream.byteCountMax
    ) {
        self.file = file
        self.header = header
        self.isIndex = isIndex
        offset = range.lowerBound
        end = range.upperBound
        bufferOffset = range.lowerBound
        capacity = readByteCount
        growsBuffer = readByteCount < Self.byteCountMax
        buffer = BufferMemory.allocate(byteCount: readByteCount)
    }

    deinit {
        BufferMemory.deallocate(buffer, byteCount: capacity)
    }

    /// The next block, verified, valid until the next call; nil at the end.
    mutating func next() throws(LogError) -> UnsafeRawBufferPointer? {
        if offset == end { return nil }
        try fill(IndexBlock.headerByteCount)
        let byteCount = IndexBlock.byteCount(blockStart)
        try fill(byteCount)
        let block = UnsafeRawBufferPointer(start: blockStart, count: byteCount)
        if let problem = IndexBlock.problem(in: block, isIndex: isIndex, seed: header.seed(at: offset)) {
            throw LogError.damagedRun(file.path, at: offset, problem)
        }
        offset += UInt64(byteCount)
        return block
    }

    private var blockStart: UnsafeRawPointer { UnsafeRawPointer(buffer + Int(offset - bufferOffset)) }

    /// Fills the buffer with at least `byteCount` bytes of the next block.
    private mutating func fill(_ byteCount: Int) throws(LogError) {
        let present = bufferByteCount - Int(offset - bufferOffset)
        if present >= byteCount { return }
        guard end - offset >= UInt64(byteCount) else {
            throw LogError.damagedRun(file.path, at: offset, "the last block lies beyond the blocks' end")
        }
        if growsBuffer, capacity < Self.byteCountMax {
            let larger = min(max(capacity * 2, byteCount), Self.byteCountMax)
            let next = BufferMemory.allocate(byteCount: larger)
            next.copyMemory(from: blockStart, byteCount: max(present, 0))
            BufferMemory.deallocate(buffer, byteCount: capacity)
            buffer = next
            capacity = larger
        } else {
            UnsafeMutableRawPointer(buffer).copyMemory(from: blockStart, byteCount: max(present, 0))
        }
        bufferOffset = offset
        bufferByteCount = max(present, 0)
        let wanted = min(capacity - bufferByteCount, Int(min(end - bufferOffset, UInt64(Int32.max))) - bufferByteCount)
        let target = UnsafeMutableRawBufferPointer(start: buffer + bufferByteCount, count: wanted)
        do {
            bufferByteCount += try file.read(into: target, at: bufferOffset + UInt64(bufferByteCount))
        } catch {
            throw LogError(error)
        }
        guard bufferByteCount >= byteCount else {
            throw LogError.damagedRun(file.path, at: offset, "the file ends inside a block")
        }
    }
}
