extension Opening {
    /// The result of an opening, for the log.
    struct Opened {
        let directory: StoreDirectory
        /// Nil when opened for reading.
        let manifest: Manifest?
        let state: ManifestState
        var replay: Replay
        let segment: ManagedFile
        let end: UInt64
        let head: UInt32
        let blobs: BlobSegment?
        /// The unsealed cold segment, if there is one; for a log that is open for reading, with its valid end.
        let cold: ColdSegment?
        let pageFiles: [UInt64: PageFile]
        let report: OpenReport
        let retained: RetainedFiles?
        /// For a reader: the manifest that was read; nil if it has changed since.
        var mark: Follower.ManifestMark?

        /// Bytes and counted dead bytes of the segments.
        var segmentSpace: SegmentSpace {
            var space = SegmentSpace()
            for (number, file) in state.files where file.kind.isSegment {
                space.setEnd(file.seal?.end ?? file.durable, of: number)
            }
            space.setEnd(end, of: segment.number)
            if let blobs { space.setEnd(blobs.end, of: blobs.managed.number) }
            if let cold { space.setEnd(cold.end, of: cold.managed.number) }
            space.setDead(dead)
            space.setKept(state.files.keys.filter(state.isKept))
            return space
        }
        private var dead: [UInt32: UInt64] {
            var dead = replay.dead
            guard state.checkpoint?.file ?? 0 != 0 else { return dead }
            for (number, file) in state.files where file.total > file.live {
                dead[UInt32(truncatingIfNeeded: number), default: 0] += file.total - file.live
            }
            return dead
        }
        /// Whether there are dead bytes that were not counted.
        var hasUncountedDead: Bool { replay.hasDroppedTable || state.checkpoint?.file == 0 }
    }
}
