import FaultlineDisk
import Synchronization

/// The engine's memory, in bytes, shared by rows, pages of records and of tables, and index blocks.
///
/// It counts; it does not allocate. If the sum would exceed the budget, `reserve` asks registered owners of caches to
/// free bytes: first the free memory, then pages of records, then the owners that hold more than half of the budget, the
/// largest first, then the others. Pinned memory may exceed the budget.
///
/// Concurrency: all members may be called from any thread. A reclaimer runs on the thread that reserves and must take
/// no lock that a caller of `reserve` may hold. So `reserve` must not be called under a lock.
// Safe because counters are atomic and the list of reclaimers is guarded by the lock.
package final class MemoryBudget: @unchecked Sendable {
    /// The purpose of bytes; `free` are unused, but kept for the next request.
    package enum Use: Int, Sendable, CaseIterable {
        case rows, records, pages, blocks, memtables, buffers, free

        /// The place in the order in which memory is taken back.
        fileprivate var rank: Int {
            switch self {
            case .free: 0
            case .records: 1
            default: 2
            }
        }
    }

    /// Keeps a reclaimer registered while it exists.
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
    /// Temporary smaller limits; guarded by the lock.
    private var limits: [Int] = []
    private let total = Atomic<Int>(0)
    private let rows = Atomic<Int>(0)
    private let records = Atomic<Int>(0)
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

    /// Calls `body` with a limit for the bytes in use; frees the excess first.
    ///
    /// Of several limits at one time the least applies.
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
        case .records: records.load(ordering: .relaxed)
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
        case .records: records.wrappingAdd(byteCount, ordering: .relaxed)
        case .pages: pages.wrappingAdd(byteCount, ordering: .relaxed)
        case .blocks: blocks.wrappingAdd(byteCount, ordering: .relaxed)
        case .memtables: memtables.wrappingAdd(byteCount, ordering: .relaxed)
        case .buffers: buffers.wrappingAdd(byteCount, ordering: .relaxed)
        case .free: free.wrappingAdd(byteCount, ordering: .relaxed)
        }
    }

    /// Counts `byteCount` bytes as used and, if that exceeds the budget, asks owners of caches to free bytes.
    ///
    /// Never waits, and never fails: memory that cannot be freed stays in use.
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

    /// Moves bytes from one use to another.
    package func move(_ byteCount: Int, from use: Use, to other: Use) {
        add(-byteCount, to: use)
        add(byteCount, to: other)
    }

    /// Registers an owner that can free bytes.
    ///
    /// - Parameters:
    ///   - use: The use of its bytes.
    ///   - reclaim: Gets the number of bytes wanted, frees bytes if it can, calls `release` for them, and returns their
    ///     number.
    /// - Returns: A registration: `reclaim` may be called while it exists.
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
        // One reclaiming thread is enough, and a reclaimer that reserves must not come back here.
        guard !isReclaiming.exchange(true, ordering: .acquiringAndReleasing) else { return }
        defer { isReclaiming.store(false, ordering: .releasing) }
        lock.lock()
        let candidates = reclaimers
        lock.unlock()

        let half = byteCount / 2
        var missing = wanted
        // By rank; then uses above half of the budget, the largest first; all registrations of a use share its count.
        let ordered = candidates.sorted { left, right in
            if left.use.rank != right.use.rank { return left.use.rank < right.use.rank }
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

/// A reservation in the memory budget, released when the value is destroyed.
struct MemoryReservation: ~Copyable {
    private let budget: MemoryBudget?
    private let byteCount: Int
    private let use: MemoryBudget.Use

    /// Reserves `byteCount` bytes; without a budget, none.
    init(_ byteCount: Int, for use: MemoryBudget.Use, in budget: MemoryBudget?) {
        self.budget = budget
        self.byteCount = byteCount
        self.use = use
        budget?.reserve(byteCount, for: use)
    }

    deinit {
        budget?.release(byteCount, for: use)
    }
}
