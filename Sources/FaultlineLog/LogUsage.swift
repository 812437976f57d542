/// The space that a store takes on the disk and in memory, in bytes.
package struct LogUsage: Sendable, Equatable {
    /// One segment.
    package struct Segment: Sendable, Equatable {
        package var number: UInt64
        package var kind: FileKind
        /// Valid bytes of the file.
        package var byteCount: UInt64
        /// Bytes of records, or of blobs, that the newest state needs.
        package var liveByteCount: UInt64
        /// Bytes that were counted as dead when they died, without deletes: a hint, 0 in a log that is open for
        /// reading.
        package var deadByteCount: UInt64
        package var isSealed: Bool
    }

    package var segments: [Segment] = []
    package var manifestByteCount: UInt64 = 0
    package var checkpointByteCount: UInt64 = 0
    package var runByteCount: UInt64 = 0
    package var checkpointFileCount = 0
    package var runCount = 0
    /// Files in `quarantine/`, which recovery put there and no code reads.
    package var quarantinedFileCount = 0
    package var quarantinedByteCount: UInt64 = 0
    /// Files in `retained/`, which only states of the past need.
    package var retainedFileCount = 0
    package var retainedByteCount: UInt64 = 0
    /// Pages of the tables, in memory or not.
    package var pageCount = 0
    /// Objects by table, of tables that have any.
    package var recordCounts: [TableID: Int] = [:]
    /// Bytes of the memory budget.
    package var memoryByteCount = 0

    /// Bytes of all files, without those in `quarantine/` and `retained/`.
    package var byteCount: UInt64 {
        segments.reduce(manifestByteCount + checkpointByteCount + runByteCount) { $0 + $1.byteCount }
    }

    /// Bytes of segments that the newest state needs.
    package var liveByteCount: UInt64 { segments.reduce(0) { $0 + $1.liveByteCount } }

    /// The share of the segments' bytes that the newest state needs; 1 where there are none.
    package var liveShare: Double {
        let byteCount = segments.reduce(0) { $0 + $1.byteCount }
        return byteCount == 0 ? 1 : Double(liveByteCount) / Double(byteCount)
    }
}
