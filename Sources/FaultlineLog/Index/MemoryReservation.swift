/// Bytes of the memory budget that are in use as long as the value lives.
struct MemoryReservation: ~Copyable {
    private let budget: MemoryBudget?
    private let byteCount: Int
    private let use: MemoryBudget.Use

    /// Reserves `byteCount` bytes; without a budget, nothing.
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
