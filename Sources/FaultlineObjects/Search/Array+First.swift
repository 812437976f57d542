extension Array where Element == Int {
    /// Sorts the elements, and keeps only the first ones, as many as are wanted.
    ///
    /// - Parameters:
    ///   - count: How many are kept.
    ///   - isBefore: Whether one comes before another; no two are equal.
    /// - Complexity: A comparison for each element where few are kept, and those of a sort of the others.
    mutating func keepFirst(_ count: Int, _ isBefore: (Int, Int) -> Bool) {
        guard count < self.count / 4 else {
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
