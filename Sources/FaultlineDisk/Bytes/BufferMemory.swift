public import Glibc
import Synchronization

/// Memory for buffers: small ones come from the allocator, large ones are pages mapped from the system.
///
/// An allocator keeps freed memory for the next request. Large buffers seldom have equal sizes, so it keeps
/// fragments into which the next buffer does not fit. A migration in 16 MiB needed as much memory again for
/// such fragments, and more the longer it ran. Freed pages return to the system at once. A few regions are kept
/// for the next buffer of their size, so that an operation that allocates one buffer each time does not call
/// the system each time.
///
/// Concurrency: all members may be called from any thread.
@usableFromInline
package enum BufferMemory {
    /// Buffers of at least this size consist of pages.
    @usableFromInline static var pagedByteCount: Int { 64 << 10 }
    @usableFromInline static let pages = PageRegions()

    /// Allocates `byteCount` bytes with undefined content; free them by `deallocate` with the same count.
    ///
    /// The memory is aligned to 16 bytes, or to `alignment`, which is at most 64. The process ends if the system has no
    /// memory, as with every allocation.
    @inlinable @inline(__always)
    package static func allocate(byteCount: Int, alignment: Int = 16) -> UnsafeMutableRawPointer {
        if byteCount >= pagedByteCount { return pages.take(byteCount) }
        // The allocator itself: a pointer's `allocate` asks for aligned memory, which takes twice the instructions.
        guard let memory = alignment <= 16 ? malloc(byteCount) : aligned(byteCount, to: alignment) else {
            preconditionFailure("The system has no memory for a buffer.")
        }
        return memory
    }

    /// Rounds up to a multiple of the alignment: the C standard allows no other size.
    @inlinable @inline(__always)
    static func aligned(_ byteCount: Int, to alignment: Int) -> UnsafeMutableRawPointer? {
        aligned_alloc(alignment, (byteCount + alignment - 1) / alignment * alignment)
    }

    /// Keeps at most `byteCount` bytes of freed pages for the next buffers, in regions of any size.
    ///
    /// For a program that opens thousands of small stores one after another: most of their time is that of pages which
    /// the system takes back and gives again.
    package static func keepPages(upTo byteCount: Int) { pages.keep(upTo: byteCount) }

    /// Has the system map all pages from `start` on in one call, which costs a fraction of the first touch of each.
    ///
    /// `start` is the beginning of a page; for other memory, and in older kernels, the call has no effect.
    package static func populate(_ start: UnsafeMutableRawPointer, byteCount: Int) {
        madvise(start, byteCount, populateForWriting)
    }

    /// `MADV_POPULATE_WRITE`, which older headers lack.
    private static var populateForWriting: Int32 { 23 }

    /// Bytes of pages that are allocated and not yet freed.
    package static var pagedByteCountInUse: Int { pages.takenByteCount }

    /// Frees the `byteCount` bytes that `allocate` returned.
    @inlinable @inline(__always)
    package static func deallocate(_ start: UnsafeMutableRawPointer, byteCount: Int) {
        if byteCount >= pagedByteCount { return pages.give(start, byteCount) }
        free(start)
    }

    /// Allocates `byteCount` bytes and returns them with their count.
    package static func allocateBuffer(byteCount: Int, alignment: Int = 16) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(start: allocate(byteCount: byteCount, alignment: alignment), count: byteCount)
    }

    /// Frees the buffer that `allocateBuffer` returned.
    package static func deallocate(_ buffer: UnsafeMutableRawBufferPointer) {
        if let start = buffer.baseAddress { deallocate(start, byteCount: buffer.count) }
    }

    /// Allocates memory for `count` values, not initialized.
    ///
    /// Deinitialize its values, then free it by `deallocate(_:capacity:)`.
    @inlinable @inline(__always)
    package static func allocate<Value>(_ type: Value.Type, capacity: Int) -> UnsafeMutablePointer<Value> {
        allocate(byteCount: capacity * MemoryLayout<Value>.stride).bindMemory(to: type, capacity: capacity)
    }

    /// Frees the memory that `allocate(_:capacity:)` returned.
    @inlinable @inline(__always)
    package static func deallocate<Value>(_ start: UnsafeMutablePointer<Value>, capacity: Int) {
        deallocate(UnsafeMutableRawPointer(start), byteCount: capacity * MemoryLayout<Value>.stride)
    }
}

