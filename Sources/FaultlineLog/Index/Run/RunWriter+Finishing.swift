import FaultlineDisk

// Writes the parts behind the blocks of entries: the block index and the Bloom filter.
extension RunWriter {
    mutating func writeIndexAndFilter() throws(LogError) {
        filter.fit()
        if footer.entryCount == 0 {
            footer.filterOffset = output.offset
            return
        }
        try writeIndex()
        footer.filterOffset = output.offset
        try writeFilter()
    }

    /// Writes the index level by level, each from the one below, until a level is a single block.
    ///
    /// A level's entries are kept in memory while they are few; otherwise they are read from the file again.
    private mutating func writeIndex() throws(LogError) {
        var level = newLevel()
        if blockIndex.isComplete {
            try blockIndex.forEach { (key, offset, byteCount) throws(LogError) in
                try level.add(key: key, offset: offset, byteCount: byteCount, to: &output)
            }
        } else {
            try addBlocks(to: &level)
        }
        var start = footer.indexOffset
        while true {
            try level.finish(to: &output)
            footer.height += 1
            footer.indexBlockCount += level.blockCount
            if level.blockCount == 1 { break }
            let region = start..<output.offset
            start = region.upperBound
            var above = newLevel()
            if level.parents.isComplete {
                try level.parents.forEach { (key, offset, byteCount) throws(LogError) in
                    try above.add(key: key, offset: offset, byteCount: byteCount, to: &output)
                }
            } else {
                try addIndexBlocks(in: region, to: &above)
            }
            level = above
        }
        footer.rootOffset = start
        footer.rootByteCount = UInt32(truncatingIfNeeded: output.offset - start)
    }

    private func newLevel() -> IndexLevel {
        IndexLevel(header: header, parentByteCountMax: auxiliaryByteCountMax / 8)
    }

    /// Adds all blocks of entries to the lowest level, by reading them.
    private mutating func addBlocks(to level: inout IndexLevel) throws(LogError) {
        try output.flush()
        let walk = EntryWalk(prefixByteCountMax: prefixByteCountMax)
        var stream = BlockStream(output.file, header, in: blocks)
        var known: (offset: UInt64, byteCount: Int)?
        var offset = stream.offset
        while let block = try stream.next() {
            if let known {
                let firstKey = EntryWalk.firstKey(of: block)
                let first = firstKey.bytes
                let last = walk.key.bytes
                let shared = KeyBytes.sharedByteCount(last, first)
                try level.add(
                    key: Separator.between(last, first, shared: shared), offset: known.offset,
                    byteCount: known.byteCount, to: &output)
            }
            walk.visit(block) { _ in }
            known = (offset, block.count)
            offset = stream.offset
        }
        if let known {
            try level.add(key: walk.key.bytes, offset: known.offset, byteCount: known.byteCount, to: &output)
        }
    }

    /// Adds the index blocks of one level to the next, by reading them.
    private mutating func addIndexBlocks(in region: Range<UInt64>, to level: inout IndexLevel) throws(LogError) {
        try output.flush()
        let walk = EntryWalk(prefixByteCountMax: 0)
        var stream = BlockStream(output.file, header, in: region, isIndex: true)
        var offset = stream.offset
        while let block = try stream.next() {
            walk.visit(block) { _ in }
            try level.add(key: walk.key.bytes, offset: offset, byteCount: block.count, to: &output)
            offset = stream.offset
        }
    }

    private mutating func writeFilter() throws(LogError) {
        if let window = filter.window.take() {
            footer.filterLineCount = window.lineCount
            return try write(window)
        }
        let lineCount = BloomFilter.lineCount(prefixCount: filter.prefixCount)
        footer.filterLineCount = lineCount
        try output.flush()
        // Whole pages.
        let linesAWindow = max(
            UInt64(auxiliaryByteCountMax / BloomFilter.lineByteCount) & ~(BloomFilter.linesAPage - 1),
            BloomFilter.linesAPage)
        var line: UInt64 = 0
        while line < lineCount {
            let window = BloomWindow(
                lineCount: lineCount, firstLine: line, heldLineCount: min(linesAWindow, lineCount - line))
            let walk = EntryWalk(prefixByteCountMax: prefixByteCountMax)
            var stream = BlockStream(output.file, header, in: blocks)
            while let block = try stream.next() { walk.visit(block) { window.add($0) } }
            try write(window)
            line += window.heldLineCount
        }
    }

