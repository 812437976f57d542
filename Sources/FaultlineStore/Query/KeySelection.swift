/// Keeps the first of many keys, each with a number from the caller.
///
/// Keys compare as bytes; of equal ones, the one offered first comes first. With a limit, memory is that of twice as
/// many keys, and a key that is not among the first costs one comparison, mostly of eight bytes.
package struct KeySelection: ~Copyable {
    private struct Entry {
        /// The first eight bytes of the key, as a number that orders like them.
        var prefix: UInt64
        var offset: Int
        var byteCount: Int
        /// The index in the order of offers.
        var ordinal: Int
        var tag: UInt64
    }

    private let limit: Int
    private var entries: [Entry] = []
    private var bytes: UnsafeMutableRawPointer
    private var capacity: Int
    private var used = 0
    private var offered = 0
    private var isSorted = true
    /// Whether the last entry kept by the last sort is one that later keys must precede.
    private var hasThreshold = false
    private var threshold = Entry(prefix: 0, offset: 0, byteCount: 0, ordinal: 0, tag: 0)

    /// Makes a selection of the first `limit` keys, or of all if it is nil.
    package init(limit: Int?) {
        self.limit = max(limit ?? .max, 0)
        capacity = 4096
        bytes = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 8)
    }

    deinit { bytes.deallocate() }

    /// Bytes of memory that the keys take.
    package var memoryByteCount: Int { capacity + entries.capacity * MemoryLayout<Entry>.stride }

    /// Adds a key, unless it is certainly not among the first.
    @inline(__always)
    package mutating func offer(_ key: UnsafeRawBufferPointer, tag: UInt64) {
        let prefix = Self.prefix(of: key)
        if hasThreshold {
            if prefix > threshold.prefix { return }
            if prefix == threshold.prefix, !isBeforeThreshold(key) { return }
        }
        keep(key, prefix, tag)
    }

    /// Sorts the keys; call it before `count` and `tag(at:)`.
    package mutating func sort() {
        guard !isSorted else { return }
        let bytes = bytes
        entries.sort { left, right in
            if left.prefix != right.prefix { return left.prefix < right.prefix }
            let order = StoredText.byteOrder(
                UnsafeRawBufferPointer(start: bytes + left.offset, count: left.byteCount),
                UnsafeRawBufferPointer(start: bytes + right.offset, count: right.byteCount)
            )
            return order == 0 ? left.ordinal < right.ordinal : order < 0
        }
        if entries.count > limit { entries.removeLast(entries.count - limit) }
        isSorted = true
    }

    /// The keys kept: at most the limit, once sorted.
    package var count: Int { entries.count }

    /// The number of the key at an index in the order.
    package func tag(at index: Int) -> UInt64 { entries[index].tag }

    // MARK: Parts

    @inline(__always)
    private static func prefix(of key: UnsafeRawBufferPointer) -> UInt64 {
        guard let base = key.baseAddress else { return 0 }
        if key.count >= 8 { return UInt64(bigEndian: base.loadUnaligned(as: UInt64.self)) }
        var prefix: UInt64 = 0
        for index in 0..<key.count {
            prefix |= UInt64(base.load(fromByteOffset: index, as: UInt8.self)) << UInt64(56 - 8 * index)
        }
        return prefix
    }

    @inline(never)
    private func isBeforeThreshold(_ key: UnsafeRawBufferPointer) -> Bool {
        StoredText.byteOrder(
            key,
            UnsafeRawBufferPointer(start: bytes + threshold.offset, count: threshold.byteCount)
        ) < 0
    }

    @inline(never)
    private mutating func keep(_ key: UnsafeRawBufferPointer, _ prefix: UInt64, _ tag: UInt64) {
        guard limit > 0 else { return }
        if used + key.count > capacity { grow(key.count) }
        if let base = key.baseAddress { (bytes + used).copyMemory(from: base, byteCount: key.count) }
        entries.append(Entry(prefix: prefix, offset: used, byteCount: key.count, ordinal: offered, tag: tag))
        used += key.count
        offered += 1
        isSorted = false
        // Twice the limit, so that a sort pays for as many offers as it keeps entries.
        if limit < Int.max / 4, entries.count >= max(2 * limit, 256) { cut() }
    }

    /// Sorts, removes the keys behind the limit, and stores the last key kept as the threshold.
    private mutating func cut() {
        sort()
        guard let last = entries.last, entries.count == limit else { return }
        var live = 0
        for entry in entries { live += entry.byteCount }
        let larger = max(4096, live * 2)
        let moved = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 8)
        var place = 0
        for index in entries.indices {
            moved.advanced(by: place).copyMemory(
                from: bytes + entries[index].offset,
                byteCount: entries[index].byteCount
            )
            entries[index].offset = place
            place += entries[index].byteCount
        }
        bytes.deallocate()
        bytes = moved
        capacity = larger
        used = place
        hasThreshold = true
        threshold = last
        threshold.offset = place - last.byteCount
    }

    private mutating func grow(_ byteCount: Int) {
        let larger = max(capacity * 2, used + byteCount)
        let moved = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 8)
        moved.copyMemory(from: bytes, byteCount: used)
        bytes.deallocate()
        bytes = moved
        capacity = larger
    }
}
