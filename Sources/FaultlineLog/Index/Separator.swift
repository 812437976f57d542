/// The key by which the block index knows a block of entries.
enum Separator {
    /// A key that is not below the last key of a block, nor above the first key of the next, and as short as may be: so
    /// the index holds a few bytes of long keys.
    ///
    /// `shared` is how many bytes the two keys have in common from the start.
    static func between(
        _ last: UnsafeRawBufferPointer, _ first: UnsafeRawBufferPointer, shared: Int
    ) -> UnsafeRawBufferPointer {
        guard shared < last.count, shared + 1 < first.count else { return last }
        return UnsafeRawBufferPointer(rebasing: first[..<(shared + 1)])
    }
}
