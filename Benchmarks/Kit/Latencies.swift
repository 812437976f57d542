/// The durations of single operations; the memory for all of them is allocated beforehand.
package struct Latencies: Sendable {
    private var nanoseconds: [UInt64] = []

    package init(capacity: Int) {
        nanoseconds.reserveCapacity(capacity)
    }

    package var count: Int { nanoseconds.count }

    @inline(__always)
    package mutating func record(_ duration: UInt64) {
        nanoseconds.append(duration)
    }

    /// Adds another thread's durations.
    package mutating func record(_ others: Latencies) {
        nanoseconds += others.nanoseconds
    }

    /// The shortest duration, in microseconds, that at least this share of the operations did not exceed (nearest
    /// rank).
    ///
    /// - Parameter share: Above 0, up to 1.
    /// - Returns: Nil if nothing was recorded.
    package func microseconds(atShare share: Double) -> Double? {
        guard !nanoseconds.isEmpty else { return nil }
        let sorted = nanoseconds.sorted()
        let rank = Int((share * Double(sorted.count)).rounded(.up))
        return Double(sorted[min(max(rank, 1), sorted.count) - 1]) / 1000
    }
}
