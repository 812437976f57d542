import FaultlineDisk

/// What a run's block index will say, as long as it fits in memory: for each block its last key, offset and size.
struct PendingIndex: ~Copyable {
    private var bytes: ByteWriter
    private let byteCountMax: Int
    /// False once something was left out: the blocks must be read again.
    private(set) var isComplete = true
    private(set) var count = 0

    init(byteCountMax: Int) {
        self.byteCountMax = byteCountMax
        bytes = ByteWriter(byteCapacity: 1024)
    }

    mutating func add(key: UnsafeRawBufferPointer, offset: UInt64, byteCount: Int) {
        guard isComplete else { return }
        if bytes.byteCount + key.count + 16 > byteCountMax {
            isComplete = false
            bytes = ByteWriter(byteCapacity: 16)
            count = 0
            return
        }
        bytes.append(offset)
        bytes.append(UInt32(byteCount))
        bytes.append(UInt32(key.count))
        bytes.append(key)
        count += 1
    }

    /// Calls `body` for each block in order.
    func forEach(
        _ body: (_ key: UnsafeRawBufferPointer, _ offset: UInt64, _ byteCount: UInt64) throws(LogError) -> Void
    ) throws(LogError) {
        var reader = ByteReader(bytes.bytes)
        while let offset = reader.readUInt64(), let byteCount = reader.readUInt32(),
            let keyByteCount = reader.readUInt32(),
            let key = reader.readBytes(Int(keyByteCount))
        {
            try body(key, offset, UInt64(byteCount))
        }
    }
}

/// A run's Bloom filter, as long as it fits in memory.
struct PendingFilter: ~Copyable {
    /// Nil where the filter would be too large: the blocks must be read again.
    var window: BloomWindow?
    /// Different search prefixes so far.
    private(set) var prefixCount: UInt64 = 0

    /// An empty filter for up to `expectedEntryCount` prefixes.
    init(expectedEntryCount: UInt64, byteCountMax: Int) {
        var pageCount = max(BloomFilter.pageCount(prefixCount: expectedEntryCount), 1)
        // A multiple of a power of two, so that a filter that turns out too large can be folded; an eighth too large at most.
        let step: UInt64 = 1 << UInt64(max(60 - pageCount.leadingZeroBitCount, 0))
        pageCount = (pageCount + step - 1) / step * step
        guard pageCount <= UInt64(byteCountMax / BloomFilter.pageByteCount) else { return }
        let lineCount = pageCount * UInt64(BloomFilter.linesAPage)
        window = BloomWindow(lineCount: lineCount, heldLineCount: lineCount)
    }

    @inline(__always)
    mutating func add(_ hash: UInt64) {
        prefixCount &+= 1
        window?.add(hash)
    }

    /// Folds the filter to what the prefixes need; gives it up if they are more than it was made for.
    mutating func fit() {
        let needed = BloomFilter.pageCount(prefixCount: prefixCount) * UInt64(BloomFilter.linesAPage)
        guard let lineCount = window?.lineCount else { return }
        if lineCount < needed {
            window = nil
            return
        }
        var remaining = lineCount
        while remaining % UInt64(2 * BloomFilter.linesAPage) == 0, remaining / 2 >= needed {
            window?.fold()
            remaining /= 2
        }
    }
}
