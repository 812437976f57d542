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

/// What a migration did.
public struct MigrationReport: Sendable, CustomStringConvertible {
    /// Versions gone through, the first being the store's own; empty if nothing was to be done.
    public internal(set) var versions: [String] = []
    /// Objects of the old version that were read: by streamed stages, one each; by closures of custom stages, as often
    /// as their rows were.
    public internal(set) var objectsRead = 0
    /// Objects that stages wrote; by custom stages, as often as they were saved.
    public internal(set) var objectsWritten = 0
    /// Objects that `upsert` found by their unique values.
    public internal(set) var objectsFound = 0
    /// Old objects for which nothing was written.
    public internal(set) var objectsDropped = 0
    /// Objects that were copied, so that the closures of custom stages can change them.
    public internal(set) var objectsCopied = 0
    /// Objects that closures of custom stages deleted.
    public internal(set) var objectsDeleted = 0
    /// Objects that closures of custom stages had changed and not saved when they returned: these changes are lost.
    public internal(set) var changesNotSaved = 0
    /// Values out of the row that went over without being read.
    public internal(set) var blobsMoved = 0
    /// Values out of the row that no new object took, or that a closure gave up.
    public internal(set) var blobsLeftBehind = 0
    /// Bytes of values out of the row that were read.
    public internal(set) var blobBytesRead = 0
    /// How often the migration was taken up again after it had been stopped.
    public internal(set) var resumes = 0

    /// Nothing done yet.
    package init() {}

    /// The versions gone through and what was counted, in one line.
    public var description: String {
        guard !versions.isEmpty else { return "nothing to migrate" }
        var parts = [
            "\(objectsRead) objects read", "\(objectsWritten) written", "\(objectsFound) found",
            "\(objectsDropped) dropped", "\(blobsMoved) blobs moved", "\(blobsLeftBehind) left behind",
            "\(blobBytesRead) blob bytes read", "\(resumes) resumes",
        ]
        if objectsCopied > 0 { parts.append("\(objectsCopied) copied") }
        if objectsDeleted > 0 { parts.append("\(objectsDeleted) deleted") }
        if changesNotSaved > 0 { parts.append("\(changesNotSaved) changed and not saved") }
        return "\(versions.joined(separator: " → ")): \(parts.joined(separator: ", "))"
    }
}
