/// When a simulation checks invariants, which takes time in proportion to the store: after each change of a small
/// store, and after some changes of a large one.
package struct InvariantPace {
    /// The largest number of objects of a small store.
    package static let smallCountMax = 400
    /// One change in so many of a large store is followed by a check.
    package static let largeStep = 16

    private var changeCount = 0

    package init() {}

    /// Counts a change.
    ///
    /// - Returns: Whether a check follows it.
    package mutating func isDue(objectCount: Int) -> Bool {
        changeCount += 1
        return objectCount <= Self.smallCountMax || changeCount % Self.largeStep == 0
    }
}
