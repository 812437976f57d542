package import FaultlineDisk
internal import Glibc

/// How a migration runs.
public struct MigrationOptions: Sendable {
    /// Bytes of memory for everything the engine holds while it migrates: rows, table pages, indexes, buffers.
    ///
    /// At least 16 MiB. What a closure keeps is its own.
    public var memoryCeiling: Int
    /// What becomes of stored values that a migration drops, and that no code of a stage has seen.
    public var unhandledData: UnhandledData
    /// Whether a container without a plan may bring a store back to a schema that it has left behind; false by default.
    ///
    /// Left behind is a schema of a lower version than the one in force, and one that the store was under before, where
    /// going back would drop values. Such a container is refused (`MigrationError.Code.backward`), because it is most
    /// often an old instance of a service that was started once more. Where this is true, and `unhandledData` is not
    /// `.fail`, what only the newer schema has is dropped, and `MigrationReport` lists it.
    public var allowsOlderSchema: Bool
    /// What becomes of objects that cannot be converted, or that break a rule of the new version.
    public var onFailure: FailurePolicy
    /// Called on the thread that runs the migration, or, while a streamed stage runs on several, on one of them after the
    /// other: when a pass begins and ends over an entity, and while it works after every thousand objects, or every
    /// 100 ms.
    public var progress: (@Sendable (MigrationProgress) -> Void)?
    /// Stops the migration for a while, or for good.
    public var control: MigrationControl?
    /// The most bytes that are written to the store's files in a second, over some seconds: a batch is written at once,
    /// and then waited for; nil or 0 for no limit.
    public var bytesPerSecond: Int?
    /// Whether a migration is refused before it begins where the disk has too little room; true by default.
    ///
    /// Taken is that the first stage that goes through objects makes as much as it reads, and a tenth more. One that makes
    /// much less needs less. The error is `MigrationError` of code `fullDisk`.
    public var checksSpace = true
    /// Threads that run the closures of streamed stages, from 1 to 4; nil for as many as there are processors, and no more
    /// than the memory ceiling has room for.
    ///
    /// With 1 the thread that opens the container does everything. What becomes of the objects does not depend on it.
    public var workerCount: Int?
    /// For how long the store can return to the state before the migration (`ModelContainer.rollBackMigration`), by the
    /// machine's clock; nil, the default, for not at all.
    ///
    /// Nothing is copied for it; but the files of that state are kept whole, so space that the migration, and updates
    /// and deletes since, would give back comes back only when the period ends. `MigrationReport.gracePeriod` and
    /// `ModelContainer.health` say how much that is. One state is kept: a later migration with a grace period ends the
    /// one of the migration before.
    public var gracePeriod: Duration?

    /// Who is told of the progress beside `progress`, and of its end, for which nil stands; that may be told twice.
    package var watchers: [@Sendable (MigrationProgress?) -> Void] = []
    /// The way to the schema where there is no plan.
    package var mapping: MappingModel?
    /// Told of stages, and of the migration as a whole, on the thread that runs it.
    package var observe: (@Sendable (MigrationEvent) -> Void)?

    /// The engine's share of the ceiling.
    ///
    /// The rest is for what a stage holds: unsaved objects, and frames on their way.
    ///
    /// Measured with a million rows: the allocator keeps about a quarter more than it gives out.
    package var engineByteCount: Int { memoryCeiling / 8 * 5 }

    /// The grace period in nanoseconds; nil where there is none.
    var graceNanoseconds: Int64? {
        guard let (seconds, attoseconds) = gracePeriod?.components, seconds > 0 || (seconds == 0 && attoseconds > 0)
        else { return nil }
        let (whole, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isOver) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
        return isTooLong || isOver ? .max : sum
    }

    /// What durations are measured with.
    package var clock = Clock.system
    /// Waits for some nanoseconds.
    package var sleep: @Sendable (UInt64) -> Void = { nanoseconds in
        var time = timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        nanosleep(&time, nil)
    }

    /// Bytes of new values that make a batch; nil for what suits the ceiling.
    ///
    /// For tests.
    package var batchByteCount: Int?

    /// Old objects of the first shares of a streamed stage, and the most of any; nil for what suits most stores.
    ///
    /// For tests.
    package var shareCount: Int?

    /// Threads of a streamed stage, from 1 to 4.
    var streamWorkerCount: Int {
        if let workerCount { return min(max(workerCount, 1), StreamedShares.inFlightMax) }
        let processors = max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 1)
        return max(min(processors, StreamedShares.inFlightMax, memoryCeiling / (8 << 20)), 1)
    }

    /// Bytes of new values, or of copied rows, that make a transaction of a stage.
    package var stageBatchByteCount: Int { batchByteCount ?? max(1 << 20, memoryCeiling / 16) }

    /// What becomes of data that no stage handles.
    ///
    /// Data is handled by a streamed or mapped stage that names its entity, and by a custom stage's `willMigrate`. Where
    /// values are counted, rows of their entities are read once; older containers cannot save meanwhile.
    public enum UnhandledData: Hashable, Sendable {
        /// Between two versions of a plan it is dropped, and `MigrationReport` lists it. Without a plan a migration that
        /// would drop a value of at least one object is refused, as by `.fail`; entities without objects, and properties
        /// without values, go.
        case byPlan
        /// It is dropped, as SwiftData does.
        case drop
        /// The migration is refused, and the store stays as it was: the error has entity, property and the number of
        /// objects.
        case fail
    }

    /// What becomes of an object that cannot be converted.
    public enum FailurePolicy: Hashable, Sendable {
        /// The migration stops with an error that names the object and says why.
        case stop
        /// The object goes into the quarantine of the store as it was, and the migration goes on; where more than
        /// `limit` objects fail it stops all the same (`quarantineFull`).
        ///
        /// Nothing of the object is lost: `ModelContainer.quarantine()` lists and reads it. Closures, policies and
        /// expressions may be called more than once for an object then. Custom stages stop, because nobody can tell
        /// which object their closures failed for.
        case quarantine(limit: Int = 1_000)
    }

    /// The defaults: 64 MiB, unhandled data dropped where a plan says so, no way back without a plan, stopping at an
    /// object that fails, silent.
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
    /// Who is slow gets the newest progress, not all of it. Each call makes another sequence.
    public mutating func progressUpdates() -> AsyncStream<MigrationProgress> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: MigrationProgress.self, bufferingPolicy: .bufferingNewest(1))
        watchers.append { if let update = $0 { continuation.yield(update) } else { continuation.finish() } }
        return stream
    }

    /// The same with another clock.
    package func timed(by clock: Clock) -> MigrationOptions {
        var options = self
        options.clock = clock
        return options
    }

    /// Ends the sequences: the container was made, or refused.
    package func finishUpdates() {
        for watcher in watchers { watcher(nil) }
    }

    /// Whether anybody wants to know how far the migration is.
    var isWatched: Bool { progress != nil || !watchers.isEmpty }

    func tell(_ progress: MigrationProgress) {
        self.progress?(progress)
        for watcher in watchers { watcher(progress) }
    }
}
