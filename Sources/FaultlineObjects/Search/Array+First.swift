extension Array where Element == Int {
    /// Sorts the elements, and keeps only the first ones, as many as are wanted.
    ///
    /// - Parameters:
    ///   - count: How many are kept.
    ///   - isBefore: Whether one comes before another; no two are equal.
    /// - Complexity: O(n log n); about a comparison for each element if at most 256 are kept, and less than a quarter.
    mutating func keepFirst(_ count: Int, _ isBefore: (Int, Int) -> Bool) {
        // The insertions move at most as many elements.
        guard count < self.count / 4, count <= 256 else {
            sort(by: isBefore)
            if count < self.count { removeLast(self.count - count) }
            return
        }
        var first: [Int] = []
        for element in self {
            if first.count == count {
                guard let last = first.last, isBefore(element, last) else { continue }
                first.removeLast()
            }
            var (low, high) = (0, first.count)
            while low < high {
                let middle = (low + high) / 2
                if isBefore(first[middle], element) { low = middle + 1 } else { high = middle }
            }
            first.insert(element, at: low)
        }
        self = first
    }
}
