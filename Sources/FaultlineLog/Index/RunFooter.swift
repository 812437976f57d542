import FaultlineDisk

/// The last 128 bytes of a run: docs/FileFormat.md 13.4.
package struct RunFooter: Sendable, Equatable {
    package static let byteCount = 128
    static let magic: UInt64 = 0x0100_4E55_5254_4C46
    /// A tree of blocks with at least two children each is lower than this for any file.
    static let heightMax: UInt16 = 40

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
        func field<Value: FixedWidthInteger & BitwiseCopyable>(_ offset: Int) -> Value {
            Value(littleEndian: start.loadUnaligned(fromByteOffset: offset, as: Value.self))
        }
        guard field(0) == magic else { return .failure(Problem("the footer does not begin as a run's does")) }
        let expected: UInt32 = field(byteCount - 4)
        let found = CRC32C.checksum(
            start, byteCount - 4, seed: header.seed(at: fileByteCount - UInt64(byteCount)))
        guard expected == found else {
            return .failure(Problem("the footer's checksum is \(found), expected \(expected)"))
        }
        let reserved: UInt16 = field(14)
        var isReservedZero = reserved == 0
        for offset in 102..<124 where bytes[offset] != 0 { isReservedZero = false }
        guard isReservedZero else { return .failure(Problem("reserved bytes of the footer are not zero")) }
        var footer = RunFooter(index: IndexID(rawValue: field(8)), level: field(12))
        footer.entryCount = field(16)
        footer.blockCount = field(24)
        footer.indexOffset = field(32)
        footer.indexBlockCount = field(40)
        footer.filterOffset = field(48)
        footer.filterLineCount = field(56)
        footer.firstSequence = field(64)
        footer.lastSequence = field(72)
        footer.deleteCount = field(80)
        footer.rootOffset = field(88)
        footer.rootByteCount = field(96)
        footer.height = field(100)
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
        // A block has at least one entry, and an entry has at least its lengths.
        let entryBytes = UInt64(IndexBlock.entryByteCountMin), blockBytes = UInt64(IndexBlock.headerByteCount)
        guard blockCount > 0, blockCount <= entryCount, deleteCount <= entryCount, firstSequence <= lastSequence,
            entryCount <= (indexOffset - UInt64(FileHeader.byteCount)) / entryBytes,
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
        func put<Value: FixedWidthInteger & BitwiseCopyable>(_ value: Value, _ offset: Int) {
            target.storeBytes(of: value.littleEndian, toByteOffset: offset, as: Value.self)
        }
        put(Self.magic, 0)
        put(index.rawValue, 8)
        put(level, 12)
        put(entryCount, 16)
        put(blockCount, 24)
        put(indexOffset, 32)
        put(indexBlockCount, 40)
        put(filterOffset, 48)
        put(filterLineCount, 56)
        put(firstSequence, 64)
        put(lastSequence, 72)
        put(deleteCount, 80)
        put(rootOffset, 88)
        put(rootByteCount, 96)
        put(height, 100)
        put(CRC32C.checksum(target, Self.byteCount - 4, seed: header.seed(at: offset)), Self.byteCount - 4)
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