/// Regions of pages mapped from the system, and a short list of free regions kept for reuse.
///
/// Concurrency: all members may be called from any thread.
// Safe because the list is guarded by the lock.
@usableFromInline
package final class PageRegions: @unchecked Sendable {
    private struct Region {
        let start: UnsafeMutableRawPointer
        let byteCount: Int
    }

    /// The greatest number of bytes kept for reuse, in all and in one region, unless `keep` sets others.
    package static let keptByteCountMax = 1 << 20
    private static let keptRegionByteCountMax = 256 << 10
    private static let pageByteCount = 4_096
    /// The offset of a buffer in the allocator's memory: such a buffer never begins at the start of a page.
    private static let foreignOffset = 64

    private let map: @Sendable (Int) -> UnsafeMutableRawPointer?
    private let lock = EngineLock()
    /// Free regions, the oldest first.
    private var kept: [Region] = []
    private var keptByteCount = 0
    /// Both limits only grow.
    private var sumMax = PageRegions.keptByteCountMax
    private let regionMax = Atomic<Int>(PageRegions.keptRegionByteCountMax)
    private let taken = Atomic<Int>(0)

    /// - Parameter map: Maps pages for a number of bytes, or returns nil if there are none; for tests.
    package init(map: @escaping @Sendable (Int) -> UnsafeMutableRawPointer? = PageRegions.mapPages) {
        self.map = map
        kept.reserveCapacity(Self.keptByteCountMax / BufferMemory.pagedByteCount)
    }

    deinit {
        for region in kept { munmap(region.start, region.byteCount) }
    }

    /// The number of bytes kept for reuse.
    package var waitingByteCount: Int { lock.withLock { keptByteCount } }

    /// The number of bytes that are allocated and not yet freed.
    package var takenByteCount: Int { taken.load(ordering: .relaxed) }

    /// Keeps at most `byteCount` bytes, in regions of any size; not fewer than without this.
    package func keep(upTo byteCount: Int) {
        // The sum first, so that each region that is kept fits into it.
        lock.withLock { sumMax = max(sumMax, byteCount) }
        regionMax.max(byteCount, ordering: .relaxed)
    }

    /// Allocates `byteCount` bytes with undefined content.
    @usableFromInline
    package func take(_ byteCount: Int) -> UnsafeMutableRawPointer {
        let wanted = Self.roundedUp(byteCount)
        taken.wrappingAdd(wanted, ordering: .relaxed)
        if wanted <= regionMax.load(ordering: .relaxed), let start = takeKept(wanted) { return start }
        if let start = map(wanted) { return start }
        // The system also limits the number of mappings, so the allocator may still have memory.
        let start = UnsafeMutableRawPointer.allocate(
            byteCount: wanted + Self.foreignOffset, alignment: Self.pageByteCount)
        return start + Self.foreignOffset
    }

    private func takeKept(_ byteCount: Int) -> UnsafeMutableRawPointer? {
        lock.lock()
        defer { lock.unlock() }
        guard let index = kept.lastIndex(where: { $0.byteCount == byteCount }) else { return nil }
        keptByteCount -= byteCount
        return kept.remove(at: index).start
    }

    /// Frees the `byteCount` bytes that `take` returned.
    @usableFromInline
    package func give(_ start: UnsafeMutableRawPointer, _ byteCount: Int) {
        taken.wrappingSubtract(Self.roundedUp(byteCount), ordering: .relaxed)
        if Int(bitPattern: start) & (Self.pageByteCount - 1) != 0 {
            (start - Self.foreignOffset).deallocate()
            return
        }
        let region = Region(start: start, byteCount: Self.roundedUp(byteCount))
        guard region.byteCount <= regionMax.load(ordering: .relaxed) else { return Self.unmap(region) }
        while let superfluous = keep(region) { Self.unmap(superfluous) }
    }

    /// Keeps a region for reuse, or removes and returns an older region that must go first.
    private func keep(_ region: Region) -> Region? {
        lock.lock()
        defer { lock.unlock() }
        if keptByteCount + region.byteCount > sumMax {
            let oldest = kept.removeFirst()
            keptByteCount -= oldest.byteCount
            return oldest
        }
        kept.append(region)
        keptByteCount += region.byteCount
        return nil
    }

    private static func unmap(_ region: Region) {
        // A region that cannot be unmapped still returns its memory.
        if munmap(region.start, region.byteCount) != 0 { madvise(region.start, region.byteCount, MADV_DONTNEED) }
    }

    /// Maps pages for `byteCount` bytes, a multiple of the page size.
    package static func mapPages(_ byteCount: Int) -> UnsafeMutableRawPointer? {
        let start = mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        return start == MAP_FAILED ? nil : start
    }

    private static func roundedUp(_ byteCount: Int) -> Int { (byteCount + pageByteCount - 1) & ~(pageByteCount - 1) }
}
