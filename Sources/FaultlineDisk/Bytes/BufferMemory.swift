import Glibc
import Synchronization

/// Memory for buffers: small ones are the allocator's, large ones pages that the system gives and takes back.
///
/// An allocator keeps what it gets back, for the next who asks. Of large buffers that are seldom of one size it keeps
/// pieces into which the next does not fit: a migration in 16 MiB took as much again for them as it used, and the more
/// the longer it ran. Pages that are given back are gone at once; a few regions wait for the next buffer of their size,
/// so that who takes one for each operation does not meet the system each time.
///
/// Concurrency: all members may be called from any thread.
package enum BufferMemory {
    /// A buffer of so many bytes, or more, is made of pages.
    @usableFromInline static var pagedByteCount: Int { 64 << 10 }
    @usableFromInline static let pages = PageRegions()

    /// Memory for `byteCount` bytes with any content, to be given back by `deallocate` with the same count.
    ///
    /// Aligned to 16 bytes, or to `alignment`, which is 64 at most. Ends the process where the system has no memory, as
    /// every allocation does.
    @inlinable @inline(__always)
    package static func allocate(byteCount: Int, alignment: Int = 16) -> UnsafeMutableRawPointer {
        if byteCount >= pagedByteCount { return pages.take(byteCount) }
        return .allocate(byteCount: byteCount, alignment: alignment)
    }

    /// Bytes of pages that were given out and not given back.
    package static var pagedByteCountInUse: Int { pages.takenByteCount }

    /// Gives back what `allocate` gave for `byteCount` bytes.
    @inlinable @inline(__always)
    package static func deallocate(_ start: UnsafeMutableRawPointer, byteCount: Int) {
        if byteCount >= pagedByteCount { return pages.give(start, byteCount) }
        start.deallocate()
    }

    /// Memory for `byteCount` bytes, with their count.
    package static func allocateBuffer(byteCount: Int, alignment: Int = 16) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(start: allocate(byteCount: byteCount, alignment: alignment), count: byteCount)
    }

    /// Gives back what `allocateBuffer` gave.
    package static func deallocate(_ buffer: UnsafeMutableRawBufferPointer) {
        if let start = buffer.baseAddress { deallocate(start, byteCount: buffer.count) }
    }

    /// Memory for `count` values, not initialized.
    ///
    /// To be given back by `deallocate(_:capacity:)`, with nothing in it that needs to be deinitialized.
    @inlinable @inline(__always)
    package static func allocate<Value>(_ type: Value.Type, capacity: Int) -> UnsafeMutablePointer<Value> {
        allocate(byteCount: capacity * MemoryLayout<Value>.stride).bindMemory(to: type, capacity: capacity)
    }

    /// Gives back what `allocate(_:capacity:)` gave.
    @inlinable @inline(__always)
    package static func deallocate<Value>(_ start: UnsafeMutablePointer<Value>, capacity: Int) {
        deallocate(UnsafeMutableRawPointer(start), byteCount: capacity * MemoryLayout<Value>.stride)
    }
}

/// Regions of pages that the system gives, and those of them that wait for their next use.
///
/// Concurrency: all members may be called from any thread.
// Safe because the list is guarded by the lock.
package final class PageRegions: @unchecked Sendable {
    private struct Region {
        let start: UnsafeMutableRawPointer
        let byteCount: Int
    }

    /// Bytes that wait for their next use, at most, and of one region.
    package static let keptByteCountMax = 1 << 20
    private static let keptRegionByteCountMax = 256 << 10
    private static let pageByteCount = 4_096
    /// Where a buffer begins in memory that is the allocator's: never at a page's beginning.
    private static let foreignOffset = 64

    private let map: @Sendable (Int) -> UnsafeMutableRawPointer?
    private let lock = EngineLock()
    /// The oldest first.
    private var kept: [Region] = []
    private var keptByteCount = 0
    private let taken = Atomic<Int>(0)

    /// - Parameter map: Gives pages for so many bytes, nil where there are none; for tests.
    package init(map: @escaping @Sendable (Int) -> UnsafeMutableRawPointer? = PageRegions.mapPages) {
        self.map = map
        kept.reserveCapacity(Self.keptByteCountMax / BufferMemory.pagedByteCount)
    }

    deinit {
        for region in kept { munmap(region.start, region.byteCount) }
    }

    /// Bytes that wait for their next use.
    package var waitingByteCount: Int { lock.withLock { keptByteCount } }

    /// Bytes that were taken and not given back.
    package var takenByteCount: Int { taken.load(ordering: .relaxed) }

    /// Memory for `byteCount` bytes with any content.
    package func take(_ byteCount: Int) -> UnsafeMutableRawPointer {
        let wanted = Self.roundedUp(byteCount)
        taken.wrappingAdd(wanted, ordering: .relaxed)
        if wanted <= Self.keptRegionByteCountMax, let start = takeKept(wanted) { return start }
        if let start = map(wanted) { return start }
        // The system counts mappings, too: the allocator may still have memory.
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

    /// Gives back what `take` gave for `byteCount` bytes.
    package func give(_ start: UnsafeMutableRawPointer, _ byteCount: Int) {
        taken.wrappingSubtract(Self.roundedUp(byteCount), ordering: .relaxed)
        if Int(bitPattern: start) & (Self.pageByteCount - 1) != 0 {
            (start - Self.foreignOffset).deallocate()
            return
        }
        let region = Region(start: start, byteCount: Self.roundedUp(byteCount))
        guard region.byteCount <= Self.keptRegionByteCountMax else { return Self.unmap(region) }
        while let superfluous = keep(region) { Self.unmap(superfluous) }
    }

    /// Keeps a region, unless an older one has to go first, which is returned.
    private func keep(_ region: Region) -> Region? {
        lock.lock()
        defer { lock.unlock() }
        if keptByteCount + region.byteCount > Self.keptByteCountMax {
            let oldest = kept.removeFirst()
            keptByteCount -= oldest.byteCount
            return oldest
        }
        kept.append(region)
        keptByteCount += region.byteCount
        return nil
    }

    private static func unmap(_ region: Region) {
        // What cannot be unmapped gives its memory back all the same.
        if munmap(region.start, region.byteCount) != 0 { madvise(region.start, region.byteCount, MADV_DONTNEED) }
    }

    /// Pages for so many bytes, a multiple of a page's.
    package static func mapPages(_ byteCount: Int) -> UnsafeMutableRawPointer? {
        let start = mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        return start == MAP_FAILED ? nil : start
    }

    private static func roundedUp(_ byteCount: Int) -> Int { (byteCount + pageByteCount - 1) & ~(pageByteCount - 1) }
}
