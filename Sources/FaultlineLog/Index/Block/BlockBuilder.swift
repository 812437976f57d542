import FaultlineDisk

/// Builds one block: docs/FileFormat.md 13.1.
///
/// The widths of the arrays are known only at the block's end. Until then the numbers of the entries wait in a list,
/// and their further key bytes behind the room that arrays can take.
struct BlockBuilder: ~Copyable {
    private struct Entry {
        var sharedByteCount: UInt16
        var furtherByteCount: UInt16
        var id: UInt64
        var sequence: UInt64
        var isDelete: Bool
    }

    /// The values that determine the widths of a block's arrays.
    private struct Extent {
        var longestLength = 0
        var smallestID = UInt64.max
        var largestID: UInt64 = 0
        var smallestSequence = UInt64.max
        var largestSequence: UInt64 = 0
        var deletes: UInt64 = 0

        @inline(__always)
        mutating func add(_ lengths: BlockEntries.Lengths, id: UInt64, sequence: UInt64, isDelete: Bool) {
            longestLength = max(longestLength, lengths.shared, lengths.further)
            smallestID = min(smallestID, id)
            largestID = max(largestID, id)
            smallestSequence = min(smallestSequence, sequence)
            largestSequence = max(largestSequence, sequence)
            if isDelete { deletes = 1 }
        }

        @inline(__always) var hasLongLengths: Bool { longestLength > 0xFF }
        @inline(__always) var idByteCount: Int { Self.byteCount(largestID &- smallestID) }
        @inline(__always) var sequenceByteCount: Int {
            Self.byteCount((largestSequence &- smallestSequence) &<< 1 | deletes)
        }
        @inline(__always) var entryByteCount: Int {
            (hasLongLengths ? 4 : 2) &+ idByteCount &+ sequenceByteCount
        }

        /// The bytes that a number needs; none for 0.
        @inline(__always)
        private static func byteCount(_ number: UInt64) -> Int { (71 &- number.leadingZeroBitCount) / 8 }
    }

    private let byteCountMax: Int
    /// A block accepts this many entries of any size.
    private let entryCountMin: Int
    private let entries: UnsafeMutablePointer<Entry>
    /// Room for a header, the widest arrays, and the further key bytes behind them.
    private let start: UnsafeMutableRawPointer
    private let keys: UnsafeMutableRawPointer
    private var keysByteCount = 0
    private var extent = Extent()
    private(set) var entryCount = 0

    /// Entries that a block can have.
    private static let entryCountMax =
        max(IndexBlock.entryBlockByteCountMax, IndexBlock.indexBlockByteCountMax) / IndexBlock.entryByteCountMin
    private static let arraysByteCountMax =
        entryCountMax * (4 + IndexBlock.idByteCountMax + IndexBlock.sequenceByteCountMax)
    /// Numbers are written as whole words, so the last one overwrites the bytes behind it.
    private static let keysOffset = IndexBlock.headerByteCount + arraysByteCountMax + 8

    private static let bytesByteCount = keysOffset + IndexBlock.byteCountMax

    /// Room that a builder allocates.
    static let memoryByteCount = bytesByteCount + entryCountMax * MemoryLayout<Entry>.stride

    init(byteCountMax: Int, entryCountMin: Int) {
        self.byteCountMax = byteCountMax
        self.entryCountMin = entryCountMin
        entries = BufferMemory.allocate(Entry.self, capacity: Self.entryCountMax)
        start = BufferMemory.allocate(byteCount: Self.bytesByteCount)
        keys = start + Self.keysOffset
    }

    deinit {
        BufferMemory.deallocate(entries, capacity: Self.entryCountMax)
        BufferMemory.deallocate(start, byteCount: Self.bytesByteCount)
    }

