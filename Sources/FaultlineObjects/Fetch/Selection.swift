/// Partitions elements by an order, without sorting them.
enum Selection {
    /// Below this many, sorting is faster.
    private static let countMin = 32

    /// Moves the `count` first elements before the others.
    ///
    /// `isBefore` must order all elements strictly.
    ///
    /// - Complexity: Usually linear; in the worst case that of sorting.
    static func partition<Element>(
        _ elements: UnsafeMutableBufferPointer<Element>, at count: Int, by isBefore: (Element, Element) -> Bool
    ) {
        guard count > 0, count < elements.count else { return }
        // Hoare's selection: the part with the position is split until it is small.
        var (low, high) = (0, elements.count)
        var splitsLeft = 2 * (Int.bitWidth - elements.count.leadingZeroBitCount)
        while high - low > Self.countMin, splitsLeft > 0 {
            splitsLeft -= 1
            let pivot = middle(elements, low, low + (high - low) / 2, high - 1, isBefore)
            var (left, right) = (low, high - 1)
            while left <= right {
                while isBefore(elements[left], pivot) { left += 1 }
                while isBefore(pivot, elements[right]) { right -= 1 }
                guard left <= right else { break }
                elements.swapAt(left, right)
                left += 1
                right -= 1
            }
            // Only the pivot lies between the two.
            if count <= right { high = right + 1 } else if count >= left { low = left } else { return }
        }
        var rest = UnsafeMutableBufferPointer(rebasing: elements[low..<high])
        rest.sort(by: isBefore)
    }

    /// The median of three elements.
    private static func middle<Element>(
        _ elements: UnsafeMutableBufferPointer<Element>, _ one: Int, _ two: Int, _ three: Int,
        _ isBefore: (Element, Element) -> Bool
    ) -> Element {
        let (first, second, third) = (elements[one], elements[two], elements[three])
        if isBefore(first, second) {
            if isBefore(second, third) { return second }
            return isBefore(first, third) ? third : first
        }
        if isBefore(first, third) { return first }
        return isBefore(second, third) ? third : second
    }
}
