import FaultlineDisk

extension Run {
    /// False if no entry has a search prefix of that hash; true for every present prefix, and for about one in a
    /// hundred absent ones.
    @inline(__always)
    package func mayContain(prefixHash: UInt64) throws(LogError) -> Bool {
        guard let place = filterPlace(prefixHash) else { return false }
        if let answer = cache.withBlock(
            file: fileNumber, offset: place.page, { BloomFilter.mayContain(prefixHash, line: $0 + place.line) })
        {
            return answer
        }
        let page = try loadFilterPage(at: place.page, byteCount: place.byteCount)
        return BloomFilter.mayContain(prefixHash, line: page.start + place.line)
    }

    /// The offset and size of the page with the line of a hash, and the line's offset in the page; nil in an empty run.
    @inline(__always)
    private func filterPlace(_ prefixHash: UInt64) -> (page: UInt64, byteCount: Int, line: Int)? {
        if lineCount == 0 { return nil }
        let line = BloomFilter.line(prefixHash, lineCount: lineCount)
        var place = BloomFilter.place(ofLine: line, lineCount: lineCount)
        place.page &+= footer.filterOffset
        return place
    }

    @inline(never)
    private func loadFilterPage(at offset: UInt64, byteCount: Int) throws(LogError) -> BlockHandle {
        let memory = BlockMemory.allocate(byteCount: byteCount)
        do throws(LogError) {
            try readFilterPage(at: offset, into: memory.bytes)
        } catch {
            memory.release()
            throw error
        }
        return cache.insert(file: fileNumber, offset: offset, memory)
    }

    /// Reads and verifies the filter's page at an offset of the file.
    func readFilterPage(at offset: UInt64, into page: UnsafeMutableRawBufferPointer) throws(LogError) {
        try Self.read(into: page, of: file, at: offset)
        if let problem = BloomFilter.problem(inPage: UnsafeRawBufferPointer(page), seed: header.seed(at: offset)) {
            throw LogError.damagedRun(file.path, at: offset, problem)
        }
    }
}
