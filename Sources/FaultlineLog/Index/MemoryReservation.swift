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
