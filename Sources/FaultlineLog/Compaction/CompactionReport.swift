/// What compaction did.
package struct CompactionReport: Sendable, Equatable {
    /// Rot that was met: its segment is kept as it is, and not tried again while the store is open.
    package struct Damage: Sendable, Equatable {
        package let path: String
        package let offset: UInt64
    }

    /// Segments that were dropped.
    package var segmentCount = 0
    /// Bytes of records and blobs that were copied.
    package var movedByteCount: UInt64 = 0
    /// All bytes that segments got by it: copies, what says what they are, and the transactions that place blobs.
    package var writtenByteCount: UInt64 = 0
    /// Bytes of the segments that were dropped.
    package var droppedByteCount: UInt64 = 0
    /// Bytes that dropping the chosen segments was expected to give back, what was copied already taken off.
    package var predictedByteCount: UInt64 = 0
    /// Bytes of dropped segments that the disk still holds, because a snapshot may read them.
    package var heldByteCount: UInt64 = 0
    package var damage: [Damage] = []

    package init() {}

    /// Bytes that the store is smaller by, those apart that old snapshots hold.
    package var reclaimedByteCount: UInt64 {
        droppedByteCount > writtenByteCount ? droppedByteCount - writtenByteCount : 0
    }
}
