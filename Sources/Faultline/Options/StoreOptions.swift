internal import FaultlineLog
public import FaultlineMigration

/// Options of a store: memory, durability, thresholds.
///
/// The defaults suit a service.
public struct StoreOptions: Hashable, Sendable {
    /// The moment when a save returns.
    public enum Durability: Hashable, Sendable {
        /// When its bytes are on the disk: an acknowledged save survives a power cut.
        case sync
        /// When its bytes are handed to the system.
        ///
        /// A crash of the machine may lose the saves of about the last second, never one without those after it. A
        /// crash of the process loses nothing. `ModelContainer.synchronize()` waits for the disk.
        case async
    }

    /// How long the store keeps the record of the objects that each save has inserted, updated and deleted:
    /// `docs/History.md`.
    public enum History: Hashable, Sendable {
        /// For this long, or until it is deleted; the newest save is always kept.
        case kept(for: Duration)
        /// Until it is deleted.
        case unlimited
        /// Saves of this container are not in the history.
        ///
        /// Earlier saves stay until they are deleted. Readers of the history do not see later saves.
        case off
    }

    /// How far back states of the past can be read although compaction has dropped their files:
    /// `docs/features/TimeTravel.md`.
    public enum Retention: Hashable, Sendable {
        /// As the container that set it last; a new store keeps none.
        case unchanged
        /// None: the files are given back.
        case none
        /// States that were the newest ones within this time, by the machine's clock, as far as the files that only they
        /// need take at most these bytes.
        ///
        /// A longer duration than 292 years counts as that. Below 1 byte, or 1 nanosecond, nothing is kept.
        case kept(for: Duration, byteCountMax: Int = .max)
    }

    /// Bytes of memory for verified rows, pages of the store, index blocks and buffers together; 64 MiB by default.
    ///
    /// At least 4 MiB: smaller values count as that. The first container of a store in a process decides.
    public var memoryBudget = 64 << 20
    /// When a save returns: by default when its bytes are on the disk.
    public var durability = Durability.sync
    /// The history of saves: kept for 30 days by default.
    public var history = History.kept(for: .seconds(30 * 86_400))
    /// The window of past states: by default as the store has it.
    ///
    /// It belongs to the store, and holds until another one is set. The first container of a store in a process decides.
    public var retention = Retention.unchanged
    /// Bytes of log between checkpoints of the location tables: bounds the replay after a crash.
    public var checkpointByteCount = 32 << 20
    /// Whether large values are compressed if that saves at least an eighth.
    public var compressesBlobs = true
    /// Whether an idle store rewrites objects that a migration left in an older form, a few at a time, so that the
    /// space of dropped attributes is freed: see `ModelContainer.rewrite(progress:)`.
    public var rewritesWhenIdle = true
    /// Whether the store may be written to on a file system that another machine or process serves.
    ///
    /// These are NFS, SMB, Ceph, 9P and all FUSE file systems. By default writing is refused there, as
    /// `StorageError.Code.readOnly`.
    ///
    /// Such a file system may grant one lock twice, and may lose synchronized data: allow it only if you know that both
    /// its locks and its synchronization work. Containers that only read are not refused.
    public var allowsRemoteFileSystem = false
    /// The targets of the store's events and metrics: by default none.
    public var reporting = StoreReporting()
    /// The threads of `ModelContainer.perform`.
    public var performing = Performing()
    /// How migrations run.
    public var migration = Migration()

