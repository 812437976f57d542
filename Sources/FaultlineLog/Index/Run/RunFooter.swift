import FaultlineDisk

/// The last 128 bytes of a run: docs/FileFormat.md 13.4.
package struct RunFooter: Sendable, Equatable {
    package static let byteCount = 128
    static let magic: UInt64 = 0x0100_4E55_5254_4C46
    /// A tree of blocks with at least two children each is lower than this for any file.
    static let heightMax: UInt16 = 40

    /// The table of section 13.4.
    enum Fields {
        static let magic = Field.U64(0)
        static let index = Field.U32(8)
        static let level = Field.U16(12)
        static let reserved = Field.U16(14)
        static let entryCount = Field.U64(16)
        static let blockCount = Field.U64(24)
        static let indexOffset = Field.U64(32)
        static let indexBlockCount = Field.U64(40)
        static let filterOffset = Field.U64(48)
        static let filterLineCount = Field.U64(56)
        static let firstSequence = Field.U64(64)
        static let lastSequence = Field.U64(72)
        static let deleteCount = Field.U64(80)
        static let rootOffset = Field.U64(88)
        static let rootByteCount = Field.U32(96)
        static let height = Field.U16(100)
        static let reservedEnd = Field.Bytes(102, 22)
        static let checksum = Field.U32(124)
    }

    package var index: IndexID
    package var level: UInt16
    package var entryCount: UInt64 = 0
    /// The number of blocks of entries, which follow the file header.
    package var blockCount: UInt64 = 0
    package var indexOffset: UInt64 = 0
    package var indexBlockCount: UInt64 = 0
    package var filterOffset: UInt64 = 0
    package var filterLineCount: UInt64 = 0
    /// The smallest sequence number; 0 in an empty run.
    package var firstSequence: UInt64 = 0
    package var lastSequence: UInt64 = 0
    package var deleteCount: UInt64 = 0
    /// The offset of the root of the block index; 0 in an empty run.
    package var rootOffset: UInt64 = 0
    package var rootByteCount: UInt32 = 0
    /// Index blocks on the path from the root to a block of entries.
    package var height: UInt16 = 0

    package init(index: IndexID, level: UInt16) {
        self.index = index
        self.level = level
    }

    /// Reads a footer and checks it against itself and the file's size.
    ///
    /// - Returns: The footer, or its first fault.
    static func read(
        _ bytes: UnsafeRawBufferPointer, of header: FileHeader, fileByteCount: UInt64
    ) -> Result<RunFooter, Problem> {
        guard bytes.count == byteCount, fileByteCount >= UInt64(byteCount), let start = bytes.baseAddress else {
            return .failure(Problem("the footer is cut short"))
        }
        guard start[Fields.magic] == magic else {
            return .failure(Problem("the footer does not begin as a run's does"))
        }
        let expected = start[Fields.checksum]
        let found = CRC32C.checksum(
            start, Fields.checksum.offset, seed: header.seed(at: fileByteCount - UInt64(byteCount)))
        guard expected == found else {
            return .failure(Problem("the footer's checksum is \(found), expected \(expected)"))
        }
        guard start[Fields.reserved] == 0, start.isZero(Fields.reservedEnd) else {
            return .failure(Problem("reserved bytes of the footer are not zero"))
        }
        var footer = RunFooter(index: IndexID(rawValue: start[Fields.index]), level: start[Fields.level])
        footer.entryCount = start[Fields.entryCount]
        footer.blockCount = start[Fields.blockCount]
        footer.indexOffset = start[Fields.indexOffset]
        footer.indexBlockCount = start[Fields.indexBlockCount]
        footer.filterOffset = start[Fields.filterOffset]
        footer.filterLineCount = start[Fields.filterLineCount]
        footer.firstSequence = start[Fields.firstSequence]
        footer.lastSequence = start[Fields.lastSequence]
        footer.deleteCount = start[Fields.deleteCount]
        footer.rootOffset = start[Fields.rootOffset]
        footer.rootByteCount = start[Fields.rootByteCount]
        footer.height = start[Fields.height]
        if let problem = footer.problem(fileByteCount: fileByteCount) { return .failure(Problem(problem)) }
        return .success(footer)
    }

    struct Problem: Error {
        let text: String
        init(_ text: String) { self.text = text }
    }

    /// The first value that is impossible for a file of that size.
    private func problem(fileByteCount: UInt64) -> String? {
        guard indexOffset >= UInt64(FileHeader.byteCount), filterOffset >= indexOffset, filterOffset <= fileByteCount
        else {
            return "the footer's offsets do not rise or leave the file"
        }
        guard filterLineCount <= UInt64(UInt32.max) else { return "the filter has too many lines" }
        guard fileByteCount - filterOffset >= UInt64(Self.byteCount),
            fileByteCount - filterOffset - UInt64(Self.byteCount) == BloomFilter.byteCount(lineCount: filterLineCount)
        else { return "the filter does not end where the footer begins" }
        if entryCount == 0 {
            let isEmpty =
                blockCount == 0 && indexBlockCount == 0 && filterLineCount == 0 && rootOffset == 0 && rootByteCount == 0
                && height == 0
                && indexOffset == UInt64(FileHeader.byteCount) && filterOffset == indexOffset && deleteCount == 0
                && firstSequence == 0
                && lastSequence == 0
            return isEmpty ? nil : "the footer of an empty run names blocks"
        }
        // A block has at least one entry, and an entry of an index block has at least its lengths.
        let entryBytes = UInt64(IndexBlock.entryByteCountMin), blockBytes = UInt64(IndexBlock.headerByteCount)
        guard blockCount > 0, blockCount <= entryCount, deleteCount <= entryCount, firstSequence <= lastSequence,
            blockCount <= (indexOffset - UInt64(FileHeader.byteCount)) / blockBytes,
            entryCount / UInt64(UInt16.max) <= blockCount,
            indexBlockCount > 0, indexBlockCount <= (filterOffset - indexOffset) / (entryBytes + blockBytes),
            filterLineCount > 0
        else { return "the footer's counts contradict each other" }
        guard height > 0, height <= Self.heightMax, rootOffset >= indexOffset, rootOffset <= filterOffset,
            filterOffset - rootOffset == UInt64(rootByteCount), rootByteCount <= UInt32(IndexBlock.byteCountMax)
        else { return "the root of the block index lies outside of it" }
        return nil
    }

    /// Writes the footer's 128 bytes, for `offset`.
    func write(to target: UnsafeMutableRawPointer, at offset: UInt64, of header: FileHeader) {
        target.initializeMemory(as: UInt8.self, repeating: 0, count: Self.byteCount)
        target[Fields.magic] = Self.magic
        target[Fields.index] = index.rawValue
        target[Fields.level] = level
        target[Fields.entryCount] = entryCount
        target[Fields.blockCount] = blockCount
        target[Fields.indexOffset] = indexOffset
        target[Fields.indexBlockCount] = indexBlockCount
        target[Fields.filterOffset] = filterOffset
        target[Fields.filterLineCount] = filterLineCount
        target[Fields.firstSequence] = firstSequence
        target[Fields.lastSequence] = lastSequence
        target[Fields.deleteCount] = deleteCount
        target[Fields.rootOffset] = rootOffset
        target[Fields.rootByteCount] = rootByteCount
        target[Fields.height] = height
        target[Fields.checksum] = CRC32C.checksum(target, Fields.checksum.offset, seed: header.seed(at: offset))
    }
}

/// The manifest's record of a run, with some more values.
package struct RunDescription: Sendable, Equatable {
    package let index: IndexID
    package let level: UInt16
    package let fileNumber: UInt64
    package let entryCount: UInt64
    package let firstSequence: UInt64
    package let lastSequence: UInt64
    package let deleteCount: UInt64
    /// The size of the file.
    package let byteCount: UInt64

    package init(_ footer: RunFooter, fileNumber: UInt64, byteCount: UInt64) {
        index = footer.index
        level = footer.level
        self.fileNumber = fileNumber
        entryCount = footer.entryCount
        firstSequence = footer.firstSequence
        lastSequence = footer.lastSequence
        deleteCount = footer.deleteCount
        self.byteCount = byteCount
    }
}
