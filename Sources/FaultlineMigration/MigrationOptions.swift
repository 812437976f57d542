package import FaultlineDisk
internal import Glibc

/// Options of a migration.
public struct MigrationOptions: Sendable {
    /// Bytes of memory for everything the engine holds during a migration: rows, table pages, indexes, buffers.
    ///
    /// At least 16 MiB. Memory that a closure holds is not included.
    public var memoryCeiling: Int
    /// The treatment of stored values that a migration drops, and that no code of a stage has seen.
    public var unhandledData: UnhandledData
    /// Whether a container without a plan may bring a store back to an earlier schema; false by default.
    ///
    /// An earlier schema is one with a lower version than the current one, or one that the store had before, if going
    /// back would drop values. Such a container is refused (`MigrationError.Code.backward`), because it is most often
    /// an old instance of a service that was started again. If this is true, and `unhandledData` is not `.fail`, values
    /// that only the newer schema has are dropped, and `MigrationReport` lists them.
    public var allowsOlderSchema: Bool
    /// The treatment of objects that cannot be converted, or that break a rule of the new version.
    public var onFailure: FailurePolicy
    /// Called on the thread that runs the migration, or, while a streamed stage runs on several threads, on one of them
    /// at a time: when a pass over an entity begins and ends, and in between after every thousand objects, or every 100
    /// ms.
    public var progress: (@Sendable (MigrationProgress) -> Void)?
    /// Pauses or cancels the migration.
    public var control: MigrationControl?
    /// The most bytes that are written to the store's files in a second, averaged over some seconds: a batch is written
    /// at once, followed by a wait; nil or 0 for no limit.
    public var bytesPerSecond: Int?
    /// Whether a migration is refused before it begins where the disk has too little room; true by default.
    ///
    /// The check assumes that each stage that goes through objects writes as much as it reads or copies, and a tenth
    /// more. A stage that writes much less needs less. The error is `MigrationError` of code `fullDisk`.
    public var checksSpace = true
    /// Whether an unfinished migration is dropped, and begins again with its first stage; false by default.
    ///
    /// By default it goes on, except for a stage whose `revision` differs from the one it was begun with: that one
    /// begins again, and the whole migration does if the stage had finished. An opening with `true` begins again each
    /// time, also after a crash: it is meant for one run of a command, not for the configuration of a service.
    public var restarts = false
    /// Threads that run the closures of streamed stages, from 1 to 4; nil for one per processor, limited by the memory
    /// ceiling.
    ///
    /// With 1 the thread that opens the container does everything. The migrated objects do not depend on it.
    public var workerCount: Int?
    /// For how long the store can return to the state before the migration (`ModelContainer.rollBackMigration`), by the
    /// machine's clock; nil, the default, for not at all.
    ///
    /// Nothing is copied for it. But the files of that state are kept whole, so the space that the migration, and later
    /// updates and deletes, would free is freed only when the period ends. `MigrationReport.gracePeriod` and
    /// `ModelContainer.health` report its size. One state is kept: a later migration with a grace period ends the
    /// period of the migration before.
    public var gracePeriod: Duration?
    /// Whether containers of the old schema that this process has open can save while the migration runs; false by
    /// default.
    ///
    /// For lightweight stages only: `docs/OnlineMigrations.md` has the changes and options that are refused before
    /// anything is written (`MigrationError.Code.notOnline`). Saves of the old schema take longer meanwhile, and fail
    /// with `StorageError.Code.outdated` once the new one is in force. If two objects have the same values under a new
    /// unique rule, the migration is refused (`duplicate`), and never a save.
    public var isOnline = false

    /// More receivers of progress, and of its end as nil, which may be sent twice.
    package var watchers: [@Sendable (MigrationProgress?) -> Void] = []
    /// The way to the schema if there is no plan.
    package var mapping: MappingModel?
    /// Called with events of stages and of the whole migration, on the thread that runs it.
    package var observe: (@Sendable (MigrationEvent) -> Void)?

    /// Adds a receiver of events, which is called after the earlier ones.
    package mutating func addObserver(_ observer: @escaping @Sendable (MigrationEvent) -> Void) {
        guard let earlier = observe else {
            observe = observer
            return
        }
        observe = { event in
            earlier(event)
            observer(event)
        }
    }

    /// The engine's share of the ceiling.
    ///
    /// The rest is for the memory of a stage: unsaved objects, and frames that are being written.
    ///
    /// Measured with a million rows: the allocator keeps about a quarter more than it gives out.
    package var engineByteCount: Int { memoryCeiling / 8 * 5 }

    /// The grace period in nanoseconds; nil for none.
    var graceNanoseconds: Int64? {
        guard let (seconds, attoseconds) = gracePeriod?.components, seconds > 0 || (seconds == 0 && attoseconds > 0)
        else { return nil }
        let (whole, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isOver) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
        return isTooLong || isOver ? .max : sum
    }

