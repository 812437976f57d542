import FaultlineDisk

extension Run {
    /// False if no entry has a search prefix of that hash; true for all that have, and for about one in a hundred of
    /// the others.
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

    /// Asks the filter for many hashes: first for the memory of all their lines, then for their bits.
    ///
    /// - Parameters:
    ///   - hashes: Of search prefixes.
    ///   - isWanted: Says which hashes to ask for, and becomes false for those that no entry has.
    /// - Throws: `.damaged` if a page of the filter does not verify; what reading it can cause.
    func filter(_ hashes: UnsafeBufferPointer<UInt64>, _ isWanted: UnsafeMutablePointer<Bool>) throws(LogError) {
        var failure: LogError?
        withUnsafeTemporaryAllocation(of: BlockMemory?.self, capacity: hashes.count) { pages in
            for number in 0..<hashes.count {
                var page: BlockMemory?
                if isWanted[number], let place = filterPlace(hashes[number]) {
                    page = cache.held(file: fileNumber, offset: place.page)
                    if let page {
                        // A line may lie in two of the processor's.
                        let line = page.content + place.line
                        prefetch(line)
                        prefetch(line + BloomFilter.lineByteCount - 1)
                    }
                }
                pages.initializeElement(at: number, to: page)
            }
            for number in 0..<hashes.count where isWanted[number] {
                let hash = hashes[number]
                if let page = pages[number], let place = filterPlace(hash) {
                    isWanted[number] = BloomFilter.mayContain(hash, line: page.content + place.line)
                    page.release()
                } else if failure == nil {
                    do throws(LogError) { isWanted[number] = try mayContain(prefixHash: hash) } catch {
                        failure = error
                    }
                }
            }
        }
        if let failure { throw failure }
    }

    /// Where the line of a hash is: its page's place in the file and size, and its place in the page; nil in an empty
    /// run.
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

    /// Reads and verifies the filter's page at a place of the file.
    func readFilterPage(at offset: UInt64, into page: UnsafeMutableRawBufferPointer) throws(LogError) {
        try Self.read(into: page, of: file, at: offset)
        if let problem = BloomFilter.problem(inPage: UnsafeRawBufferPointer(page), seed: header.seed(at: offset)) {
            throw LogError.damagedRun(file.path, at: offset, problem)
        }
    }
}
