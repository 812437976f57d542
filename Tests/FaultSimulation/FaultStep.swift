/// One thing that a program does with a store, while the disk may fail.
package enum FaultStep: Sendable, Equatable {
    /// Opens the store for writing, creating it where there is none.
    case open
    case openForReading
    /// One transaction of so many changes, on one or more frames.
    case commit(changeCount: Int)
    /// One transaction with blobs of these sizes in bytes, every other one of bytes that compress.
    case commitBlobs([Int])
    /// One transaction with a blob that comes in pieces.
    case streamBlob(byteCount: Int)
    /// One transaction with a row of so many bytes.
    case commitRow(byteCount: Int)
    /// A transaction that its own code gives up.
    case giveUp(changeCount: Int)
    /// Two threads, each with so many transactions in a table of its own.
    case commitByTwo(count: Int)
    case dropTable
    case checkpoint
    /// Moves what is live out of segments that are mostly dead, and drops these.
    case compact
    /// Reads everything back and compares.
    case read
    case verify
    /// Counts what the store takes, asks for a transaction that is not there, and scans a table.
    case inspect
    case close
    /// Salvages the store, which is closed, into a new one, and compares.
    case salvage
    /// The process lets go of the store as if it had been killed.
    case kill
}
