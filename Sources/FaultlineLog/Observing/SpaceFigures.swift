/// Bytes of a store's files, by the manifest at the newest checkpoint.
package struct SpaceFigures: Sendable, Equatable {
    /// Bytes of all files.
    package var byteCount: UInt64 = 0
    /// Bytes of segments.
    package var segmentByteCount: UInt64 = 0
    /// Bytes of segments that compaction would have to keep: a hint, which counts deletes as live.
    package var liveByteCount: UInt64 = 0
    /// Bytes of dropped segments that the disk still holds because a snapshot may read them.
    package var heldByteCount: UInt64 = 0
    /// Bytes of files that only states of the past need.
    package var retainedByteCount: UInt64 = 0
    /// Bytes in the segments of the kept state that the newest state does not need: a hint.
    package var keptByteCount: UInt64 = 0
    /// The time when the kept state expires, in nanoseconds since 1970; nil if none is kept.
    package var keptUntilNanoseconds: Int64?

    package init() {}

    init(_ state: ManifestState, heldByteCount: UInt64, retainedByteCount: UInt64) {
        self.heldByteCount = heldByteCount
        self.retainedByteCount = retainedByteCount
        keptUntilNanoseconds = state.kept?.untilNanoseconds
        for file in state.files.values {
            let end = file.seal?.end ?? file.durable
            byteCount += end
            guard file.kind.isSegment else { continue }
            segmentByteCount += end
            if file.total > file.live, state.isKept(file.added.number) { keptByteCount += file.total - file.live }
            liveByteCount += file.total > 0 ? min(file.live + (end - min(file.total, end)), end) : end
        }
    }

    /// The live share of the segments' bytes; 1 where there are none.
    package var liveShare: Double {
        segmentByteCount == 0 ? 1 : Double(liveByteCount) / Double(segmentByteCount)
    }
}
