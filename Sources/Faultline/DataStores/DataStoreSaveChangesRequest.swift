public import FaultlineObjects

/// The changes of a context that a data store is to save: all of them, or none.
public struct DataStoreSaveChangesRequest<Snapshot: DataStoreSnapshot>: Sendable {
    /// The editing state of the context.
    public let editingState: EditingState
    /// New objects, with temporary identifiers: the store gives each an identifier.
    public let inserted: [Snapshot]
    /// Changed objects; those too whose collections have changed.
    public let updated: [Snapshot]
    /// Deleted objects, with their stored values.
    public let deleted: [Snapshot]

    /// Makes a request, for a data store that asks another one.
    public init(inserted: [Snapshot], updated: [Snapshot], deleted: [Snapshot], editingState: EditingState) {
        self.inserted = inserted
        self.updated = updated
        self.deleted = deleted
        self.editingState = editingState
    }
}

/// The answer of a data store to a save.
public final class DataStoreSaveChangesResult<Snapshot: DataStoreSnapshot>: Sendable {
    /// The store that has saved.
    public let storeIdentifier: String
    /// The identifiers of inserted objects, by their temporary ones.
    public let remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]
    /// Values that the store has changed while it saved, which the context then shows.
    public let snapshotsToReregister: [PersistentIdentifier: Snapshot]

    /// Makes an answer.
    public init(
        for storeIdentifier: String, remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier] = [:],
        snapshotsToReregister: [PersistentIdentifier: Snapshot] = [:]
    ) {
        self.storeIdentifier = storeIdentifier
        self.remappedIdentifiers = remappedIdentifiers
        self.snapshotsToReregister = snapshotsToReregister
    }
}
