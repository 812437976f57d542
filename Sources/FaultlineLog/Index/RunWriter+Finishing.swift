import FaultlineDisk

// What stands behind the blocks of entries: the block index and the Bloom filter.
extension RunWriter {
    mutating func writeIndexAndFilter() throws(LogError) {
        filter.fit()
        if footer.entryCount == 0 {
            footer.filterOffset = output.offset
            return
        }
        if !blockIndex.isComplete || filter.window == nil { try output.flush() }
        try writeIndex()
        footer.filterOffset = output.offset
        try writeFilter()
    }

    /// Writes the index level by level, each from the one below, until a level is a single block.
    private mutating func writeIndex() throws(LogError) {
        var level = IndexLevel(header: header)
        if blockIndex.isComplete {
            try blockIndex.forEach { (key, offset, byteCount) throws(LogError) in
                try level.add(key: key, offset: offset, byteCount: byteCount, to: &output)
            }
        } else {
            let walk = EntryWalk(prefixByteCountMax: prefixByteCountMax)
            var stream = BlockStream(output.file, header, in: blocks)
            var offset = stream.offset
            while let block = try stream.next() {
                walk.visit(block) { _ in }
                try level.add(key: walk.key.bytes, offset: offset, byteCount: UInt64(block.count), to: &output)
                offset = stream.offset
            }
        }
        while true {
            try level.finish(to: &output)
            footer.height += 1
            footer.indexBlockCount += UInt64(level.parents.count)
            if level.parents.count == 1 { break }
            var above = IndexLevel(header: header)
            try level.parents.forEach { (key, offset, byteCount) throws(LogError) in
                try above.add(key: key, offset: offset, byteCount: byteCount, to: &output)
            }
            level = above
        }
        try level.parents.forEach { (_, offset, byteCount) throws(LogError) in
            footer.rootOffset = offset
            footer.rootByteCount = UInt32(truncatingIfNeeded: byteCount)
        }
    }

    private mutating func writeFilter() throws(LogError) {
        if let window = filter.window.take() {
            footer.filterPageCount = window.lineCount / UInt64(BloomFilter.linesAPage)
            return try write(window, from: 0)
        }
        let pageCount = BloomFilter.pageCount(prefixCount: filter.prefixCount)
        footer.filterPageCount = pageCount
        let pagesAWindow = UInt64(max(auxiliaryByteCountMax / BloomFilter.pageByteCount, 1))
        var page: UInt64 = 0
        while page < pageCount {
            let count = min(pagesAWindow, pageCount - page)
            let window = BloomWindow(
                lineCount: pageCount * UInt64(BloomFilter.linesAPage), firstLine: page * UInt64(BloomFilter.linesAPage),
                heldLineCount: count * UInt64(BloomFilter.linesAPage))
            let walk = EntryWalk(prefixByteCountMax: prefixByteCountMax)
            var stream = BlockStream(output.file, header, in: blocks)
            while let block = try stream.next() { walk.visit(block) { window.add($0) } }
            try write(window, from: page)
            page += count
        }
    }

    private mutating func write(_ window: borrowing BloomWindow, from firstPage: UInt64) throws(LogError) {
        let pageCount = window.heldLineCount / UInt64(BloomFilter.linesAPage)
        for page in firstPage..<(firstPage + pageCount) {
            let bytes = UnsafeRawBufferPointer(
                start: window.line(page * UInt64(BloomFilter.linesAPage)), count: BloomFilter.pageByteCount - 4)
            let seed = header.seed(at: output.offset)
            try output.append(bytes)
            var checksum = CRC32C.checksum(bytes, seed: seed).littleEndian
            try withUnsafeBytes(of: &checksum) { (bytes) throws(LogError) in try output.append(bytes) }
        }
    }

    private var blocks: Range<UInt64> { UInt64(FileHeader.byteCount)..<footer.indexOffset }
}

/// One level of the block index, written as its entries come.
private struct IndexLevel: ~Copyable {
    private let header: FileHeader
    private var builder = BlockBuilder(byteCountMax: IndexBlock.indexBlockByteCountMax, entryCountMin: 2)
    private let lastKey = KeyCopy()
    /// The blocks of this level, for the level above: a twentieth of the entries, so they always fit.
    private(set) var parents = PendingIndex(byteCountMax: Int.max)

    init(header: FileHeader) { self.header = header }

    mutating func add(key: UnsafeRawBufferPointer, offset: UInt64, byteCount: UInt64, to output: inout RunOutput)
        throws(LogError)
    {
        let start = key.baseAddress ?? UnsafeRawPointer(lastKey.start)
        var shared = 0
        if builder.entryCount > 0 {
            shared = KeyBytes.sharedByteCount(lastKey.start, start, min(lastKey.byteCount, key.count))
        }
        if !builder.hasRoom(furtherByteCount: key.count - shared) {
            try finish(to: &output)
            shared = 0
        }
        builder.append(
            key: start, sharedByteCount: shared, furtherByteCount: key.count - shared, flags: 0, id: byteCount,
            sequence: offset)
        lastKey.set(start, key.count)
    }

    mutating func finish(to output: inout RunOutput) throws(LogError) {
        guard builder.entryCount > 0 else { return }
        let offset = output.offset
        let block = builder.finish(seed: header.seed(at: offset))
        try output.append(block)
        parents.add(key: lastKey.bytes, offset: offset, byteCount: block.count)
    }
}

/// Walks over the entries of verified blocks in order and tells the hashes of new search prefixes.
private struct EntryWalk {
    let key = KeyCopy()
    let prefixByteCountMax: Int
    private let isFirst = Flag()

    private final class Flag { var value = true }

    init(prefixByteCountMax: Int) { self.prefixByteCountMax = prefixByteCountMax }

    /// Leaves the block's last key in `key`.
    func visit(_ block: UnsafeRawBufferPointer, _ body: (UInt64) -> Void) {
        guard let start = block.baseAddress else { return }
        var next = start + IndexBlock.headerByteCount
        for _ in 0..<IndexBlock.entryCount(start) {
            let entry = IndexBlock.EntryHeader(next)
            let further = next + IndexBlock.entryHeaderByteCount
            // The first entry of a block shares nothing by its form, but may repeat the prefix of the one before.
            let isNew: Bool
            if isFirst.value {
                isNew = true
                isFirst.value = false
            } else {
                var shared = entry.sharedByteCount
                if shared < key.byteCount {
                    shared += KeyBytes.sharedByteCount(
                        key.start + shared, further, min(key.byteCount - shared, entry.furtherByteCount))
                }
                isNew = shared < min(prefixByteCountMax, max(key.byteCount, entry.keyByteCount))
            }
            key.replace(after: entry.sharedByteCount, with: further, entry.furtherByteCount)
            if isNew { body(IndexHash.hash(UnsafeRawPointer(key.start), min(prefixByteCountMax, key.byteCount))) }
            next = further + entry.furtherByteCount
        }
    }
}
