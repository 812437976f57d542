internal import FaultlineStore

/// The memory that the unsaved objects of a context take, so that a stage saves before it exceeds its ceiling.
struct UnsavedBytes {
    /// Inserted objects that are counted.
    private var countedCount = 0
    private var byteCount = 0
    /// Bytes of long values that changed objects got since.
    private var longByteCount = 0
    /// Bytes of values that unsaved objects hold, though they could be written to the store.
    private var heldByteCount = 0
    /// So many of them may be held.
    let heldByteCountMax: Int
    /// Estimate of the memory that a changed object takes, without long values.
    private static let bytesOfChanged = 512
    /// Estimate of the memory that a link takes with its place in the collections of both objects.
    private static let bytesOfLink = 512
    /// The size from which a value of a changed object is counted by itself.
    static let longByteCountMin = 1_024
    /// The size from which a value is written to the store once unsaved objects hold their share: smaller ones stay in
    /// their rows.
    static let spilledByteCountMin = 4_096

    /// - Parameter heldByteCountMax: Bytes of values that unsaved objects may hold, though they could be written.
    init(heldByteCountMax: Int = .max) { self.heldByteCountMax = heldByteCountMax }

    /// The size from which a value is written to the store when an object gets it.
    var spilledByteCountMin: Int {
        heldByteCount < heldByteCountMax ? Draft.detachedByteCountMin : Self.spilledByteCountMin
    }

    /// Counts a value that an object got and holds.
    mutating func noteHeld(_ byteCount: Int) { if byteCount >= Self.spilledByteCountMin { heldByteCount += byteCount } }

    /// Counts the bytes of the inserted and the changed objects, and of links.
    ///
    /// - Parameters:
    ///   - insertedCount: The number of inserted objects.
    ///   - changedCount: The number of changed objects.
    ///   - linkCount: The number of links that are made or removed.
    ///   - byteCountOfInserted: The bytes of an inserted object, by its index.
    /// - Returns: The bytes of all.
    /// - Complexity: O(*n*) in the number of objects that were inserted since the last call.
    mutating func count(
        insertedCount: Int, changedCount: Int, linkCount: Int, _ byteCountOfInserted: (Int) -> Int
    ) -> Int {
        countInserted(insertedCount, byteCountOfInserted) + changedCount * Self.bytesOfChanged
            + linkCount * Self.bytesOfLink + longByteCount
    }

    /// Counts a long value that a changed object got, besides the one that it replaces.
    mutating func noteLongValue(_ byteCount: Int) { longByteCount += byteCount }

    /// Counts the bytes of the inserted objects.
    mutating func countInserted(_ insertedCount: Int, _ byteCountOfInserted: (Int) -> Int) -> Int {
        if countedCount > insertedCount { recount() }
        while countedCount < insertedCount {
            byteCount += byteCountOfInserted(countedCount)
            countedCount += 1
        }
        return byteCount
    }

    /// Counts all inserted objects again at the next call, because some of them were let go.
    mutating func recount() {
        countedCount = 0
        byteCount = 0
    }

    mutating func reset() { self = UnsavedBytes(heldByteCountMax: heldByteCountMax) }
}
