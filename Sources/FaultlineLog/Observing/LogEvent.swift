package import FaultlineDisk

/// An event of a store, for observers.
///
/// Durations are in nanoseconds of the log's clock.
package enum LogEvent: Sendable {
    /// The store was opened; the report has the findings of recovery.
    case opened(OpenReport, nanoseconds: UInt64)
    case checkpointMade(sequence: UInt64, byteCount: UInt64, nanoseconds: UInt64)
    /// Several runs were merged into one of `byteCount` bytes.
    case runsMerged(count: Int, byteCount: UInt64, nanoseconds: UInt64)
    /// Segments were chosen; dropping them should free this many bytes.
    case compactionBegan(predictedByteCount: UInt64)
    /// The chosen segments are done.
    case compactionEnded(segmentCount: Int, movedByteCount: UInt64, droppedByteCount: UInt64, nanoseconds: UInt64)
    /// A segment is not needed any more; its file is removed when no reader uses it.
    case segmentDropped(path: String, byteCount: UInt64)
    /// Bytes differ from the written ones; each place is reported once.
    case rotMet(RotPlace)
    /// An operation was refused for lack of space; reported once, until there is space again.
    case diskFull(LogError)
    case spaceCameBack
    /// States of the past are not kept any more, until the store is opened again.
    case pastStatesLost(LogError)
    /// A checkpoint, a merge or a compaction failed; it will be tried again.
    case maintenanceFailed(LogError)
    /// A write failed: nothing more is written until the store is opened again.
    case poisoned(LogError)
    /// More files of the process's stores stay open than its limit has room for; reported to the first observer, once.
    case openFilesExceedLimit(OpenFileCount)
    case closed
    /// This many events were not delivered, because the observer takes too long.
    case eventsLost(count: Int)
}

/// A place where bytes differ from the written ones.
package struct RotPlace: Hashable, Sendable {
    package let path: String
    /// The offset in the file, in bytes; nil for the whole file.
    package let offset: UInt64?
    /// The part that does not verify, in a sentence.
    package let message: String
}
