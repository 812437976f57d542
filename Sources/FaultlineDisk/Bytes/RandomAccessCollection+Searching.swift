extension RandomAccessCollection where Index == Int {
    /// The first index whose element does not satisfy a condition, in a collection in which those that satisfy it come
    /// first; the end if all do.
    ///
    ///     let place = numbers.partitionPoint { $0 < wanted }
    ///
    /// - Parameter isBefore: The condition.
    /// - Returns: The index.
    /// - Complexity: O(log *n*): a binary search.
    @inlinable @inline(__always)
    package func partitionPoint(_ isBefore: (Element) -> Bool) -> Int {
        var low = startIndex
        var high = endIndex
        while low < high {
            let middle = low + (high - low) / 2
            if isBefore(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
