/// What runs beside something else in a store.
package enum InterleavedJob: String, CaseIterable, Sendable {
    /// Two transactions: rows changed, moved to other keys and deleted, and a blob.
    case commit
    /// All segments that are worth it are compacted.
    case compaction
    case checkpoint
    /// Snapshots of three ages are read through and let go, and files with them.
    case snapshotEnd
    /// A table goes, its index, and with the checkpoint the files.
    case fileDrop

    /// Every two different ones.
    package static let pairs: [(InterleavedJob, InterleavedJob)] = allCases.indices.flatMap { first in
        allCases[(first + 1)...].map { (allCases[first], $0) }
    }
}
