import FaultlineDisk

/// One version of one location table: object identifier to location.
///
/// Two levels: an array of chunks, each with 128 pages of 336 locations. A look-up is four dependent loads and takes no
/// reference.
///
/// Invariants:
/// - once captured (its version is older than the working one) nothing in it changes;
/// - `recordCount` is the number of locations that are not absent;
/// - once captured it has no page without an object;
/// - every identifier ever given is below `nextID`.
// Safe because only the working version is changed, by the thread that holds the writer lock. Captured versions are
// immutable.
package final class TableRoot: @unchecked Sendable {
    package let table: UInt16
    let version: UInt64
    package let cache: PageCache
    @exclusivity(unchecked) private(set) var chunks: UnsafeMutablePointer<TableChunkPointer?>
    @exclusivity(unchecked) private(set) var chunkCount: Int
    @exclusivity(unchecked) package var recordCount: Int
    @exclusivity(unchecked) package var nextID: RecordID

    init(table: UInt16, version: UInt64, cache: PageCache) {
        self.table = table
        self.version = version
        self.cache = cache
        chunks = BufferMemory.allocate(TableChunkPointer?.self, capacity: 1)
        chunks.initialize(to: nil)
        chunkCount = 0
        recordCount = 0
        nextID = 1
    }

    /// A copy that shares all chunks.
    init(copying other: TableRoot, version: UInt64) {
        table = other.table
        self.version = version
        cache = other.cache
        chunkCount = other.chunkCount
        recordCount = other.recordCount
        nextID = other.nextID
        chunks = BufferMemory.allocate(TableChunkPointer?.self, capacity: max(chunkCount, 1))
        chunks.initialize(repeating: nil, count: max(chunkCount, 1))
        for index in 0..<chunkCount {
            guard let chunk = other.chunks[index] else { continue }
            cache.retain(chunk)
            chunks[index] = chunk
        }
    }

    deinit {
        // Without a reference of its own, which costs a hundred instructions: the cache has weak references.
        Unmanaged.passUnretained(cache)._withUnsafeGuaranteedRef { cache in
            for index in 0..<chunkCount {
                if let chunk = chunks[index] { cache.release(chunk) }
            }
        }
        BufferMemory.deallocate(chunks, capacity: max(chunkCount, 1))
    }

    /// Pages up to the last that exists, with gaps.
    package var pageCount: Int { chunkCount * TableChunk.pageCount }

    /// The handle of a page; nil for any number without a page.
    @inline(__always)
    package func handle(ofPage page: Int) -> PageHandlePointer? {
        // A negative number is too large as an unsigned one.
        let page = UInt(bitPattern: page)
        let chunkIndex = page / UInt(TableChunk.pageCount)
        guard chunkIndex < UInt(bitPattern: chunkCount), let chunk = chunks[Int(bitPattern: chunkIndex)] else {
            return nil
        }
        return chunk.pointee.slots[Int(bitPattern: page % UInt(TableChunk.pageCount))]
    }

    /// The location of an object; absent if it does not exist.
    @inline(__always)
    func location(of id: RecordID) throws(LogError) -> Location {
        guard id > 0, id <= Limits.recordIDMax else { return .absent }
        let (page, entry) = TablePage.place(of: id)
        guard let handle = handle(ofPage: page) else { return .absent }
        return try cache.location(handle, entry: entry)
    }

    /// The same, if its page is in memory; nil if the page must be loaded first.
    @inline(__always)
    func residentLocation(of id: RecordID) -> Location? {
        guard id > 0, id <= Limits.recordIDMax else { return .absent }
        let (page, entry) = TablePage.place(of: id)
        guard let handle = handle(ofPage: page) else { return .absent }
        return PageCache.residentLocation(handle, entry: entry)
    }

    // MARK: Changing the working version

    /// Returns the page as memory that may be changed in place; creates or copies it if necessary.
    func ownedPage(_ page: Int) throws(LogError) -> PageHandlePointer {
        let chunkIndex = page / TableChunk.pageCount
        if chunkIndex >= chunkCount { growChunks(to: chunkIndex + 1) }
        let chunk: TableChunkPointer
        if let existing = chunks[chunkIndex] {
            if existing.pointee.version == version {
                chunk = existing
            } else {
                chunk = cache.copyChunk(existing, version: version)
                chunks[chunkIndex] = chunk
                cache.release(existing)
            }
        } else {
            chunk = cache.makeChunk(version: version)
            chunks[chunkIndex] = chunk
        }
        let slot = page % TableChunk.pageCount
        guard let handle = chunk.pointee.slots[slot] else {
            let made = cache.makePage(version: version, table: table, number: UInt32(page))
            chunk.pointee.slots[slot] = made
            chunk.pointee.usedCount += 1
            return made
        }
        if handle.pointee.version == version, handle.pointee.file == nil { return handle }
        let copy = try cache.copyPage(handle, version: version)
        chunk.pointee.slots[slot] = copy
        cache.release(handle)
        return copy
    }

    /// Removes a page of the working version that has no objects left.
    func removeOwnedPage(_ page: Int) {
        let chunkIndex = page / TableChunk.pageCount
        let slot = page % TableChunk.pageCount
        guard let chunk = chunks[chunkIndex], let handle = chunk.pointee.slots[slot] else { return }
        chunk.pointee.slots[slot] = nil
        chunk.pointee.usedCount -= 1
        cache.release(handle)
        guard chunk.pointee.usedCount == 0 else { return }
        chunks[chunkIndex] = nil
        cache.release(chunk)
    }

    /// Inserts a page that is in a checkpoint file.
    func placeStored(_ handle: PageHandlePointer, page: Int) {
        let chunkIndex = page / TableChunk.pageCount
        if chunkIndex >= chunkCount { growChunks(to: chunkIndex + 1) }
        let chunk = chunks[chunkIndex] ?? cache.makeChunk(version: version)
        chunks[chunkIndex] = chunk
        if let old = chunk.pointee.slots[page % TableChunk.pageCount] {
            cache.release(old)
        } else {
            chunk.pointee.usedCount += 1
        }
        chunk.pointee.slots[page % TableChunk.pageCount] = handle
    }

    private func growChunks(to count: Int) {
        let larger = BufferMemory.allocate(TableChunkPointer?.self, capacity: count)
        larger.initialize(repeating: nil, count: count)
        for index in 0..<chunkCount { larger[index] = chunks[index] }
        BufferMemory.deallocate(chunks, capacity: max(chunkCount, 1))
        chunks = larger
        chunkCount = count
    }
}
