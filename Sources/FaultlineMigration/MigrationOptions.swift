/// How a migration runs.
public struct MigrationOptions: Sendable {
    /// Bytes of memory for everything the engine holds while it migrates: rows, table pages, indexes, buffers.
    ///
    /// At least 16 MiB. What a closure keeps is its own.
    public var memoryCeiling: Int
    /// Called on the thread that runs the migration, after every thousand objects and after each entity.
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

    /// The defaults: 64 MiB, silent.
    public init(memoryCeiling: Int = 64 << 20, progress: (@Sendable (MigrationProgress) -> Void)? = nil) {
        self.memoryCeiling = max(memoryCeiling, 16 << 20)
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
    /// Objects of the old version that were read.
    public internal(set) var objectsRead = 0
    /// Objects of the new version that were written.
    public internal(set) var objectsWritten = 0
    /// Objects that `upsert` found by their unique values.
    public internal(set) var objectsFound = 0
    /// Old objects for which nothing was written.
    public internal(set) var objectsDropped = 0
    /// Values out of the row that went over without being read.
    public internal(set) var blobsMoved = 0
    /// Values out of the row that no new object took.
    public internal(set) var blobsLeftBehind = 0
    /// Bytes of values out of the row that were read.
    public internal(set) var blobBytesRead = 0
    /// How often the migration was taken up again after it had been stopped.
    public internal(set) var resumes = 0

    /// The versions gone through and what was counted, in one line.
    public var description: String {
        versions.isEmpty
            ? "nothing to migrate"
            : "\(versions.joined(separator: " → ")): \(objectsRead) objects read, \(objectsWritten) written, \(objectsFound) found, \(objectsDropped) dropped, \(blobsMoved) blobs moved, \(blobsLeftBehind) left behind, \(blobBytesRead) blob bytes read, \(resumes) resumes"
    }
}
