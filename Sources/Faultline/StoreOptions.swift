internal import FaultlineLog
public import FaultlineMigration

/// How a store is kept: memory, durability, thresholds.
///
/// The defaults suit a service.
public struct StoreOptions: Hashable, Sendable {
    /// When a save returns.
    public enum Durability: Hashable, Sendable {
        /// When its bytes are on the disk: an acknowledged save survives a power cut.
        case sync
        /// When they are handed to the system.
        ///
        /// A crash of the machine may lose the saves of about the last second, never one without those after it. A
        /// crash of the process loses nothing. `ModelContainer.synchronize()` waits for the disk.
        case async
    }

    /// For how long the store keeps which objects each save has inserted, updated and deleted: `docs/History.md`.
    public enum History: Hashable, Sendable {
        /// For this long, and until it is deleted; the newest save always.
        case kept(for: Duration)
        /// Until it is deleted.
        case unlimited
        /// Saves of this container are not in the history.
        ///
        /// What was saved before stays until it is deleted. Whoever asks for the history does not see what comes after.
        case off
    }

    /// Bytes of memory for verified rows, table pages, index blocks and buffers together; 64 MiB if not said otherwise.
    ///
    /// At least 4 MiB: less counts as that. The first container of a store in a process decides.
    public var memoryBudget = 64 << 20
    /// When a save returns: by default when its bytes are on the disk.
    public var durability = Durability.sync
    /// The history of saves: kept for 30 days if not said otherwise.
    public var history = History.kept(for: .seconds(30 * 86_400))
    /// Bytes of log after which the location tables are written down: bounds what is read again after a crash.
    public var checkpointByteCount = 32 << 20
    /// Whether large values are compressed where that saves at least an eighth.
    public var compressesBlobs = true
    /// Whether objects that a migration left as they were are written in their new form while nobody saves, a little at a
    /// time, so that the space of dropped attributes comes back: see `ModelContainer.rewrite(progress:)`.
    public var rewritesWhenIdle = true
    /// Whether the store may be written to on a file system that another machine or process answers for.
    ///
    /// These are NFS, SMB, Ceph, 9P and whatever FUSE carries. By default it is refused there, as
    /// `StorageError.Code.readOnly`.
    ///
    /// Locks there may be given twice, and what a synchronization covered may be lost: allow it only where you know that
    /// both mean what they say. Containers that only read are not refused.
    public var allowsRemoteFileSystem = false
    /// What the store tells of itself, and whom: by default nobody.
    public var reporting = StoreReporting()
    /// How migrations run.
    public var migration = Migration()

    /// How migrations run.
    public struct Migration: Hashable, Sendable {
        /// Bytes of memory for everything that the engine holds while it migrates; at least 16 MiB.
        public var memoryCeiling = 64 << 20
        /// What becomes of stored values that a migration drops, and that no code of a stage has seen.
        public var unhandledData = MigrationOptions.UnhandledData.byPlan
        /// Whether a container without a plan may bring a store back to a schema that it has left behind; false by
        /// default: `MigrationOptions.allowsOlderSchema`.
        public var allowsOlderSchema = false
        /// What becomes of objects that cannot be converted, or that break a rule of the new version.
        public var onFailure = MigrationOptions.FailurePolicy.stop
        /// Called on the thread that opens the container: when a pass begins and ends over an entity, and while it works
        /// after every thousand objects, or every 100 ms.
        ///
        /// Not part of what makes two options equal.
        public var progress: (@Sendable (MigrationProgress) -> Void)?
        /// Stops the migration for a while, or for good.
        ///
        /// Not part of what makes two options equal.
        public var control: MigrationControl?
        /// The most bytes that are written to the store's files in a second, over some seconds; nil for no limit.
        public var bytesPerSecond: Int?
        /// Whether a migration is refused before it begins where the disk has too little room; true by default.
        ///
        /// Taken is that the first stage that goes through objects makes as much as it reads, and a tenth more. One that
        /// makes much less needs less. The error is `MigrationError` of code `fullDisk`.
        public var checksSpace = true
        /// Threads that run the closures of streamed stages, from 1 to 4; nil for as many as there are processors, and no
        /// more than the memory ceiling has room for.
        ///
        /// With 1 the thread that opens the container does everything. What becomes of the objects does not depend on it.
        public var workerCount: Int?
        /// For how long the store can return to the state before the migration (`ModelContainer.rollBackMigration`), by
        /// the machine's clock; nil, the default, for not at all.
        ///
        /// The files of that state are kept whole meanwhile: `MigrationReport.gracePeriod` says what that takes.
        public var gracePeriod: Duration?
        /// How objects of the stored schema become those of the container's, where there is no plan: for schemas without
        /// classes, in one mapped stage; nil, the default, for what needs no code.
        ///
        /// Not part of what makes two options equal.
        public var mapping: MappingModel?
        /// Told of each progress, and of the end by nil.
        var watchers: [@Sendable (MigrationProgress?) -> Void] = []

        /// The defaults.
        public init() {}

        /// The progress of the opening that these options are given to, as a sequence that ends when the container is
        /// made, or refused.
        ///
        /// Who is slow gets the newest progress, not all of it. Each call makes another sequence.
        public mutating func progressUpdates() -> AsyncStream<MigrationProgress> {
            var options = options
            let stream = options.progressUpdates()
            watchers = options.watchers
            return stream
        }

        /// Whether both have the same limits, and do the same with unhandled data; who watches and controls is not
        /// compared.
        public static func == (left: Migration, right: Migration) -> Bool {
            left.memoryCeiling == right.memoryCeiling && left.bytesPerSecond == right.bytesPerSecond
                && left.unhandledData == right.unhandledData && left.onFailure == right.onFailure
                && left.allowsOlderSchema == right.allowsOlderSchema
                && left.gracePeriod == right.gracePeriod && left.checksSpace == right.checksSpace
                && left.workerCount == right.workerCount
        }

        /// Hashes what `==` compares.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(memoryCeiling)
            hasher.combine(bytesPerSecond)
            hasher.combine(unhandledData)
            hasher.combine(allowsOlderSchema)
            hasher.combine(onFailure)
            hasher.combine(gracePeriod)
            hasher.combine(checksSpace)
            hasher.combine(workerCount)
        }

        var options: MigrationOptions {
            var options = MigrationOptions(
                memoryCeiling: memoryCeiling, unhandledData: unhandledData, allowsOlderSchema: allowsOlderSchema,
                onFailure: onFailure, progress: progress)
            options.control = control
            options.bytesPerSecond = bytesPerSecond
            options.gracePeriod = gracePeriod
            options.checksSpace = checksSpace
            options.workerCount = workerCount
            options.watchers = watchers
            options.mapping = mapping
            return options
        }
    }

    /// The defaults.
    public init() {}

    var log: LogOptions {
        var options = LogOptions()
        options.memoryBudget = max(memoryBudget, 4 << 20)
        options.checkpointByteCount = max(checkpointByteCount, 1 << 20)
        options.isCompressingBlobs = compressesBlobs
        options.allowsRemoteFileSystem = allowsRemoteFileSystem
        options.durability = durability == .sync ? .sync : .async
        return options
    }
}
