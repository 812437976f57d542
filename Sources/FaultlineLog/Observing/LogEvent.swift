/// Something that happened to a store and that somebody may want to hear of.
///
/// Durations are in nanoseconds of the log's clock.
package enum LogEvent: Sendable {
    /// The store was opened; the report says what recovery found.
    case opened(OpenReport, nanoseconds: UInt64)
    case checkpointMade(sequence: UInt64, byteCount: UInt64, nanoseconds: UInt64)
    /// So many runs became one of so many bytes.
    case runsMerged(count: Int, byteCount: UInt64, nanoseconds: UInt64)
    /// Segments were chosen; dropping them should give so many bytes back.
    case compactionBegan(predictedByteCount: UInt64)
    /// What was chosen is done.
    case compactionEnded(segmentCount: Int, movedByteCount: UInt64, droppedByteCount: UInt64, nanoseconds: UInt64)
    /// A segment that nobody needs any more; its file goes when nobody reads it.
    case segmentDropped(path: String, byteCount: UInt64)
    /// Bytes are not what was written; each place is told once.
    case rotMet(RotPlace)
    /// Something was refused for want of space; told once, until there is space again.
    case diskFull(LogError)
    case spaceCameBack
    /// A checkpoint, a merge or a compaction failed; it is tried again.
    case maintenanceFailed(LogError)
    /// A write failed: nothing more is written until the store is opened again.
    case poisoned(LogError)
    case closed
    /// So many events were not told, because the observer takes too long.
    case eventsLost(count: Int)
}

/// A place where bytes are not what was written.
package struct RotPlace: Hashable, Sendable {
    package let path: String
    /// In the file, in bytes from its start; nil where the whole file is meant.
    package let offset: UInt64?
    /// What does not verify, in a sentence.
    package let message: String
}
