/// Keeps a replay's memory within the budget: writes changed pages and full memtables to files, which the next
/// checkpoint lists.
// Safe because the stored properties are immutable.
final class ReplaySpill: Sendable {
    private let directory: StoreDirectory
    private let cache: PageCache
    private let blockCache: BlockCache

    init(directory: StoreDirectory, cache: PageCache, blockCache: BlockCache) {
        self.directory = directory
        self.cache = cache
        self.blockCache = blockCache
    }

    private var budget: MemoryBudget { cache.budget }

    /// Spills memory that exceeds a share of the budget.
    func spillIfNeeded(
        _ tables: inout WorkingTables, _ indexes: inout IndexReplay, _ newest: inout NewestVersions?
    ) throws(LogError) {
        guard budget.used(for: .pages) + budget.used(for: .memtables) > budget.byteCount / 2 else { return }
        let changed = budget.used(for: .pages) - cache.cleanPageCount * TablePage.byteCount
        if changed > budget.byteCount / 4 {
            tables.leavePage()
            try PageSpill.spill(tables.set, cache: cache, in: directory, sequence: tables.sequence)
            try newest?.spill(in: directory)
        }
        if budget.used(for: .memtables) > budget.byteCount / 4 {
            try indexes.flush { (memtable, isOldest) throws(LogError) in
                try RunStore.write(
                    memtable, isOldest: isOldest, oldestLimit: .max, in: directory, cache: blockCache, budget: budget)
            }
        }
    }
}
