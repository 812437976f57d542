/// A job that runs concurrently with another one in a store.
package enum InterleavedJob: String, CaseIterable, Sendable {
    /// Two transactions that change rows, move rows to other keys, delete rows and write a blob.
    case commit
    /// A compaction of all segments that are worth it.
    case compaction
    case checkpoint
    /// Snapshots of three ages are read and ended, which deletes files.
    case snapshotEnd
    /// A table and an index are dropped, and the checkpoint deletes their files.
    case fileDrop

    /// All pairs of different jobs.
    package static let pairs: [(InterleavedJob, InterleavedJob)] = allCases.indices.flatMap { first in
        allCases[(first + 1)...].map { (allCases[first], $0) }
    }
}