    /// Appends an entry if there is room; if not, finish the block first.
    ///
    /// - Parameters:
    ///   - key: The whole key.
    ///   - lengths: The bytes shared with the previous entry: none in a block's first entry.
    ///   - id: At most `IndexBlock.idMax`.
    ///   - sequence: At most `IndexBlock.sequenceMax`.
    ///   - isDelete: The entry means that the identifier no longer has the key.
    /// - Returns: False if the block would become too large.
    mutating func append(
        key: UnsafeRawPointer, _ lengths: BlockEntries.Lengths, id: UInt64, sequence: UInt64, isDelete: Bool
    ) -> Bool {
        var wider = extent
        wider.add(lengths, id: id, sequence: sequence, isDelete: isDelete)
        let byteCount = (entryCount &+ 1) &* wider.entryByteCount &+ keysByteCount &+ lengths.further
        guard entryCount < entryCountMin || byteCount <= byteCountMax else { return false }
        extent = wider
        (entries + entryCount).initialize(
            to: Entry(
                sharedByteCount: UInt16(truncatingIfNeeded: lengths.shared),
                furtherByteCount: UInt16(truncatingIfNeeded: lengths.further), id: id, sequence: sequence,
                isDelete: isDelete))
        (keys + keysByteCount).copyMemory(from: key + lengths.shared, byteCount: lengths.further)
        keysByteCount &+= lengths.further
        entryCount &+= 1
        return true
    }

    /// Appends the first entry of a block, which always fits.
    mutating func begin(key: UnsafeRawBufferPointer, id: UInt64, sequence: UInt64, isDelete: Bool) {
        precondition(entryCount == 0, "A block that is under way is finished first.")
        let lengths = BlockEntries.Lengths(shared: 0, further: key.count)
        _ = append(
            key: key.baseAddress ?? UnsafeRawPointer(keys), lengths, id: id, sequence: sequence, isDelete: isDelete)
    }

    /// Writes the header and the arrays of the block, and begins another block.
    ///
    /// - Parameter seed: `FileHeader.seed` of the block's offset.
    /// - Returns: The whole block; its bytes are valid until the next call.
    mutating func finish(seed: UInt32) -> UnsafeRawBufferPointer {
        let arraysEnd = writeArrays()
        (start + arraysEnd).copyMemory(from: keys, byteCount: keysByteCount)
        let byteCount = arraysEnd + keysByteCount
        start[IndexBlock.Fields.bodyByteCount] = UInt16(truncatingIfNeeded: byteCount - IndexBlock.headerByteCount)
        start[IndexBlock.Fields.entryCount] = UInt16(truncatingIfNeeded: entryCount)
        let form = UInt8(truncatingIfNeeded: extent.idByteCount)
        start[IndexBlock.Fields.form] = extent.hasLongLengths ? form | IndexBlock.formLongLengths : form
        start[IndexBlock.Fields.sequenceByteCount] = UInt8(truncatingIfNeeded: extent.sequenceByteCount)
        start[IndexBlock.Fields.smallestID] = extent.smallestID
        start[IndexBlock.Fields.smallestSequence] = extent.smallestSequence
        start[IndexBlock.Fields.checksum] = CRC32C.checksum(start + 4, byteCount - 4, seed: seed)
        extent = Extent()
        keysByteCount = 0
        entryCount = 0
        return UnsafeRawBufferPointer(start: start, count: byteCount)
    }

    /// Writes all arrays but the keys, and returns their end.
    private func writeArrays() -> Int {
        let entries = UnsafeBufferPointer(start: entries, count: entryCount)
        var place = IndexBlock.headerByteCount
        if extent.hasLongLengths {
            for entry in entries {
                start.set(UInt32(entry.sharedByteCount) | UInt32(entry.furtherByteCount) &<< 16, place)
                place &+= 4
            }
        } else {
            for entry in entries {
                start.set(entry.sharedByteCount | entry.furtherByteCount &<< 8, place)
                place &+= 2
            }
        }
        // Whole words; each next one overwrites the excess of the last.
        let idByteCount = extent.idByteCount
        for entry in entries {
            start.set(entry.id &- extent.smallestID, place)
            place &+= idByteCount
        }
        let sequenceByteCount = extent.sequenceByteCount
        for entry in entries {
            start.set((entry.sequence &- extent.smallestSequence) &<< 1 | (entry.isDelete ? 1 : 0), place)
            place &+= sequenceByteCount
        }
        return place
    }
}
