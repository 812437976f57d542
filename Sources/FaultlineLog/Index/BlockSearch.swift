/// Looks for a key in a verified block, from the front, without putting a key together.
///
/// It knows how many bytes the wanted key has in common with the entry before. An entry that shares more than those with its predecessor
/// stands below the wanted key as that one did; one that shares fewer stands above; only where the numbers are equal are bytes compared.
/// So an entry costs a few instructions, and each byte of the wanted key is matched once.
struct BlockSearch {
    private let key: UnsafeRawPointer
    private let keyByteCount: Int
    private var next: UnsafeRawPointer
    private var remaining: Int
    private var matched = 0

    /// A search from the front of a verified block.
    @inline(__always)
    init(_ block: UnsafeRawPointer, key: UnsafeRawBufferPointer) {
        // An empty key has no address; nothing is read through this one.
        self.key = key.baseAddress ?? block
        keyByteCount = key.count
        next = block + IndexBlock.headerByteCount
        remaining = IndexBlock.entryCount(block)
    }

    enum Found {
        /// An entry with exactly the key; calling again finds the next one.
        case equal(IndexBlock.EntryHeader)
        /// The first entry above the key.
        case above(IndexBlock.EntryHeader)
        /// All entries have been passed.
        case end
    }

    /// The next entry that is not below the key.
    @inline(__always)
    mutating func nextNotBelow() -> Found {
        while remaining > 0 {
            remaining &-= 1
            let entry = IndexBlock.EntryHeader(next)
            let further = next + IndexBlock.entryHeaderByteCount
            next = further + entry.furtherByteCount
            if entry.sharedByteCount > matched { continue }
            if entry.sharedByteCount < matched { return .above(entry) }
            let limit = min(entry.furtherByteCount, keyByteCount &- matched)
            let common = KeyBytes.sharedByteCount(further, key + matched, limit)
            matched &+= common
            if common == entry.furtherByteCount {
                if matched == keyByteCount { return .equal(entry) }
                // The entry's key is the beginning of the wanted one.
                continue
            }
            if matched == keyByteCount { return .above(entry) }
            let entryByte = further.load(fromByteOffset: common, as: UInt8.self)
            if entryByte > key.load(fromByteOffset: matched, as: UInt8.self) { return .above(entry) }
        }
        return .end
    }
}
