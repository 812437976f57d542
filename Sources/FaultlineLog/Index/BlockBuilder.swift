import FaultlineDisk

/// Puts one block together: docs/FileFormat.md 13.1.
struct BlockBuilder: ~Copyable {
    private let start: UnsafeMutableRawPointer
    private let byteCountMax: Int
    /// A block takes as many entries whatever their size.
    private let entryCountMin: Int
    private(set) var byteCount = IndexBlock.headerByteCount
    private(set) var entryCount = 0

    /// Room that a builder allocates.
    static let memoryByteCount = IndexBlock.byteCountMax + 1

    init(byteCountMax: Int, entryCountMin: Int) {
        self.byteCountMax = byteCountMax
        self.entryCountMin = entryCountMin
        start = .allocate(byteCount: Self.memoryByteCount, alignment: 16)
    }

    deinit {
        start.deallocate()
    }

    /// Whether an entry with so many further key bytes may be appended; if not, the block is finished first.
    @inline(__always)
    func hasRoom(furtherByteCount: Int) -> Bool {
        entryCount < entryCountMin || byteCount &+ IndexBlock.entryHeaderByteCount &+ furtherByteCount <= byteCountMax
    }

    /// Appends an entry that has room.
    @inline(__always)
    mutating func append(
        key: UnsafeRawPointer, sharedByteCount: Int, furtherByteCount: Int, flags: UInt8, id: UInt64, sequence: UInt64
    ) {
        let target = start + byteCount
        let sizes = UInt32(truncatingIfNeeded: sharedByteCount) | UInt32(truncatingIfNeeded: furtherByteCount) &<< 16
        target.storeBytes(of: sizes.littleEndian, as: UInt32.self)
        target.storeBytes(of: flags, toByteOffset: 4, as: UInt8.self)
        target.storeBytes(of: id.littleEndian, toByteOffset: 5, as: UInt64.self)
        target.storeBytes(of: sequence.littleEndian, toByteOffset: 11, as: UInt64.self)
        (target + IndexBlock.entryHeaderByteCount).copyMemory(from: key + sharedByteCount, byteCount: furtherByteCount)
        byteCount &+= IndexBlock.entryHeaderByteCount &+ furtherByteCount
        entryCount &+= 1
    }

    /// Writes the header of the block, and begins another block.
    ///
    /// - Parameter seed: `FileHeader.seed` of the place where the block will stand.
    /// - Returns: The whole block; its bytes are valid until the next call.
    mutating func finish(seed: UInt32) -> UnsafeRawBufferPointer {
        start.storeBytes(
            of: UInt16(byteCount - IndexBlock.headerByteCount).littleEndian, toByteOffset: 4, as: UInt16.self)
        start.storeBytes(of: UInt16(entryCount).littleEndian, toByteOffset: 6, as: UInt16.self)
        start.storeBytes(of: CRC32C.checksum(start + 4, byteCount - 4, seed: seed).littleEndian, as: UInt32.self)
        let bytes = UnsafeRawBufferPointer(start: start, count: byteCount)
        byteCount = IndexBlock.headerByteCount
        entryCount = 0
        return bytes
    }
}