    /// The clock for durations.
    package var clock = Clock.system
    /// Waits for some nanoseconds.
    package var sleep: @Sendable (UInt64) -> Void = SystemThread.sleep

    /// Bytes of new values in a batch; nil derives them from the ceiling.
    ///
    /// For tests.
    package var batchByteCount: Int?

    /// Resumes without progress, or failures at one object behind the first, after which a stage is not resumed again.
    ///
    /// Settable for tests.
    package var vainResumesMax = 3

    /// Whether a stage is resumed although it was resumed in vain too often: for an operator who has removed the cause.
    package var resumesAnyway = false

    /// Whether a dry run works on a copy of the store, so that containers of the old schema can save.
    package var previewsCopy = false

    /// Nanoseconds after which a streamed or mapped stage saves a batch that is not full.
    ///
    /// Settable for tests.
    package var batchNanoseconds: UInt64 = 5_000_000_000

    /// The number of old objects in the first shares of a streamed stage, and the most in any; nil for the default.
    ///
    /// For tests.
    package var shareCount: Int?

    /// The largest number of rows that one transaction of an online migration enters into indexes; nil for the default.
    ///
    /// For tests.
    package var onlineRowsMax: Int?

    /// The largest number of objects that an online migration notes because a new unique rule refuses them; nil for the
    /// default.
    ///
    /// For tests.
    package var notedMax: Int?

    /// Threads of a streamed stage, from 1 to 4.
    var streamWorkerCount: Int {
        if let workerCount { return min(max(workerCount, 1), StreamedShares.inFlightMax) }
        let processors = max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 1)
        return max(min(processors, StreamedShares.inFlightMax, memoryCeiling / (8 << 20)), 1)
    }

    /// Bytes of new values, or of copied rows, in a transaction of a stage.
    package var stageBatchByteCount: Int { batchByteCount ?? max(1 << 20, memoryCeiling / 16) }

    /// The treatment of data that no stage handles.
    ///
    /// Data is handled by a streamed or mapped stage that names its entity, and by a custom stage's `willMigrate`. If
    /// values must be counted, rows of their entities are read once; older containers cannot save during the count.
    public enum UnhandledData: Hashable, Sendable {
        /// Between two versions of a plan it is dropped, and `MigrationReport` lists it.
        ///
        /// Without a plan a migration that would drop a value of at least one object is refused, as by `.fail`;
        /// entities without objects, and properties without values, are dropped.
        case byPlan
        /// It is dropped, as in SwiftData.
        case drop
        /// The migration is refused, and the store does not change: the error has entity, property and the number of
        /// objects.
        case fail
    }

    /// The treatment of an object that cannot be converted.
    public enum FailurePolicy: Hashable, Sendable {
        /// The migration stops with an error that names the object and the reason.
        case stop
        /// The object is moved unchanged to the quarantine of the store, and the migration continues; if more than
        /// `limit` objects fail it stops anyway (`quarantineFull`).
        ///
        /// Nothing of the object is lost: `ModelContainer.quarantine()` lists and reads it. Closures, policies and
        /// expressions may then be called more than once for an object. Custom stages stop, because it is unknown for
        /// which object their closures failed.
        case quarantine(limit: Int = 1_000)
    }

    /// The defaults: 64 MiB, unhandled data dropped if a plan exists, no return to an earlier schema without a plan,
    /// stopping at an object that fails, no progress handler.
    public init(
        memoryCeiling: Int = 64 << 20, unhandledData: UnhandledData = .byPlan, allowsOlderSchema: Bool = false,
        onFailure: FailurePolicy = .stop, progress: (@Sendable (MigrationProgress) -> Void)? = nil
    ) {
        self.memoryCeiling = max(memoryCeiling, 16 << 20)
        self.unhandledData = unhandledData
        self.allowsOlderSchema = allowsOlderSchema
        self.onFailure = onFailure
        self.progress = progress
    }

    /// The progress of the opening that these options are given to, as a sequence that ends with it.
    ///
    /// A slow reader gets the newest progress, not all of it. Each call makes another sequence.
    public mutating func progressUpdates() -> AsyncStream<MigrationProgress> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: MigrationProgress.self, bufferingPolicy: .bufferingNewest(1))
        watchers.append { if let update = $0 { continuation.yield(update) } else { continuation.finish() } }
        return stream
    }

    /// The same options with another clock.
    package func timed(by clock: Clock) -> MigrationOptions {
        var options = self
        options.clock = clock
        return options
    }

    /// Ends the sequences: the container was made, or refused.
    package func finishUpdates() {
        for watcher in watchers { watcher(nil) }
    }

    /// Whether progress has receivers.
    var isWatched: Bool { progress != nil || !watchers.isEmpty }

    func tell(_ progress: MigrationProgress) {
        self.progress?(progress)
        for watcher in watchers { watcher(progress) }
    }
}
