import Synchronization

/// Counts and times transactions' waits for compaction.
final class SpaceWaits: Sendable {
    private let countSoFar = Atomic<UInt64>(0)
    private let sum = Atomic<UInt64>(0)

    var count: UInt64 { countSoFar.load(ordering: .relaxed) }
    var nanoseconds: UInt64 { sum.load(ordering: .relaxed) }

    /// Counts a wait between two times.
    func add(from begin: UInt64, to end: UInt64) {
        countSoFar.wrappingAdd(1, ordering: .relaxed)
        sum.wrappingAdd(end - min(begin, end), ordering: .relaxed)
    }
}
