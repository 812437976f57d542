/// The key for a block of entries in the block index.
enum Separator {
    /// A key not below the last key of a block, nor above the first key of the next, and as short as possible: so the
    /// index holds a few bytes of long keys.
    ///
    /// `shared` is the length of the two keys' common prefix.
    static func between(
        _ last: UnsafeRawBufferPointer, _ first: UnsafeRawBufferPointer, shared: Int
    ) -> UnsafeRawBufferPointer {
        guard shared < last.count, shared + 1 < first.count else { return last }
        return UnsafeRawBufferPointer(rebasing: first[..<(shared + 1)])
    }
}
