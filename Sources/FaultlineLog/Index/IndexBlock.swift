import FaultlineDisk

/// The form of a block: docs/FileFormat.md 13.1.
///
/// Header: CRC32C of everything after it, continued from the seed of the block's place, 4, bytes of entries u16,
/// entries u16. Entry: key bytes shared with the entry before u16, further key bytes u16, flags u8, identifier u48,
/// sequence number u64, the further key bytes. In index blocks the identifier is a block's size and the sequence number
/// its offset.
enum IndexBlock {
    static let headerByteCount = 8
    static let entryHeaderByteCount = 19
    static let flagDelete: UInt8 = 1
    /// Of a block of entries, unless one entry is larger.
    static let entryBlockByteCountMax = 1024
    /// Of an index block, unless two entries are larger.
    static let indexBlockByteCountMax = 1024
    /// What the 16-bit size can say.
    static let byteCountMax = headerByteCount + 0xFFFF
    static let idMax: UInt64 = 1 << 48 - 1

    /// What an entry's header says.
    struct EntryHeader {
        let sharedByteCount: Int
        let furtherByteCount: Int
        let flags: UInt8
        let id: UInt64
        let sequence: UInt64

        /// Reads the header at `start`, where 19 bytes must be.
        @inline(__always)
        init(_ start: UnsafeRawPointer) {
            let sizes = UInt32(littleEndian: start.loadUnaligned(as: UInt32.self))
            sharedByteCount = Int(sizes & 0xFFFF)
            furtherByteCount = Int(sizes &>> 16)
            flags = start.load(fromByteOffset: 4, as: UInt8.self)
            // Six bytes, and two of the sequence number.
            id = UInt64(littleEndian: start.loadUnaligned(fromByteOffset: 5, as: UInt64.self)) & IndexBlock.idMax
            sequence = UInt64(littleEndian: start.loadUnaligned(fromByteOffset: 11, as: UInt64.self))
        }

        @inline(__always) var isDelete: Bool { flags & IndexBlock.flagDelete != 0 }
        @inline(__always) var keyByteCount: Int { sharedByteCount &+ furtherByteCount }
        /// Header and further key bytes.
        @inline(__always) var byteCount: Int { IndexBlock.entryHeaderByteCount &+ furtherByteCount }
    }

    /// The size of the block whose header is at `start`, header included.
    @inline(__always)
    static func byteCount(_ start: UnsafeRawPointer) -> Int {
        headerByteCount &+ Int(UInt16(littleEndian: start.loadUnaligned(fromByteOffset: 4, as: UInt16.self)))
    }

    @inline(__always)
    static func entryCount(_ start: UnsafeRawPointer) -> Int {
        Int(UInt16(littleEndian: start.loadUnaligned(fromByteOffset: 6, as: UInt16.self)))
    }

    /// The key of a verified block's first entry, which stands there whole.
    static func firstKey(_ block: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        guard let start = block.baseAddress else { return block }
        let entry = EntryHeader(start + headerByteCount)
        return UnsafeRawBufferPointer(
            start: start + headerByteCount + entryHeaderByteCount, count: entry.furtherByteCount)
    }

    /// Checks everything that readers of a block rely on, so that they need not: checksum, sizes, order, and that each
    /// entry shares as many bytes as it can.
    ///
    /// `seed` is `FileHeader.seed` of the block's place.
    ///
    /// - Returns: What is wrong, nil if nothing is.
    static func problem(in block: UnsafeRawBufferPointer, isIndex: Bool, seed: UInt32) -> String? {
        guard let start = block.baseAddress, block.count >= headerByteCount else {
            return "the block ends inside its header"
        }
        guard byteCount(start) == block.count else {
            return "the block's size is \(byteCount(start)), expected \(block.count)"
        }
        let expected = UInt32(littleEndian: start.loadUnaligned(as: UInt32.self))
        let found = CRC32C.checksum(start + 4, block.count - 4, seed: seed)
        guard expected == found else { return "the block's checksum is \(found), expected \(expected)" }
        // A key's bytes all stand in the block, so this is room for every key.
        return withUnsafeTemporaryAllocation(byteCount: block.count, alignment: 8) { key in
            problem(in: block, key: key.baseAddress.unsafelyUnwrapped, isIndex: isIndex)
        }
    }

    private static func problem(in block: UnsafeRawBufferPointer, key: UnsafeMutableRawPointer, isIndex: Bool)
        -> String?
    {
        guard let start = block.baseAddress else { return "the block is empty" }
        let count = entryCount(start)
        guard count > 0 else { return "the block has no entries" }
        var offset = headerByteCount
        var keyByteCount = 0
        var last: (id: UInt64, sequence: UInt64) = (0, 0)
        for ordinal in 0..<count {
            guard block.count &- offset >= entryHeaderByteCount else { return "entry \(ordinal) lies beyond the block" }
            let entry = EntryHeader(start + offset)
            guard entry.byteCount <= block.count &- offset else {
                return "the key of entry \(ordinal) lies beyond the block"
            }
            guard entry.sharedByteCount <= keyByteCount, entry.keyByteCount <= IndexDefinition.keyByteCountMax else {
                return "entry \(ordinal) has a key of impossible size"
            }
            guard entry.flags & ~flagDelete == 0, !isIndex || entry.flags == 0 else {
                return "entry \(ordinal) has unknown flags"
            }
            let further = start + offset + entryHeaderByteCount
            if ordinal > 0 {
                let isSame = entry.sharedByteCount == keyByteCount && entry.furtherByteCount == 0
                let isAscending =
                    if isSame {
                        isIndex || entry.id > last.id || (entry.id == last.id && entry.sequence < last.sequence)
                    } else if entry.sharedByteCount == keyByteCount {
                        true
                    } else {
                        entry.furtherByteCount > 0
                            && further.load(as: UInt8.self)
                                > key.load(fromByteOffset: entry.sharedByteCount, as: UInt8.self)
                    }
                guard isAscending else { return "entry \(ordinal) is out of order" }
            }
            (key + entry.sharedByteCount).copyMemory(from: further, byteCount: entry.furtherByteCount)
            keyByteCount = entry.keyByteCount
            last = (entry.id, entry.sequence)
            offset &+= entry.byteCount
        }
        return offset == block.count ? nil : "there are bytes behind the last entry"
    }
}
