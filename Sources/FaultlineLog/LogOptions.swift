package import FaultlineDisk

/// When a commit returns.
package enum Durability: Sendable {
    /// When it is on the disk.
    case sync
    /// When it is handed to the operating system.
    ///
    /// A power cut may lose the newest commits, about those of the last second; it never loses one and keeps a later
    /// one.
    ///
    /// `waitUntilDurable` waits for the commits so far.
    case async
}

/// The access that an opening has.
package enum LogAccess: Sendable {
    /// Reads and writes; one process at a time.
    case writing
    /// Writes nothing; any number of processes, beside a writer too.
    case reading
}

/// Where checkpoints, merges and compaction run.
package enum Maintenance: Sendable {
    /// On a thread that the log owns.
    case thread
    /// On the thread whose commit made them due; for simulations, which must be repeatable.
    case inline
    /// Only on request.
    case manual
}

/// Sizes and modes of a log.
package struct LogOptions: Sendable {
    /// Bytes for pages of tables and of records, memtables, index blocks, rows and buffers: 64 MiB.
    package var memoryBudget = 64 << 20
    /// Bytes after which a segment is followed by the next at the latest: 256 MiB.
    ///
    /// In a store of less than eight times as much, segments are smaller: an eighth of the live bytes, but no less than
    /// `checkpointByteCount`.
    package var segmentByteCount = 256 << 20
    /// Bytes of log after which a checkpoint is made: 32 MiB.
    package var checkpointByteCount = 32 << 20
    /// Bytes after which a transaction's frame, or one of moved records, is closed and another one begun: 1 MiB.
    package var frameByteCount = 1 << 20
    /// Bytes after which a manifest is replaced by a new one: 1 MiB.
    package var manifestByteCount = 1 << 20
    /// The size at which a manifest is replaced, as a multiple of its snapshot: 4.
    package var manifestGrowth = 4
    /// Bytes that a ballast file reserves against a full disk: 16 MiB.
    package var ballastByteCount = 16 << 20
    /// Bytes of the store from which on it has such a file: 64 MiB.
    package var ballastStoreByteCount = 64 << 20
    /// Bytes of zeros that are first written behind small commits, for the next ones to overwrite: 64 KiB.
    ///
    /// Later up to four times as many; 0 writes none. Only for commits that return when they are on the disk, on file
    /// systems that overwrite in place.
    package var preparedByteCount = 64 << 10
    /// When a commit returns: when it is on the disk.
    package var durability: Durability = .sync
    /// How far back states of the past can be read although their segments were compacted: nil, as at the last opening; a
    /// new store keeps none.
    package var retention: RetentionWindow?
    /// Milliseconds after which a thread makes a commit durable that did not wait for the disk, if `maintenance` has
    /// threads: 1,000.
    package var synchronizationDelayMilliseconds = 1_000
    /// Whether blobs are compressed where it saves an eighth: yes.
    package var isCompressingBlobs = true
    /// The access of the opening: read and write.
    package var access: LogAccess = .writing
    /// Whether to write to a store on a file system of another machine or process, such as NFS: no.
    package var allowsRemoteFileSystem = false
    /// Where checkpoints, merges and compaction run: on a thread that the log owns.
    package var maintenance: Maintenance = .thread
    /// Milliseconds between two checks of the maintenance thread for old snapshots, and for segments that take more
    /// than they may while no writer waits: 10,000.
    package var patienceMilliseconds = 10_000
    /// Whether segments that are mostly dead are compacted after a checkpoint, without a request: yes.
    package var isCompacting = true
    /// Whether table checkpoints and index runs are rebuilt from the segments, as if they did not verify: no.
    package var ignoresDerivedFiles = false
    /// Whether to open a store whose log lacks transactions at its end that had been synchronized: no.
    ///
    /// `OpenReport.lostTail` describes the loss. An opening for writing makes it final.
    package var acceptsLostTail = false
    /// The observer of the store's events: none.
    package var observer: (any LogObserver)?
    /// Seed of salts and transaction identifiers, so that a simulation repeats; nil means random.
    package var seed: UInt64?
    /// The identifier of a store that is made; nil means random.
    package var storeID: (UInt64, UInt64)?
    /// Gets each invariant that recovery or salvage breaks between two transactions: none, so that nothing is checked.
    package var invariantWatch: (@Sendable (BrokenInvariant) -> Void)?

    package init() {}
}
