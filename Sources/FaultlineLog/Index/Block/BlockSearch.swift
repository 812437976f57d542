/// Searches a verified block for a key, from the front, without assembling keys.
///
/// It knows how many bytes the wanted key shares with the previous entry. An entry that shares more bytes with its
/// predecessor lies below the wanted key, as the predecessor did. An entry that shares fewer lies above. Bytes are
/// compared only where the numbers are equal. So most entries cost one look at their adjacent lengths, and each byte of
/// the wanted key is matched once.
struct BlockSearch {
    let block: BlockEntries
    /// The further key bytes of the entry found last.
    private(set) var further: UnsafeRawPointer
    private let key: UnsafeRawPointer
    private let keyByteCount: Int
    private var nextLengths: UnsafeRawPointer
    private var nextFurther: UnsafeRawPointer
    private var remaining: Int
    private var matched = 0

    /// A search from the front of a verified block.
    @inline(__always)
    init(_ start: UnsafeRawPointer, key: UnsafeRawBufferPointer) {
        block = BlockEntries(start)
        // An empty key has no address; nothing is read through this one.
        self.key = key.baseAddress ?? start
        keyByteCount = key.count
        nextLengths = block.lengthArray
        nextFurther = block.keys
        further = nextFurther
        remaining = block.count
    }

    /// An entry by its ordinal in the block.
    enum Found {
        /// An entry with exactly the key; calling again finds the next one.
        case equal(Int)
        /// The first entry above the key.
        case above(Int)
        /// All entries have been passed.
        case end
    }

    /// The next entry that is not below the key.
    ///
    /// The bytes that it shares with its predecessor are also the beginning of the wanted key.
    @inline(__always)
    mutating func nextNotBelow() -> Found {
        block.hasLongLengths ? nextNotBelow(UInt16.self) : nextNotBelow(UInt8.self)
    }

    /// The same for lengths of one width, so that no step tests the width.
    @inline(__always)
    private mutating func nextNotBelow<Width: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
        _ width: Width.Type
    ) -> Found {
        // In registers while it runs.
        var place = nextLengths, next = nextFurther, remaining = remaining, matched = matched
        defer {
            nextLengths = place
            nextFurther = next
            self.remaining = remaining
            self.matched = matched
        }
        while remaining > 0 {
            let lengths = BlockEntries.Lengths(place, as: width)
            let entry = next
            place += 2 &* MemoryLayout<Width>.size
            next += lengths.further
            remaining &-= 1
            if lengths.shared > matched { continue }
            further = entry
            let ordinal = block.count &- remaining &- 1
            if lengths.shared < matched { return .above(ordinal) }
            // In most cases the first byte decides.
            if lengths.further > 0, matched < keyByteCount {
                let entryByte = entry.u8(0), keyByte = key.u8(matched)
                if entryByte < keyByte { continue }
                if entryByte > keyByte { return .above(ordinal) }
            }
            let limit = min(lengths.further, keyByteCount &- matched)
            let common = KeyBytes.sharedByteCount(entry, key + matched, limit)
            matched &+= common
            if common == lengths.further {
                if matched == keyByteCount { return .equal(ordinal) }
                // The entry's key is a prefix of the wanted one.
                continue
            }
            if matched == keyByteCount || entry.u8(common) > key.u8(matched) { return .above(ordinal) }
        }
        return .end
    }
}
