/// How long single operations took; room for all of them is made beforehand.
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

    /// Adds what another thread recorded.
    package mutating func record(_ others: Latencies) {
        nanoseconds += others.nanoseconds
    }

    /// The shortest duration, in microseconds, that at least this share of the operations kept (nearest rank).
    ///
    /// - Parameter share: Above 0, up to 1.
    /// - Returns: Nil when nothing was recorded.
    package func microseconds(atShare share: Double) -> Double? {
        guard !nanoseconds.isEmpty else { return nil }
        let sorted = nanoseconds.sorted()
        let rank = Int((share * Double(sorted.count)).rounded(.up))
        return Double(sorted[min(max(rank, 1), sorted.count) - 1]) / 1000
    }
}
