extension Array {
    /// Removes all elements and keeps the memory, one element after the other: for lists of a few.
    ///
    /// `removeAll(keepingCapacity:)` replaces a range, which takes a hundred instructions for any number of elements.
    @inlinable @inline(__always)
    package mutating func popAll() {
        while popLast() != nil {}
    }
}