    private mutating func write(_ window: borrowing BloomWindow) throws(LogError) {
        var lines = window.bytes
        while !lines.isEmpty {
            let page = UnsafeRawBufferPointer(
                rebasing: lines.prefix(Int(BloomFilter.linesAPage) * BloomFilter.lineByteCount))
            var checksum = CRC32C.checksum(page, seed: header.seed(at: output.offset)).littleEndian
            try output.append(page)
            try withUnsafeBytes(of: &checksum) { (bytes) throws(LogError) in try output.append(bytes) }
            lines = UnsafeRawBufferPointer(rebasing: lines.dropFirst(page.count))
        }
    }

    private var blocks: Range<UInt64> { UInt64(FileHeader.byteCount)..<footer.indexOffset }
}

/// Visits the entries of verified blocks in order and calls back with the hashes of new search prefixes.
private struct EntryWalk {
    let key = KeyCopy()
    let prefixByteCountMax: Int
    private let isFirst = Flag()

    private final class Flag { var value = true }

    init(prefixByteCountMax: Int) { self.prefixByteCountMax = prefixByteCountMax }

    /// Visits one block; leaves its last key in `key`.
    func visit(_ block: UnsafeRawBufferPointer, _ body: (UInt64) -> Void) {
        guard let start = block.baseAddress else { return }
        if PostingBlock.isForm(start) { return visit(postings: block, body) }
        let entries = BlockEntries(start)
        var further = entries.keys
        for ordinal in 0..<entries.count {
            let lengths = entries.lengths(ordinal)
            // The first entry of a block shares no bytes by its form, but may repeat the prefix of the one before.
            let isNew: Bool
            if isFirst.value {
                isNew = true
                isFirst.value = false
            } else {
                var shared = lengths.shared
                if shared < key.byteCount {
                    shared += KeyBytes.sharedByteCount(
                        key.start + shared, further, min(key.byteCount - shared, lengths.further))
                }
                isNew = shared < min(prefixByteCountMax, max(key.byteCount, lengths.key))
            }
            key.replace(after: lengths.shared, with: further, lengths.further)
            if isNew { body(IndexHash.hash(UnsafeRawPointer(key.start), min(prefixByteCountMax, key.byteCount))) }
            further += lengths.further
        }
    }
    /// Visits a block of postings.
    private func visit(postings block: UnsafeRawBufferPointer, _ body: (UInt64) -> Void) {
        let list = PostingList()
        let next = KeyCopy()
        list.begin(block)
        while list.next() {
            for entry in 0..<list.count {
                list.write(entry, to: next)
                let shared = KeyBytes.sharedByteCount(key.bytes, next.bytes)
                let isNew = isFirst.value || shared < min(prefixByteCountMax, max(key.byteCount, next.byteCount))
                isFirst.value = false
                key.set(UnsafeRawPointer(next.start), next.byteCount)
                if isNew { body(IndexHash.hash(UnsafeRawPointer(key.start), min(prefixByteCountMax, key.byteCount))) }
            }
        }
    }

    /// The key of the first entry of a verified block.
    static func firstKey(of block: UnsafeRawBufferPointer) -> KeyCopy {
        let key = KeyCopy()
        guard let start = block.baseAddress else { return key }
        if PostingBlock.isForm(start) {
            let list = PostingList()
            list.begin(block)
            if list.next() { list.write(0, to: key) }
        } else {
            let first = BlockEntries(start).firstKey
            if let bytes = first.baseAddress { key.set(bytes, first.count) }
        }
        return key
    }
}
