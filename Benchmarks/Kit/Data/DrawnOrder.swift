/// The orders in which workloads visit employees.
package enum DrawnOrder {
    /// Random numbers of employees, 1 to `bound`, with repetitions.
    package static func ids(count: Int, bound: Int, stream: UInt64) -> [Int] {
        var source = SplitMix64(0xACCE_5500 &+ stream)
        return (0..<count).map { _ in source.draw(below: bound) + 1 }
    }

    /// The numbers 1 to `count` in random order, each once (Fisher and Yates, from the end).
    package static func permutation(count: Int, stream: UInt64) -> [Int] {
        var order = Array(1...max(count, 1))
        var source = SplitMix64(0x5EED_5500 &+ stream)
        for place in stride(from: count - 1, through: 1, by: -1) {
            order.swapAt(place, source.draw(below: place + 1))
        }
        return order
    }
}
