/// One operation of a program on a store, while the disk may fail.
package enum FaultStep: Sendable, Equatable {
    /// Opens the store for writing; creates it if it does not exist.
    case open
    case openForReading
    /// One transaction of `changeCount` changes, on one or more frames.
    case commit(changeCount: Int)
    /// One transaction with blobs of these sizes in bytes, every other one of bytes that compress.
    case commitBlobs([Int])
    /// One transaction with a blob that comes in pieces.
    case streamBlob(byteCount: Int)
    /// A blob that is written beside transactions, and one transaction that places it.
    case upload(byteCount: Int)
    /// One transaction with a row of `byteCount` bytes.
    case commitRow(byteCount: Int)
    /// A transaction that its own code abandons.
    case giveUp(changeCount: Int)
    /// Two threads, each with `count` transactions in a separate table.
    case commitByTwo(count: Int)
    case dropTable
    case checkpoint
    /// Moves live records out of segments that are mostly dead, and drops these.
    case compact
    /// Reads everything back and compares.
    case read
    case verify
    /// Counts the store's space, looks for a transaction that does not exist, and scans a table.
    case inspect
    case close
    /// Salvages the store, which is closed, into a new one, and compares.
    case salvage
    /// Detaches from the store as a killed process would.
    case kill
}
