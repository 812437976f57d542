package import FaultlineDisk

/// How a migration runs.
public struct MigrationOptions: Sendable {
    /// Bytes of memory for everything the engine holds while it migrates: rows, table pages, indexes, buffers.
    ///
    /// At least 16 MiB. What a closure keeps is its own.
    public var memoryCeiling: Int
    /// What becomes of stored values that a migration drops, and that no code of a stage has seen.
    public var unhandledData: UnhandledData
    /// Called on the thread that runs the migration: in streamed stages after every thousand objects and after each
    /// entity, while a custom stage copies rows after each batch.
    public var progress: (@Sendable (MigrationProgress) -> Void)?

    /// The engine's share of the ceiling.
    ///
    /// The rest is for what a stage holds: unsaved objects, and frames on their way.
    ///
    /// Measured with a million rows: the allocator keeps about a quarter more than it gives out.
    package var engineByteCount: Int { memoryCeiling / 8 * 5 }

    /// What durations are measured with.
    package var clock = Clock.system

    /// Bytes of new values that make a batch; nil for what suits the ceiling.
    ///
    /// For tests.
    package var batchByteCount: Int?

    /// Bytes of new values, or of copied rows, that make a transaction of a stage.
    package var stageBatchByteCount: Int { batchByteCount ?? max(1 << 20, memoryCeiling / 16) }

    /// What becomes of data that no stage handles.
    public enum UnhandledData: Hashable, Sendable {
        /// It is dropped, as SwiftData does.
        case drop
        /// The migration is refused before anything is written, with entity, attribute and the number of objects.
        ///
        /// Data is handled by a streamed or mapped stage that names its entity, and by a custom stage's `willMigrate`. To
        /// count the values of attributes, rows of their entities are read once.
        case fail
    }

    /// The defaults: 64 MiB, unhandled data dropped, silent.
    public init(
        memoryCeiling: Int = 64 << 20, unhandledData: UnhandledData = .drop,
        progress: (@Sendable (MigrationProgress) -> Void)? = nil
    ) {
        self.memoryCeiling = max(memoryCeiling, 16 << 20)
        self.unhandledData = unhandledData
        self.progress = progress
    }
}

/// How far a migration is.
public struct MigrationProgress: Sendable {
    /// The entity of the old version whose objects are being read.
    public let entity: String
    /// Objects of the entity done so far.
    public let done: Int
    /// Objects of the entity in all.
    public let total: Int
}
