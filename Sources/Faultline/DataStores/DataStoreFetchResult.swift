public import FaultlineObjects

/// The answer of a data store to a fetch.
public struct DataStoreFetchResult<ModelType: PersistentModel, SnapshotType: DataStoreSnapshot>: Sendable {
    /// The descriptor that was asked for.
    public let descriptor: FetchDescriptor<ModelType>
    /// The values of the objects found, in the requested order.
    public let fetchedSnapshots: [SnapshotType]
    /// The values of objects that they are related to, so that the store need not be asked for them.
    public let relatedSnapshots: [PersistentIdentifier: SnapshotType]

    /// Makes an answer.
    public init(
        descriptor: FetchDescriptor<ModelType>, fetchedSnapshots: [SnapshotType],
        relatedSnapshots: [PersistentIdentifier: SnapshotType] = [:]
    ) {
        self.descriptor = descriptor
        self.fetchedSnapshots = fetchedSnapshots
        self.relatedSnapshots = relatedSnapshots
    }
}
