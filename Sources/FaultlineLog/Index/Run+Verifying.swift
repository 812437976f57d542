import FaultlineDisk

extension Run {
    /// Reads all of the run past the cache: blocks of entries, the block index, the filter.
    ///
    /// Look-ups leave much of it alone: a filter is asked, and the block index followed, only for keys that no newer
    /// part of the index has.
    ///
    /// - Throws: `.damaged` for the first block or page that does not verify; what reading them can cause.
    func verify() throws(LogError) {
        try verifyBlocks(in: blocks, isIndex: false)
        try verifyBlocks(in: footer.indexOffset..<footer.filterOffset, isIndex: true)
        try verifyFilter()
    }

    private func verifyBlocks(in range: Range<UInt64>, isIndex: Bool) throws(LogError) {
        var stream = BlockStream(file, header, in: range, isIndex: isIndex)
        while try stream.next() != nil {}
    }

    private func verifyFilter() throws(LogError) {
        let memory = BlockMemory.allocate(
            byteCount: Int(BloomFilter.byteCount(lineCount: min(lineCount, BloomFilter.linesAPage))))
        defer { memory.release() }
        var line: UInt64 = 0
        while line < lineCount {
            let place = BloomFilter.place(ofLine: line, lineCount: lineCount)
            try readFilterPage(
                at: footer.filterOffset + place.page,
                into: UnsafeMutableRawBufferPointer(rebasing: memory.bytes[..<place.byteCount]))
            line += BloomFilter.linesAPage
        }
    }
}
