import FaultlineDisk
import Synchronization

/// 128 consecutive pages of a table: the lower level of its directory.
///
/// Shared by the roots that see the same 128 page versions; `references` counts these.
struct TableChunk: ~Copyable {
    static let pageCount = 128
    /// Bytes of a chunk with its slots.
    fileprivate static let byteCount =
        MemoryLayout<TableChunk>.stride + pageCount * MemoryLayout<PageHandlePointer?>.stride

    let references = Atomic<Int>(1)
    /// The working version that created it; only that one may change it in place.
    let version: UInt64
    /// In the same allocation, behind the chunk.
    let slots: UnsafeMutablePointer<PageHandlePointer?>
    /// Slots in use; a version without any drops the chunk.
    var usedCount = 0

    fileprivate init(version: UInt64, slots: UnsafeMutablePointer<PageHandlePointer?>) {
        self.version = version
        self.slots = slots
    }
}

typealias TableChunkPointer = UnsafeMutablePointer<TableChunk>

extension PageCache {
    func makeChunk(version: UInt64) -> TableChunkPointer {
        // The slots follow the chunk: one allocation for both.
        let memory = BufferMemory.allocate(byteCount: TableChunk.byteCount)
        let slots = (memory + MemoryLayout<TableChunk>.stride).bindMemory(
            to: PageHandlePointer?.self, capacity: TableChunk.pageCount)
        slots.initialize(repeating: nil, count: TableChunk.pageCount)
        let chunk = memory.bindMemory(to: TableChunk.self, capacity: 1)
        chunk.initialize(to: TableChunk(version: version, slots: slots))
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
        BufferMemory.deallocate(UnsafeMutableRawPointer(chunk), byteCount: TableChunk.byteCount)
    }
}
