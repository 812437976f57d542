import FaultlineDisk

extension Run {
    /// Reads all of the run, bypassing the cache: blocks of entries, the block index, the filter.
    ///
    /// Look-ups do not read all of it: they use the filter and the block index only for keys that no newer part of the
    /// index has.
    ///
    /// - Throws: `.damaged` for the first block or page that does not verify; errors of reading them.
    package func verify() throws(LogError) {
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

extension LogError {
    /// The error for a run that does not verify.
    static func damagedRun(_ path: String, at offset: UInt64, _ problem: String) -> LogError {
        damagedDerived("\(path) at byte \(offset): \(problem).", path, offset)
    }
}
