public import FaultlineMigration
public import FaultlineModel
public import FaultlineObjects

/// A store of your own behind a container: a file of JSON, a server, another database.
///
///     final class JSONStore: DataStore {
///         typealias Configuration = JSONStoreConfiguration
///         typealias Snapshot = DefaultSnapshot
///         …
///         func fetch<T: PersistentModel>(
///             _ request: DataStoreFetchRequest<T>
///         ) throws -> DataStoreFetchResult<T, DefaultSnapshot> {
///             if request.descriptor.predicate != nil { throw DataStoreError.preferInMemoryFilter }
///             if !request.descriptor.sortBy.isEmpty { throw DataStoreError.preferInMemorySort }
///             let all = try read()
///             return DataStoreFetchResult(
///                 descriptor: request.descriptor,
///                 fetchedSnapshots: all.filter { request.isOfClass($0) },
///                 relatedSnapshots: Dictionary(uniqueKeysWithValues: all.map { ($0.persistentIdentifier, $0) }))
///         }
///
/// The container keeps a local copy in memory, which its contexts read and change: docs/features/DataStores.md. One
/// thread at a time calls the store. Its calls must not use the container.
public protocol DataStore: AnyObject {
    /// The type of its configurations.
    associatedtype Configuration: DataStoreConfiguration where Configuration.Store == Self
    /// The type of its objects' values; most stores take `DefaultSnapshot`.
    associatedtype Snapshot: DataStoreSnapshot

    /// Names the store in the identifiers of its objects: the same each time that the store is opened, and no other's.
    var identifier: String { get }
    /// The schema of its objects.
    var schema: Schema { get }
    /// The configuration that it was made with.
    var configuration: Configuration { get }

    /// Makes the store for a container, which gives the configuration its schema, unless it has one.
    ///
    /// - Throws: Any error; the container's initializer throws it.
    init(_ configuration: Configuration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws

    /// Fetches the objects that a descriptor selects.
    ///
    /// - Throws: `DataStoreError.preferInMemoryFilter` to be asked again without the predicate,
    ///   `DataStoreError.preferInMemorySort` to be asked again without an order; any other error goes to the caller.
    func fetch<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> DataStoreFetchResult<T, Snapshot>

    /// Saves the changes of a context: all of them, or none.
    ///
    /// - Returns: An identifier for each inserted object.
    /// - Throws: Any error: then nothing is saved, and the changes stay unsaved in the context.
    func save(_ request: DataStoreSaveChangesRequest<Snapshot>) throws -> DataStoreSaveChangesResult<Snapshot>

    /// Counts the objects that a descriptor selects; by default those that `fetch` returns.
    ///
    /// - Throws: As `fetch`.
    func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int

    /// The identifiers of the objects that a descriptor selects; by default those that `fetch` returns.
    ///
    /// - Throws: As `fetch`.
    func fetchIdentifiers<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> [PersistentIdentifier]

    /// Deletes all objects; refused by default.
    ///
    /// - Throws: Any error; by default `DataStoreError.unsupportedFeature`.
    func erase() throws

    /// Called when a context begins to use the store; does nothing by default.
    func initializeState(for editingState: EditingState)

    /// Called when a context has ended; does nothing by default.
    func invalidateState(for editingState: EditingState)

    /// The values of objects that the store has at hand, so that it need not be asked for them by a predicate; none by
    /// default.
    ///
    /// - Throws: Any error; it goes to the caller.
    func cachedSnapshots(
        for persistentIdentifiers: [PersistentIdentifier], editingState: EditingState
    ) throws -> [PersistentIdentifier: Snapshot]
}

extension DataStore {
    /// Counts the objects that `fetch` returns.
    ///
    /// - Throws: As `fetch`.
    public func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int {
        try fetch(request).fetchedSnapshots.count
    }

    /// The identifiers of the objects that `fetch` returns.
    ///
    /// - Throws: As `fetch`.
    public func fetchIdentifiers<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> [PersistentIdentifier] {
        try fetch(request).fetchedSnapshots.map(\.persistentIdentifier)
    }

    /// Refuses to delete all objects.
    ///
    /// - Throws: `DataStoreError.unsupportedFeature`.
    public func erase() throws { throw DataStoreError.unsupportedFeature }

    /// Does nothing.
    public func initializeState(for editingState: EditingState) {}

    /// Does nothing.
    public func invalidateState(for editingState: EditingState) {}

    /// None.
    ///
    /// - Throws: Nothing.
    public func cachedSnapshots(
        for persistentIdentifiers: [PersistentIdentifier], editingState: EditingState
    ) throws -> [PersistentIdentifier: Snapshot] { [:] }
}
