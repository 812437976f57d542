internal import FaultlineStore

/// The memory that the unsaved objects of a context take, so that a stage saves before it exceeds its ceiling.
struct UnsavedBytes {
    /// Inserted objects that are counted.
    private var countedCount = 0
    private var byteCount = 0
    /// Estimate of the memory that a changed object takes.
    private static let bytesOfChanged = 512

    /// Bytes of the inserted and the changed objects.
    ///
    /// - Complexity: O(*n*) in the number of objects that were inserted since the last call.
    mutating func count(inserted: [ObjectHandle], changedCount: Int) -> Int {
        if countedCount > inserted.count { reset() }
        while countedCount < inserted.count {
            byteCount += inserted[countedCount].core.pointee.draft?.memoryByteCount ?? 0
            countedCount += 1
        }
        return byteCount + changedCount * Self.bytesOfChanged
    }

    mutating func reset() { self = UnsavedBytes() }
}
