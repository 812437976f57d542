import FaultlineDisk

/// Some lines of a Bloom filter being filled: all of them, or as many as memory allows.
struct BloomWindow: ~Copyable {
    /// Lines of the whole filter.
    private(set) var lineCount: UInt64
    private let firstLine: UInt64
    /// Lines held by this window.
    private(set) var heldLineCount: UInt64
    private let lines: UnsafeMutableRawPointer
    private let capacity: Int

    /// A window of `heldLineCount` empty lines, from `firstLine`, of a filter of `lineCount`.
    init(lineCount: UInt64, firstLine: UInt64 = 0, heldLineCount: UInt64) {
        self.lineCount = lineCount
        self.firstLine = firstLine
        self.heldLineCount = heldLineCount
        let byteCount = Int(heldLineCount) * BloomFilter.lineByteCount
        capacity = max(byteCount, 64)
        lines = BufferMemory.allocate(byteCount: capacity, alignment: 64)
        lines.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
    }

    deinit {
        BufferMemory.deallocate(lines, byteCount: capacity)
    }

    /// Adds a hash, if the window holds its line.
    @inline(__always)
    func add(_ hash: UInt64) {
        let line = BloomFilter.line(hash, lineCount: lineCount) &- firstLine
        if line < heldLineCount {
            BloomFilter.add(hash, toLine: lines + Int(truncatingIfNeeded: line) &* BloomFilter.lineByteCount)
        }
    }

    /// Halves a whole filter: lines 2n and 2n + 1 become line n, to which their hashes now belong.
    mutating func fold() {
        precondition(
            heldLineCount == lineCount && lineCount % 2 == 0,
            "Only a whole filter with an even number of lines is folded.")
        lineCount /= 2
        heldLineCount = lineCount
        let words = lines.assumingMemoryBound(to: UInt64.self)
        for line in 0..<Int(lineCount) {
            for word in 0..<8 { words[line * 8 + word] = words[line * 16 + word] | words[line * 16 + 8 + word] }
        }
    }

    /// The lines held by this window.
    var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: lines, count: Int(heldLineCount) * BloomFilter.lineByteCount)
    }
}
