/// When a commit returns.
package enum Durability: Sendable {
    /// When it is on the disk.
    case sync
    /// When it is handed to the operating system; power loss may take the newest commits, about those of the last
    /// second, never one between two that stay.
    ///
    /// `waitUntilDurable` waits for those so far.
    case async
}

/// What an opening may do.
package enum LogAccess: Sendable {
    /// Reads and writes; one process at a time.
    case writing
    /// Writes nothing; any number of processes, beside a writer too.
    case reading
}

/// Where checkpoints, merges and compaction run.
package enum Maintenance: Sendable {
    /// On a thread of the log's own.
    case thread
    /// On the thread whose commit made them due; for simulations, which must be repeatable.
    case inline
    /// Only when asked for.
    case manual
}

/// Sizes and modes of a log.
package struct LogOptions: Sendable {
    /// Bytes for table pages, memtables, index blocks, rows and buffers: 64 MiB.
    package var memoryBudget = 64 << 20
    /// Bytes after which a segment is followed by the next at the latest: 256 MiB.
    ///
    /// In a store of less than eight times as much, smaller ones follow each other: an eighth of what is live, though not
    /// less than `checkpointByteCount`.
    package var segmentByteCount = 256 << 20
    /// Bytes of log after which a checkpoint is made: 32 MiB.
    package var checkpointByteCount = 32 << 20
    /// Bytes after which a transaction's frame, or one of moved records, is closed and a further one begun: 1 MiB.
    package var frameByteCount = 1 << 20
    /// Bytes after which a manifest is replaced by a fresh one: 1 MiB.
    package var manifestByteCount = 1 << 20
    /// How many times its snapshot a manifest has to be before it is replaced: 4.
    package var manifestGrowth = 4
    /// Bytes that a file holds back against a full disk: 16 MiB.
    package var ballastByteCount = 16 << 20
    /// Bytes of the store from which on there is such a file: 64 MiB.
    package var ballastStoreByteCount = 64 << 20
    /// Bytes of zeros that are written behind small commits, for the next ones to overwrite, the first time; later up to
    /// four times as many; 0: none: 64 KiB.
    ///
    /// Only where a commit returns when it is on the disk, on file systems that overwrite in place.
    package var preparedByteCount = 64 << 10
    /// When a commit returns: when it is on the disk.
    package var durability: Durability = .sync
    /// Milliseconds after which a commit that did not wait for the disk is made durable by a thread, where `maintenance`
    /// has threads: 1,000.
    package var synchronizationDelayMilliseconds = 1_000
    /// Whether blobs are compressed where it saves an eighth: yes.
    package var isCompressingBlobs = true
    /// What the opening may do: read and write.
    package var access: LogAccess = .writing
    /// Whether a store is written to on a file system that another machine or process answers for, such as NFS: no.
    package var allowsRemoteFileSystem = false
    /// Where checkpoints, merges and compaction run: on a thread of the log's own.
    package var maintenance: Maintenance = .thread
    /// Milliseconds after which the maintenance thread looks again after snapshots that are behind, and after segments that
    /// take more than they may while no writer waits for less: 10,000.
    package var patienceMilliseconds = 10_000
    /// Whether segments that are mostly dead are compacted behind a checkpoint, without being asked for: yes.
    package var isCompacting = true
    /// Whether table checkpoints and index runs are made again from the segments, as if they did not verify: no.
    package var ignoresDerivedFiles = false
    /// Whether a store is opened whose log lacks transactions at its end that had been synchronized: no.
    ///
    /// `OpenReport.lostTail` describes the loss. An opening for writing makes it final.
    package var acceptsLostTail = false
    /// Who hears what happens to the store: nobody.
    package var observer: (any LogObserver)?
    /// Seed of salts and transaction identifiers, so that a simulation repeats; nil means random.
    package var seed: UInt64?

    package init() {}
}
