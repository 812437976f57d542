/// The result of a compaction.
package struct CompactionReport: Sendable, Equatable {
    /// Damage found: its segment is kept as it is, and not tried again while the store is open.
    package struct Damage: Sendable, Equatable {
        package let path: String
        package let offset: UInt64
    }

    /// Segments that were dropped.
    package var segmentCount = 0
    /// Bytes of records and blobs that were copied.
    package var movedByteCount: UInt64 = 0
    /// All bytes that segments grew by: copies, their headers, and the transactions that place blobs.
    package var writtenByteCount: UInt64 = 0
    /// Bytes of the segments that were dropped.
    package var droppedByteCount: UInt64 = 0
    /// Bytes that dropping the chosen segments was expected to free, less the bytes copied.
    package var predictedByteCount: UInt64 = 0
    /// Bytes of dropped segments that the disk still holds, because a snapshot may read them.
    package var heldByteCount: UInt64 = 0
    package var damage: [Damage] = []

    package init() {}

    /// Bytes that the store shrank by, not counting bytes that old snapshots hold.
    package var reclaimedByteCount: UInt64 {
        droppedByteCount > writtenByteCount ? droppedByteCount - writtenByteCount : 0
    }
}
