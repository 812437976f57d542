/// Bytes whose damage may go unseen, because nothing depends on them: the whole list, which `docs/Testing.md` repeats.
package enum HarmlessBytes: String, CaseIterable, Sendable {
    /// The text in LOCK is for people; a lock is a byte's, whatever stands there.
    case lockText = "the text in LOCK"
    /// Between a checkpoint's header and its first page, which lies at 4,096.
    case checkpointGap = "bytes 64 to 4,095 of a checkpoint"
    /// The newest frame of a store that was not closed: no later frame says that a sync had covered it, so it cannot be
    /// told from one that a crash tore.
    case newestFrame = "the newest frame of a store that was not closed"
    /// Zeros behind that frame: the next commits write over them, whatever stands there.
    case preparedSpace = "zeros behind the newest frame of a store that was not closed"
}
