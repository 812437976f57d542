import FaultlineDisk
import Glibc

/// Memory for table pages whose addresses stay readable for as long as the arena exists.
///
/// A reader reads a page without a lock and checks afterwards whether it was still the same page (`PageHandle`). So the
/// memory may change during the read but must stay mapped. Pages are cut from mapped slabs, and unneeded memory is
/// returned to the system by `madvise`, which keeps the address range.
///
/// A transaction copies each page that it changes. The previous state's copies are freed when no snapshot needs it any
/// more. Up to an eighth of the budget of them keep their memory for the next transaction.
///
/// Concurrency: guarded by its lock, which is not held while memory is reserved.
// Safe because all mutable state is guarded by the lock.
package final class PageArena: @unchecked Sendable {
    private static let slabPageCount = 256
    /// Free pages that keep their memory without being counted, so that replacing one page by another needs no system
    /// call each time.
    private static let uncountedPageCountMax = 64
    /// The largest number of pages that are populated at once.
    private static let populatedPageCountMax = 32

    private let budget: MemoryBudget
    /// The largest number of free pages that keep their memory.
    private let warmPageCountMax: Int
    private let lock = EngineLock()
    @exclusivity(unchecked) private var slabs: [UnsafeMutableRawPointer] = []
    /// Free pages that keep their memory; those above `uncountedPageCountMax` are counted.
    @exclusivity(unchecked) private var warm: [UnsafeMutableRawPointer] = []
    /// Pages at the end of the newest slab that were never used.
    @exclusivity(unchecked) private var freshPageCount = 0
    /// How many pages are populated next: few at first, because a small store uses few, and twice as many each time.
    @exclusivity(unchecked) private var populatedPageCount = 4
    /// Free pages without memory.
    @exclusivity(unchecked) private var cold: [UnsafeMutableRawPointer] = []
    private var registration: MemoryBudget.Registration?

    package init(budget: MemoryBudget) {
        self.budget = budget
        warmPageCountMax = max(Self.uncountedPageCountMax, budget.byteCount / 8 / TablePage.byteCount)
        registration = budget.register(.free) { [weak self] wanted in self?.cool(wanted) ?? 0 }
    }

    deinit {
        let counted = warm.count - Self.uncountedPageCountMax
        if counted > 0 { budget.release(counted * TablePage.byteCount, for: .free) }
        for slab in slabs { munmap(slab, Self.slabPageCount * TablePage.byteCount) }
    }

    /// A page of 4,096 bytes with undefined content, counted as used.
    package func take() -> UnsafeMutableRawPointer {
        if let page = takeCounted() {
            budget.move(TablePage.byteCount, from: .free, to: .pages)
            return page
        }
        budget.reserve(TablePage.byteCount, for: .pages)
        lock.lock()
        defer { lock.unlock() }
        return takeUncounted() ?? cold.popLast() ?? takeFresh()
    }

    /// Returns a page that was never used, and populates the pages behind it: in one call, that costs a fraction of the
    /// first touch of each.
    private func takeFresh() -> UnsafeMutableRawPointer {
        if freshPageCount == 0 {
            let byteCount = Self.slabPageCount * TablePage.byteCount
            guard let slab = mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
                slab != MAP_FAILED
            else {
                preconditionFailure("The system has no memory left for table pages.")
            }
            slabs.append(slab)
            freshPageCount = Self.slabPageCount
        }
        let count = max(1, min(populatedPageCount, freshPageCount, Self.uncountedPageCountMax - warm.count))
        populatedPageCount = min(2 * populatedPageCount, Self.populatedPageCountMax)
        let first = slabs[slabs.count - 1] + (Self.slabPageCount - freshPageCount) * TablePage.byteCount
        freshPageCount -= count
        if count > 1 { BufferMemory.populate(first, byteCount: count * TablePage.byteCount) }
        for index in (1..<count).reversed() { warm.append(first + index * TablePage.byteCount) }
        return first
    }

    private func takeCounted() -> UnsafeMutableRawPointer? {
        lock.lock()
        defer { lock.unlock() }
        return warm.count > Self.uncountedPageCountMax ? warm.removeLast() : nil
    }

    private func takeUncounted() -> UnsafeMutableRawPointer? {
        warm.count <= Self.uncountedPageCountMax ? warm.popLast() : nil
    }

    /// Returns a page to the arena; it no longer counts as used.
    ///
    /// - Parameters:
    ///   - page: A page from `take`.
    ///   - isWanted: Whether its memory is needed for another use.
    package func give(_ page: UnsafeMutableRawPointer, isWanted: Bool = false) {
        lock.lock()
        let isUncounted = warm.count < Self.uncountedPageCountMax
        let isCounted =
            !isUncounted && !isWanted && warm.count < warmPageCountMax && budget.used <= budget.byteCount
        if isUncounted || isCounted { warm.append(page) } else { cool(page) }
        lock.unlock()
        if isCounted {
            budget.move(TablePage.byteCount, from: .pages, to: .free)
        } else {
            budget.release(TablePage.byteCount, for: .pages)
        }
    }

    /// Returns memory of free pages to the system.
    ///
    /// - Returns: Bytes that are no longer counted.
    private func cool(_ wanted: Int) -> Int {
        lock.lock()
        var freed = 0
        while freed < wanted, warm.count > Self.uncountedPageCountMax {
            cool(warm.removeLast())
            freed += TablePage.byteCount
        }
        lock.unlock()
        budget.release(freed, for: .free)
        return freed
    }

    private func cool(_ page: UnsafeMutableRawPointer) {
        madvise(page, TablePage.byteCount, MADV_DONTNEED)
        cold.append(page)
    }
}
