package import FaultlineDisk

/// Writes one run file, entries ascending.
///
/// Memory is bounded for any number and size of the entries: buffers of about 400 KiB, up to
/// `auxiliaryByteCountMax` each for the block index and the Bloom filter, and a quarter of it for the levels above.
/// Parts that do not fit are built at the end by reading the blocks again.
package struct RunWriter: ~Copyable {
    /// Bytes that the block index and the Bloom filter may each hold before they are built by reading again.
    package static let auxiliaryByteCountMax = 2 << 20

    let definition: IndexDefinition
    let prefixByteCountMax: Int
    let header: FileHeader
    let auxiliaryByteCountMax: Int
    private let reservation: MemoryReservation
    var output: RunOutput
    var footer: RunFooter
    var blockIndex: PendingIndex
    var filter: PendingFilter
    private var builder: BlockBuilder
    /// Builds the blocks of postings, in a text index.
    private let postings: PostingBlockBuilder?
    private let lastKey = KeyCopy()
    private var lastID: RecordID = 0
    private var lastEntrySequence: UInt64 = 0

    /// Begins a run in an empty file.
    ///
    /// - Parameters:
    ///   - file: The empty file; `finish` makes it durable.
    ///   - header: Its header, which seeds the checksum of each block.
    ///   - definition: The index; the Bloom filter holds its search prefixes.
    ///   - level: 0 of a flush; of a merge, one above that of the oldest run merged.
    ///   - expectedEntryCount: No fewer than will be appended; if there are more, the filter is built by reading again.
    ///   - budget: Where the writer's memory is reserved; nil reserves none.
    ///   - auxiliaryByteCountMax: Smaller in tests.
    /// - Throws: Errors of writing the file.
    package init(
        file: DiskFile, header: FileHeader, definition: IndexDefinition, level: UInt16, expectedEntryCount: UInt64,
        budget: MemoryBudget? = nil, auxiliaryByteCountMax: Int = RunWriter.auxiliaryByteCountMax
    ) throws(LogError) {
        self.definition = definition
        prefixByteCountMax = definition.searchPrefix.byteCountMax
        self.header = header
        self.auxiliaryByteCountMax = auxiliaryByteCountMax
        footer = RunFooter(index: definition.id, level: level)
        blockIndex = PendingIndex(byteCountMax: auxiliaryByteCountMax)
        // Terms, of which a text index has few, are its search prefixes.
        let prefixCountMax = definition.isText ? BloomFilter.prefixCount(byteCount: auxiliaryByteCountMax) : .max
        filter = PendingFilter(
            expectedEntryCount: min(expectedEntryCount, prefixCountMax), byteCountMax: auxiliaryByteCountMax)
        builder = BlockBuilder(byteCountMax: IndexBlock.entryBlockByteCountMax, entryCountMin: 1)
        postings = definition.isText ? PostingBlockBuilder() : nil
        output = RunOutput(file: file)
        reservation = MemoryReservation(
            3 * BlockBuilder.memoryByteCount + RunOutput.bufferByteCount + BlockStream.byteCountMax
                + auxiliaryByteCountMax / 4 * 9 + (definition.isText ? PostingBlockBuilder.memoryByteCount : 0),
            for: .buffers, in: budget)
        try withUnsafeTemporaryAllocation(byteCount: FileHeader.byteCount, alignment: 8) { (bytes) throws(LogError) in
            header.write(to: bytes.baseAddress.unsafelyUnwrapped)
            try output.append(UnsafeRawBufferPointer(bytes))
        }
    }

    /// Adds an entry, which must come after all earlier ones: key and identifier ascending, sequence number descending.
    @inline(__always)
    package mutating func append(
        key: UnsafeRawBufferPointer, id: RecordID, sequence: UInt64, isDelete: Bool
    ) throws(LogError) {
        precondition(key.count <= IndexDefinition.keyByteCountMax, "An index key has at most 32,000 bytes.")
        precondition(id <= IndexBlock.idMax, "An identifier has at most 48 bits.")
        precondition(sequence <= IndexBlock.sequenceMax, "A sequence number is at most 2^62.")
        let start = key.baseAddress ?? UnsafeRawPointer(lastKey.start)
        let shared = KeyBytes.sharedByteCount(lastKey.start, start, min(lastKey.byteCount, key.count))
        let isFirst = footer.entryCount == 0
        precondition(
            isFirst || isBehind(start, key.count, shared: shared, id: id, sequence: sequence),
            "The entries of a run come in their order.")
        if isFirst || shared < min(prefixByteCountMax, max(key.count, lastKey.byteCount)) {
            filter.add(IndexHash.hash(start, min(prefixByteCountMax, key.count)))
        }
        let next = UnsafeRawBufferPointer(start: start, count: key.count)
        if let postings, let parts = posting(next, shared: shared, id: id) {
            if builder.entryCount > 0 { try finishBlock(key: Separator.between(lastKey.bytes, next, shared: shared)) }
            let entry = PostingBlockBuilder.Entry(parts, id: id, sequence: sequence, isDelete: isDelete)
            if !postings.append(entry, key: start, parts, shared: shared) {
                try finishPostings(postings, key: Separator.between(lastKey.bytes, next, shared: shared))
                _ = postings.append(entry, key: start, parts, shared: 0)
            }
        } else {
            if let postings, postings.entryCount > 0 {
                try finishPostings(postings, key: Separator.between(lastKey.bytes, next, shared: shared))
            }
            let sharedInBlock = builder.entryCount == 0 ? 0 : shared
            let lengths = BlockEntries.Lengths(shared: sharedInBlock, further: key.count &- sharedInBlock)
            if !builder.append(key: start, lengths, id: id, sequence: sequence, isDelete: isDelete) {
                try finishBlock(key: Separator.between(lastKey.bytes, next, shared: shared))
                builder.begin(key: next, id: id, sequence: sequence, isDelete: isDelete)
            }
        }
        lastKey.replace(after: shared, with: start + shared, key.count &- shared)
        lastID = id
        lastEntrySequence = sequence
        footer.entryCount &+= 1
        if isDelete { footer.deleteCount &+= 1 }
        if isFirst || sequence < footer.firstSequence { footer.firstSequence = sequence }
        if sequence > footer.lastSequence { footer.lastSequence = sequence }
    }

    /// The parts of a posting's key; nil if the entry is none.
    @inline(__always)
    private func posting(_ key: UnsafeRawBufferPointer, shared: Int, id: RecordID) -> PostingKey? {
        guard let start = key.baseAddress else { return nil }
        // Most have the term of the posting before.
        if let postings, postings.entryCount > 0, shared > postings.termByteCount {
            return PostingKey(start, key.count, termByteCount: postings.termByteCount, id: id)
        }
        return PostingKey(start, key.count, id: id)
    }

    /// Writes block index, filter and footer, and makes the file durable.
    ///
    /// Durability: the file's bytes are durable; the caller must synchronize its directory entry.
    package consuming func finish() throws(LogError) -> RunDescription {
        if builder.entryCount > 0 { try finishBlock(key: lastKey.bytes) }
        if let postings, postings.entryCount > 0 { try finishPostings(postings, key: lastKey.bytes) }
        footer.indexOffset = output.offset
        try writeIndexAndFilter()
        try withUnsafeTemporaryAllocation(byteCount: RunFooter.byteCount, alignment: 8) { (bytes) throws(LogError) in
            footer.write(to: bytes.baseAddress.unsafelyUnwrapped, at: output.offset, of: header)
            try output.append(UnsafeRawBufferPointer(bytes))
        }
        try output.flush()
        do {
            try output.file.synchronize(site: "log.run")
        } catch {
            throw LogError(error)
        }
        return RunDescription(footer, fileNumber: header.fileNumber, byteCount: output.offset)
    }

    private mutating func finishBlock(key: UnsafeRawBufferPointer) throws(LogError) {
        try add(builder.finish(seed: header.seed(at: output.offset)), key: key)
    }

    private mutating func finishPostings(_ postings: PostingBlockBuilder, key: UnsafeRawBufferPointer) throws(LogError)
    {
        try add(postings.finish(seed: header.seed(at: output.offset)), key: key)
    }

    private mutating func add(_ block: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer) throws(LogError) {
        let offset = output.offset
        try output.append(block)
        footer.blockCount += 1
        blockIndex.add(key: key, offset: offset, byteCount: block.count)
    }

    @inline(__always)
    private func isBehind(_ key: UnsafeRawPointer, _ byteCount: Int, shared: Int, id: RecordID, sequence: UInt64)
        -> Bool
    {
        if shared == lastKey.byteCount {
            if byteCount > shared { return true }
            return id > lastID || (id == lastID && sequence < lastEntrySequence)
        }
        return byteCount > shared
            && key.load(fromByteOffset: shared, as: UInt8.self)
                > lastKey.start.load(fromByteOffset: shared, as: UInt8.self)
    }
}

/// The key for a block of entries in the block index.
enum Separator {
    /// A key not below the last key of a block, nor above the first key of the next, and as short as possible: so the
    /// index holds a few bytes of long keys.
    ///
    /// `shared` is the length of the two keys' common prefix.
    static func between(
        _ last: UnsafeRawBufferPointer, _ first: UnsafeRawBufferPointer, shared: Int
    ) -> UnsafeRawBufferPointer {
        guard shared < last.count, shared + 1 < first.count else { return last }
        return UnsafeRawBufferPointer(rebasing: first[..<(shared + 1)])
    }
}