    /// How migrations run.
    public struct Migration: Hashable, Sendable {
        /// Bytes of memory for everything that the engine holds during a migration; at least 16 MiB.
        public var memoryCeiling = 64 << 20
        /// The treatment of stored values that a migration drops, and that no code of a stage has seen.
        public var unhandledData = MigrationOptions.UnhandledData.byPlan
        /// Whether a container without a plan may bring a store back to a schema that it had before; false by default:
        /// `MigrationOptions.allowsOlderSchema`.
        public var allowsOlderSchema = false
        /// The treatment of objects that cannot be converted, or that break a rule of the new version.
        public var onFailure = MigrationOptions.FailurePolicy.stop
        /// Called on the thread that opens the container: when a pass over an entity begins and ends, and in between
        /// after every thousand objects, or every 100 ms.
        ///
        /// Ignored when two options are compared.
        public var progress: (@Sendable (MigrationProgress) -> Void)?
        /// Pauses or cancels the migration.
        ///
        /// Ignored when two options are compared.
        public var control: MigrationControl?
        /// The most bytes that are written to the store's files in a second, averaged over some seconds; nil for no
        /// limit.
        public var bytesPerSecond: Int?
        /// Whether a migration is refused before it begins if the disk has too little space; true by default.
        ///
        /// The check assumes that each stage that goes through objects writes as much as it reads or copies, and a
        /// tenth more. A stage that writes much less needs less. The error is `MigrationError` of code `fullDisk`.
        public var checksSpace = true
        /// Whether an unfinished migration is dropped, and begins again with its first stage; false by default:
        /// `MigrationOptions.restarts`.
        public var restarts = false
        /// Whether a stage is resumed although it was resumed in vain too often: `migrate --resume`.
        package var resumesAnyway = false
        /// Threads that run the closures of streamed stages, from 1 to 4; nil for one per processor, limited by the
        /// memory ceiling.
        ///
        /// With 1 the thread that opens the container does everything. The migrated objects do not depend on it.
        public var workerCount: Int?
        /// The time in which the store can return to the state before the migration
        /// (`ModelContainer.rollBackMigration`), by the machine's clock; nil, the default, for no return.
        ///
        /// The files of that state are kept whole for that time: `MigrationReport.gracePeriod` says how many bytes they
        /// take.
        public var gracePeriod: Duration?
        /// Whether containers of the old schema that this process has open can save while the migration runs; false by
        /// default: `MigrationOptions.isOnline`.
        public var isOnline = false
        /// The mapping from objects of the stored schema to the container's, if there is no plan: for schemas without
        /// classes, in one mapped stage; nil, the default, if no code is needed.
        ///
        /// Ignored when two options are compared.
        public var mapping: MappingModel?
        /// Called with each progress, and with nil at the end.
        var watchers: [@Sendable (MigrationProgress?) -> Void] = []
        /// Called with each event, on the thread that opens the container.
        package var observers: [@Sendable (MigrationEvent) -> Void] = []

        /// The defaults.
        public init() {}

        /// The progress of the opening that these options are given to, as a sequence that ends when the container is
        /// made, or refused.
        ///
        /// A slow reader gets the newest progress, not all of it. Each call makes another sequence.
        public mutating func progressUpdates() -> AsyncStream<MigrationProgress> {
            var options = options
            let stream = options.progressUpdates()
            watchers = options.watchers
            return stream
        }

        /// Whether both have the same limits, and treat unhandled data the same way; handlers and controls are not
        /// compared.
        public static func == (left: Migration, right: Migration) -> Bool {
            left.memoryCeiling == right.memoryCeiling && left.bytesPerSecond == right.bytesPerSecond
                && left.unhandledData == right.unhandledData && left.onFailure == right.onFailure
                && left.allowsOlderSchema == right.allowsOlderSchema
                && left.gracePeriod == right.gracePeriod && left.checksSpace == right.checksSpace
                && left.workerCount == right.workerCount && left.restarts == right.restarts
                && left.resumesAnyway == right.resumesAnyway && left.isOnline == right.isOnline
        }

        /// Hashes the properties that `==` compares.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(memoryCeiling)
            hasher.combine(bytesPerSecond)
            hasher.combine(unhandledData)
            hasher.combine(allowsOlderSchema)
            hasher.combine(onFailure)
            hasher.combine(gracePeriod)
            hasher.combine(checksSpace)
            hasher.combine(workerCount)
            hasher.combine(restarts)
            hasher.combine(resumesAnyway)
            hasher.combine(isOnline)
        }

        package func finishUpdates() { options.finishUpdates() }

        var options: MigrationOptions {
            var options = MigrationOptions(
                memoryCeiling: memoryCeiling, unhandledData: unhandledData, allowsOlderSchema: allowsOlderSchema,
                onFailure: onFailure, progress: progress)
            options.control = control
            options.bytesPerSecond = bytesPerSecond
            options.gracePeriod = gracePeriod
            options.checksSpace = checksSpace
            options.workerCount = workerCount
            options.restarts = restarts
            options.resumesAnyway = resumesAnyway
            options.isOnline = isOnline
            options.watchers = watchers
            options.mapping = mapping
            for observer in observers { options.addObserver(observer) }
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
        options.retention = retention.window
        return options
    }
}
