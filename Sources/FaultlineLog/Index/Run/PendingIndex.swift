import FaultlineDisk

/// The future content of a level of a run's block index, while it fits in memory: key, offset and size of each block
/// below it.
struct PendingIndex: ~Copyable {
    private var bytes: ByteWriter
    private let byteCountMax: Int
    /// False once an entry was left out: the blocks must be read again.
    private(set) var isComplete = true

    init(byteCountMax: Int) {
        self.byteCountMax = byteCountMax
        bytes = ByteWriter(byteCapacity: 1024)
    }

    mutating func add(key: UnsafeRawBufferPointer, offset: UInt64, byteCount: Int) {
        guard isComplete else { return }
        if bytes.byteCount + key.count + 16 > byteCountMax {
            isComplete = false
            bytes = ByteWriter(byteCapacity: 16)
            return
        }
        bytes.append(offset)
        bytes.append(UInt32(byteCount))
        bytes.append(UInt32(key.count))
        bytes.append(key)
    }

    /// Calls `body` for each block in order.
    func forEach(
        _ body: (_ key: UnsafeRawBufferPointer, _ offset: UInt64, _ byteCount: Int) throws(LogError) -> Void
    ) throws(LogError) {
        var reader = ByteReader(bytes.bytes)
        while let offset = reader.readUInt64(), let byteCount = reader.readUInt32(),
            let keyByteCount = reader.readUInt32(),
            let key = reader.readBytes(Int(keyByteCount))
        {
            try body(key, offset, Int(byteCount))
        }
    }
}

/// A run's Bloom filter, while it fits in memory.
struct PendingFilter: ~Copyable {
    /// Nil if the filter would be too large: the blocks must be read again.
    var window: BloomWindow?
    /// Distinct search prefixes so far.
    private(set) var prefixCount: UInt64 = 0

    /// An empty filter for up to `expectedEntryCount` prefixes.
    init(expectedEntryCount: UInt64, byteCountMax: Int) {
        var lineCount = max(BloomFilter.lineCount(prefixCount: expectedEntryCount), 1)
        guard lineCount <= UInt64(byteCountMax / BloomFilter.lineByteCount) else { return }
        // A multiple of a power of two, so that a filter that proves too large can be folded; at most an eighth too
        // large.
        let step: UInt64 = 1 << UInt64(max(60 - lineCount.leadingZeroBitCount, 0))
        lineCount = (lineCount + step - 1) / step * step
        window = BloomWindow(lineCount: lineCount, heldLineCount: lineCount)
    }

    @inline(__always)
    mutating func add(_ hash: UInt64) {
        prefixCount &+= 1
        window?.add(hash)
    }

    /// Folds the filter to the size that the prefixes need; drops it if it is too small for them.
    mutating func fit() {
        let needed = BloomFilter.lineCount(prefixCount: prefixCount)
        guard var lineCount = window?.lineCount else { return }
        if lineCount < needed {
            window = nil
            return
        }
        while lineCount % 2 == 0, lineCount / 2 >= needed {
            window?.fold()
            lineCount /= 2
        }
    }
}
