import FaultlineDisk
import Glibc

/// Memory for table pages whose addresses stay readable for as long as the arena lives.
///
/// A reader looks into a page without a lock and asks afterwards whether it was still the page it meant (`PageHandle`).
/// For that the memory may change under it but must never go: so pages are cut from mapped slabs, and what is not
/// needed goes back to the system by `madvise`, which leaves the address range in place.
///
/// Concurrency: guarded by its lock.
// Safe because all mutable state is guarded by the lock.
final class PageArena: @unchecked Sendable {
    private static let slabPageCount = 256
    /// Free pages that keep their memory, so that copying pages does not meet the system each time.
    private static let warmPageCountMax = 512

    private let lock = EngineLock()
    private var slabs: [UnsafeMutableRawPointer] = []
    private var warm: [UnsafeMutableRawPointer] = []
    private var cold: [UnsafeMutableRawPointer] = []

    deinit {
        for slab in slabs { munmap(slab, Self.slabPageCount * TablePage.byteCount) }
    }

    /// A page of 4,096 bytes with any content.
    func take() -> UnsafeMutableRawPointer {
        lock.lock()
        defer { lock.unlock() }
        if let page = warm.popLast() { return page }
        if let page = cold.popLast() { return page }
        let byteCount = Self.slabPageCount * TablePage.byteCount
        guard let slab = mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            slab != MAP_FAILED
        else {
            preconditionFailure("The system has no memory left for table pages.")
        }
        slabs.append(slab)
        for index in (1..<Self.slabPageCount).reversed() { cold.append(slab + index * TablePage.byteCount) }
        return slab
    }

    /// Gives a page back.
    func give(_ page: UnsafeMutableRawPointer) {
        lock.lock()
        defer { lock.unlock() }
        if warm.count < Self.warmPageCountMax {
            warm.append(page)
        } else {
            madvise(page, TablePage.byteCount, MADV_DONTNEED)
            cold.append(page)
        }
    }
}
