/// Bytes whose damage need not be detected, because nothing depends on them.
///
/// `docs/Testing.md` repeats this list.
package enum HarmlessBytes: String, CaseIterable, Sendable {
    /// The text in LOCK, which is only informative.
    ///
    /// The lock is on a byte of the file, independent of its contents.
    case lockText = "the text in LOCK"
    /// Bytes between a checkpoint's header and its first page at 4,096.
    case checkpointGap = "bytes 64 to 4,095 of a checkpoint"
    /// The newest frame of a store that was not closed.
    ///
    /// No later frame records that a synchronization covered it, so damage looks the same as a torn write.
    case newestFrame = "the newest frame of a store that was not closed"
    /// The edit that closing appends to the manifest.
    ///
    /// Without it, the store opens like one that was not closed, and recovery finds the same information in the
    /// segments. A writer sees in the open report that the store was not closed.
    case closingEdit = "what closing a store added to its manifest"
    /// The zeros after that frame, which the next commits overwrite.
    case preparedSpace = "zeros behind the newest frame of a store that was not closed"
}
