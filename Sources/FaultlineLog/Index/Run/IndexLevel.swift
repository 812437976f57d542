import FaultlineDisk

/// One level of a run's block index, written as its entries come.
struct IndexLevel: ~Copyable {
    private let header: FileHeader
    private var builder = BlockBuilder(byteCountMax: IndexBlock.indexBlockByteCountMax, entryCountMin: 2)
    private let lastKey = KeyCopy()
    private(set) var blockCount: UInt64 = 0
    /// The blocks of this level, for the level above.
    private(set) var parents: PendingIndex

    /// A level of a file with this header.
    ///
    /// The list of parents may hold `parentByteCountMax` bytes.
    init(header: FileHeader, parentByteCountMax: Int) {
        self.header = header
        parents = PendingIndex(byteCountMax: parentByteCountMax)
    }

    /// Adds the next block of the level below.
    mutating func add(key: UnsafeRawBufferPointer, offset: UInt64, byteCount: Int, to output: inout RunOutput)
        throws(LogError)
    {
        let start = key.baseAddress ?? UnsafeRawPointer(lastKey.start)
        var shared = 0
        if builder.entryCount > 0 {
            shared = KeyBytes.sharedByteCount(lastKey.start, start, min(lastKey.byteCount, key.count))
        }
        let lengths = BlockEntries.Lengths(shared: shared, further: key.count - shared)
        let id = UInt64(byteCount)
        if !builder.append(key: start, lengths, id: id, sequence: offset, isDelete: false) {
            try finish(to: &output)
            builder.begin(
                key: UnsafeRawBufferPointer(start: start, count: key.count), id: id, sequence: offset, isDelete: false)
        }
        lastKey.set(start, key.count)
    }

    /// Writes the current block.
    mutating func finish(to output: inout RunOutput) throws(LogError) {
        guard builder.entryCount > 0 else { return }
        let offset = output.offset
        let block = builder.finish(seed: header.seed(at: offset))
        try output.append(block)
        blockCount += 1
        parents.add(key: lastKey.bytes, offset: offset, byteCount: block.count)
    }
}
