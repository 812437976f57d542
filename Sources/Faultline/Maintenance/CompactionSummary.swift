internal import FaultlineLog
public import FaultlineObjects

/// The result of a compaction.
public struct CompactionSummary: Sendable {
    /// Files of records and large values that were dropped.
    public let droppedFileCount: Int
    /// Live bytes in these files, which were copied.
    public let copiedByteCount: Int
    /// Bytes of the dropped files, less the copied bytes.
    public let reclaimedByteCount: Int
    /// Bytes of dropped files that the disk frees only when contexts that may read them have moved on, and each `Blob` in
    /// them is gone.
    public let heldByteCount: Int
    /// Damage that was met; the files that contain it are kept as they are.
    public let damage: [StorageError]

    /// The summaries of several stores in one.
    init(joining summaries: [CompactionSummary]) {
        droppedFileCount = summaries.reduce(0) { $0 + $1.droppedFileCount }
        copiedByteCount = summaries.reduce(0) { $0 + $1.copiedByteCount }
        reclaimedByteCount = summaries.reduce(0) { $0 + $1.reclaimedByteCount }
        heldByteCount = summaries.reduce(0) { $0 + $1.heldByteCount }
        damage = summaries.flatMap(\.damage)
    }

    init(_ report: CompactionReport) {
        droppedFileCount = report.segmentCount
        copiedByteCount = Int(clamping: report.movedByteCount)
        reclaimedByteCount = Int(clamping: report.reclaimedByteCount)
        heldByteCount = Int(clamping: report.heldByteCount)
        damage = report.damage.compactMap { place in
            let error = LogError(
                .damaged, "A record or a large value does not verify; its file is kept as it is.", path: place.path,
                offset: place.offset)
            return StorageError.translating(error) as? StorageError
        }
    }
}
