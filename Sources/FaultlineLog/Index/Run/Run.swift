package import FaultlineDisk

/// One sealed, sorted part of an index, read through the block cache.
///
/// Everything read from the file is verified before it is used: header and footer when it is opened, each block and
/// filter page when it enters the cache. A `.damaged` error says how to have the index rebuilt from the records.
///
/// Concurrency: any number of readers.
// Safe because nothing changes after `open`, and the file and the cache are safe for threads.
package final class Run: @unchecked Sendable {
    package let description: RunDescription
    package let footer: RunFooter
    package let definition: IndexDefinition
    let file: DiskFile
    let header: FileHeader
    let cache: BlockCache
    let lineCount: UInt64
    /// Kept alive with the run: its file may be removed only when the owner is released.
    let owner: AnyObject?
    var fileNumber: UInt64 { description.fileNumber }

    /// Opens a run, and keeps `owner` alive as long as the run.
    ///
    /// Complexity: two reads.
    ///
    /// - Throws: `.damaged` if header or footer do not verify or belong to another file; errors of reading the file.
    package static func open(
        _ file: DiskFile, fileNumber: UInt64, storeID: (UInt64, UInt64), definition: IndexDefinition, cache: BlockCache,
        owner: AnyObject? = nil
    ) throws(LogError) -> Run {
        let byteCount = try size(of: file)
        guard byteCount >= UInt64(FileHeader.byteCount + RunFooter.byteCount) else {
            throw LogError.damagedRun(file.path, at: byteCount, "the file is too short for a run")
        }
        let header = try read(FileHeader.byteCount, of: file, at: 0) { FileHeader(reading: $0) }
        guard let header else { throw LogError.damagedRun(file.path, at: 0, "the file header does not verify") }
        guard header.kind == .indexRun, header.fileNumber == fileNumber, header.storeID == storeID else {
            throw LogError.damagedRun(file.path, at: 0, "the file header is another file's")
        }
        let footerOffset = byteCount - UInt64(RunFooter.byteCount)
        let footer = try read(RunFooter.byteCount, of: file, at: footerOffset) {
            RunFooter.read($0, of: header, fileByteCount: byteCount)
        }
        switch footer {
        case .failure(let problem): throw LogError.damagedRun(file.path, at: footerOffset, problem.text)
        case .success(let footer):
            guard footer.index == definition.id else {
                throw LogError.damagedRun(
                    file.path, at: footerOffset, "the run belongs to index \(footer.index.rawValue)")
            }
            return Run(
                file, header, footer, RunDescription(footer, fileNumber: fileNumber, byteCount: byteCount), definition,
                cache,
                owner)
        }
    }

    private init(
        _ file: DiskFile, _ header: FileHeader, _ footer: RunFooter, _ description: RunDescription,
        _ definition: IndexDefinition,
        _ cache: BlockCache,
        _ owner: AnyObject?
    ) {
        self.file = file
        self.header = header
        self.footer = footer
        self.description = description
        self.definition = definition
        self.cache = cache
        self.owner = owner
        lineCount = footer.filterLineCount
    }

    deinit {
        cache.remove(file: fileNumber)
    }

    /// Blocks of entries.
    var blocks: Range<UInt64> { UInt64(FileHeader.byteCount)..<footer.indexOffset }

    /// A verified block, from the cache or the file.
    ///
    /// - Parameters:
    ///   - offset: Its offset; the caller has checked that it is inside its region.
    ///   - byteCount: The block's size if an index block gives it; nil to take it from the block.
    ///   - isIndex: Whether it is a block of the block index, not one of entries.
    /// - Returns: A hold on the block, which the cache may evict at any time.
    /// - Throws: `.damaged` if the block does not verify or has another size; errors of reading it.
    @inline(__always)
    func block(at offset: UInt64, byteCount: Int?, isIndex: Bool) throws(LogError) -> BlockHandle {
        if let block = cache.block(file: fileNumber, offset: offset) {
            if let byteCount, block.byteCount != byteCount {
                throw LogError.damagedRun(
                    file.path, at: offset, "the block has \(block.byteCount) bytes, expected \(byteCount)")
            }
            return block
        }
        return try loadBlock(at: offset, byteCount: byteCount, isIndex: isIndex)
    }

    @inline(never)
    private func loadBlock(at offset: UInt64, byteCount: Int?, isIndex: Bool) throws(LogError) -> BlockHandle {
        // Callers have checked that the block begins inside its region.
        let end = isIndex ? footer.filterOffset : footer.indexOffset
        var wanted = byteCount ?? 0
        if byteCount == nil {
            guard end - offset >= UInt64(IndexBlock.headerByteCount) else {
                throw LogError.damagedRun(file.path, at: offset, "the block's header lies beyond the blocks' end")
            }
            wanted = try Self.read(IndexBlock.headerByteCount, of: file, at: offset) {
                IndexBlock.byteCount($0.baseAddress.unsafelyUnwrapped)
            }
        }
        guard wanted >= IndexBlock.headerByteCount, wanted <= IndexBlock.byteCountMax, UInt64(wanted) <= end - offset
        else {
            throw LogError.damagedRun(file.path, at: offset, "a block of \(wanted) bytes lies beyond the blocks' end")
        }
        let memory = BlockMemory.allocate(byteCount: wanted)
        do throws(LogError) {
            try Self.read(into: memory.bytes, of: file, at: offset)
            if let problem = IndexBlock.problem(
                in: UnsafeRawBufferPointer(memory.bytes), isIndex: isIndex, seed: header.seed(at: offset))
            {
                throw LogError.damagedRun(file.path, at: offset, problem)
            }
        } catch {
            memory.release()
            throw error
        }
        return cache.insert(file: fileNumber, offset: offset, memory)
    }

    private static func size(of file: DiskFile) throws(LogError) -> UInt64 {
        do {
            return try file.byteCount()
        } catch {
            throw LogError(error)
        }
    }

    private static func read<R>(
        _ byteCount: Int, of file: DiskFile, at offset: UInt64, _ body: (UnsafeRawBufferPointer) -> R
    ) throws(LogError) -> R {
        try withUnsafeTemporaryAllocation(byteCount: byteCount, alignment: 8) { (bytes) throws(LogError) -> R in
            try read(into: bytes, of: file, at: offset)
            return body(UnsafeRawBufferPointer(bytes))
        }
    }

    static func read(into bytes: UnsafeMutableRawBufferPointer, of file: DiskFile, at offset: UInt64)
        throws(LogError)
    {
        let byteCount: Int
        do {
            byteCount = try file.read(into: bytes, at: offset)
        } catch {
            throw LogError(error)
        }
        guard byteCount == bytes.count else {
            throw LogError.damagedRun(file.path, at: offset, "the file ends \(bytes.count - byteCount) bytes too early")
        }
    }
}
