import FaultlineDisk
import Synchronization

/// The engine's memory, in bytes, shared by rows, table pages and index blocks.
///
/// It counts; it does not allocate. `reserve` asks the registered owners of caches to give bytes back when the sum
/// would exceed the budget: first what is free, then those who hold more than half of it, the largest first, then the
/// others. What is pinned may exceed the budget.
///
/// Concurrency: all members may be called from any thread. A reclaimer runs on the thread that reserves and must take
/// no lock that a caller of `reserve` may hold; so nobody calls `reserve` under a lock.
// Safe because counters are atomic and the list of reclaimers is guarded by the lock.
package final class MemoryBudget: @unchecked Sendable {
    /// What bytes are used for; `free`: for nothing, but kept for who needs memory next.
    package enum Use: Int, Sendable, CaseIterable {
        case rows, pages, blocks, memtables, buffers, free
    }

    /// Keeps a reclaimer registered while it lives.
    // Safe because the stored properties are immutable.
    package final class Registration: @unchecked Sendable {
        private weak var budget: MemoryBudget?
        private let number: Int
        fileprivate init(_ budget: MemoryBudget, _ number: Int) {
            self.budget = budget
            self.number = number
        }
        deinit { budget?.unregister(number) }
    }

    private struct Reclaimer: Sendable {
        let number: Int
        let use: Use
        let reclaim: @Sendable (Int) -> Int
    }

    /// Bytes that may be used.
    package var byteCount: Int { current.load(ordering: .relaxed) }
    private let current: Atomic<Int>
    private let whole: Int
    /// What those who want less for a time have asked for; guarded by the lock.
    private var limits: [Int] = []
    private let total = Atomic<Int>(0)
    private let rows = Atomic<Int>(0)
    private let pages = Atomic<Int>(0)
    private let blocks = Atomic<Int>(0)
    private let memtables = Atomic<Int>(0)
    private let buffers = Atomic<Int>(0)
    private let free = Atomic<Int>(0)
    private let isReclaiming = Atomic<Bool>(false)
    private let lock = EngineLock()
    private var reclaimers: [Reclaimer] = []
    private var nextNumber = 0

    package init(byteCount: Int) {
        precondition(byteCount > 0, "A memory budget is positive.")
        whole = byteCount
        current = Atomic(byteCount)
    }

    /// Calls `body` while at most so many bytes may be used; what is above is given back before.
    ///
    /// Of several limits at one time the least holds.
    package func limited<R>(to byteCount: Int, _ body: () throws -> R) rethrows -> R {
        precondition(byteCount > 0, "A memory budget is positive.")
        change { $0.append(byteCount) }
        defer {
            change { limits in
                if let place = limits.firstIndex(of: byteCount) { limits.remove(at: place) }
            }
        }
        let excess = used - self.byteCount
        if excess > 0 { reclaim(excess) }
        return try body()
    }

    private func change(_ body: (inout [Int]) -> Void) {
        lock.lock()
        defer { lock.unlock() }
        body(&limits)
        current.store(min(whole, limits.min() ?? whole), ordering: .relaxed)
    }

    /// Bytes in use.
    package var used: Int { total.load(ordering: .relaxed) }

    /// Bytes in use for one purpose.
    package func used(for use: Use) -> Int {
        switch use {
        case .rows: rows.load(ordering: .relaxed)
        case .pages: pages.load(ordering: .relaxed)
        case .blocks: blocks.load(ordering: .relaxed)
        case .memtables: memtables.load(ordering: .relaxed)
        case .buffers: buffers.load(ordering: .relaxed)
        case .free: free.load(ordering: .relaxed)
        }
    }

    private func add(_ byteCount: Int, to use: Use) {
        switch use {
        case .rows: rows.wrappingAdd(byteCount, ordering: .relaxed)
        case .pages: pages.wrappingAdd(byteCount, ordering: .relaxed)
        case .blocks: blocks.wrappingAdd(byteCount, ordering: .relaxed)
        case .memtables: memtables.wrappingAdd(byteCount, ordering: .relaxed)
        case .buffers: buffers.wrappingAdd(byteCount, ordering: .relaxed)
        case .free: free.wrappingAdd(byteCount, ordering: .relaxed)
        }
    }

    /// Counts `byteCount` bytes as used and, where that exceeds the budget, asks others to give back.
    ///
    /// Never waits, and never fails: what cannot be given back stays in use.
    package func reserve(_ byteCount: Int, for use: Use) {
        add(byteCount, to: use)
        let now = total.wrappingAdd(byteCount, ordering: .relaxed).newValue
        if now > self.byteCount { reclaim(now - self.byteCount) }
    }

    /// Counts `byteCount` bytes as no longer used.
    package func release(_ byteCount: Int, for use: Use) {
        add(-byteCount, to: use)
        total.wrappingSubtract(byteCount, ordering: .relaxed)
    }

    /// Counts bytes under another use.
    package func move(_ byteCount: Int, from use: Use, to other: Use) {
        add(-byteCount, to: use)
        add(byteCount, to: other)
    }

    /// Adds somebody who can give bytes back.
    ///
    /// - Parameters:
    ///   - use: What the bytes are counted under.
    ///   - reclaim: Gets the bytes wanted, frees what it can, calls `release` for it, and returns how much that was.
    /// - Returns: What keeps `reclaim` registered: it is asked for as long as this lives.
    package func register(_ use: Use, reclaim: @escaping @Sendable (_ byteCount: Int) -> Int) -> Registration {
        lock.lock()
        defer { lock.unlock() }
        nextNumber += 1
        reclaimers.append(Reclaimer(number: nextNumber, use: use, reclaim: reclaim))
        return Registration(self, nextNumber)
    }

    private func unregister(_ number: Int) {
        lock.lock()
        defer { lock.unlock() }
        reclaimers.removeAll { $0.number == number }
    }

    @inline(never)
    private func reclaim(_ wanted: Int) {
        // One thread is enough, and a reclaimer that reserves must not come back here.
        guard !isReclaiming.exchange(true, ordering: .acquiringAndReleasing) else { return }
        defer { isReclaiming.store(false, ordering: .releasing) }
        lock.lock()
        let candidates = reclaimers
        lock.unlock()

        let half = byteCount / 2
        var missing = wanted
        // What is free first, then those above their half, the largest first; a registration of the same use shares its
        // count.
        let ordered = candidates.sorted { left, right in
            if (left.use == .free) != (right.use == .free) { return left.use == .free }
            let leftUsed = used(for: left.use)
            let rightUsed = used(for: right.use)
            if (leftUsed > half) != (rightUsed > half) { return leftUsed > half }
            if leftUsed != rightUsed { return leftUsed > rightUsed }
            return left.number < right.number
        }
        for candidate in ordered where missing > 0 {
            let above = used(for: candidate.use) - half
            missing -= candidate.reclaim(above > 0 ? max(missing, min(above, missing)) : missing)
        }
    }
}
