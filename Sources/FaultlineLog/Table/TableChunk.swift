import Synchronization

/// 128 consecutive pages of a table: the lower level of its directory.
///
/// Shared by the roots that see the same 128 page versions; `references` counts these.
struct TableChunk: ~Copyable {
    static let pageCount = 128

    let references = Atomic<Int>(1)
    /// The working version that created it; only that one may change it in place.
    let version: UInt64
    let slots: UnsafeMutablePointer<PageHandlePointer?>
    /// Slots in use; a version without any drops the chunk.
    var usedCount = 0

    init(version: UInt64) {
        self.version = version
        slots = .allocate(capacity: Self.pageCount)
        slots.initialize(repeating: nil, count: Self.pageCount)
    }

    deinit {
        slots.deallocate()
    }
}

typealias TableChunkPointer = UnsafeMutablePointer<TableChunk>

extension PageCache {
    func makeChunk(version: UInt64) -> TableChunkPointer {
        let chunk = TableChunkPointer.allocate(capacity: 1)
        chunk.initialize(to: TableChunk(version: version))
        return chunk
    }

    /// A copy that shares all pages.
    func copyChunk(_ original: TableChunkPointer, version: UInt64) -> TableChunkPointer {
        let chunk = makeChunk(version: version)
        var index = 0
        var left = original.pointee.usedCount
        while left > 0, index < TableChunk.pageCount {
            if let handle = original.pointee.slots[index] {
                retain(handle)
                chunk.pointee.slots[index] = handle
                left &-= 1
            }
            index &+= 1
        }
        chunk.pointee.usedCount = original.pointee.usedCount
        return chunk
    }

    @inline(__always)
    func retain(_ chunk: TableChunkPointer) {
        chunk.pointee.references.wrappingAdd(1, ordering: .relaxed)
    }

    /// Releases one reference; the last one releases the pages.
    func release(_ chunk: TableChunkPointer) {
        guard chunk.pointee.references.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 else {
            return
        }
        var index = 0
        var left = chunk.pointee.usedCount
        while left > 0, index < TableChunk.pageCount {
            if let handle = chunk.pointee.slots[index] {
                release(handle)
                left &-= 1
            }
            index &+= 1
        }
        chunk.deinitialize(count: 1)
        chunk.deallocate()
    }
}
