/// Bytes whose damage may go unseen, because nothing depends on them: the whole list, which `docs/Testing.md` repeats.
package enum HarmlessBytes: String, CaseIterable, Sendable {
    /// The text in LOCK is for people; a lock is a byte's, whatever stands there.
    case lockText = "the text in LOCK"
    /// Between a checkpoint's header and its first page, which lies at 4,096.
    case checkpointGap = "bytes 64 to 4,095 of a checkpoint"
    /// The newest frame of a store that was not closed: no later frame says that a sync had covered it, so it cannot be
    /// told from one that a crash tore.
    case newestFrame = "the newest frame of a store that was not closed"
    /// What closing added to the manifest: without it the store opens like one that was not closed, and all that the
    /// manifest would have said is in the segments. Who opens it for writing is told that it was not closed.
    case closingEdit = "what closing a store added to its manifest"
    /// Zeros behind that frame: the next commits write over them, whatever stands there.
    case preparedSpace = "zeros behind the newest frame of a store that was not closed"
}
