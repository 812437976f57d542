internal import FaultlineLog
public import FaultlineMigration
public import FaultlineModel
public import FaultlineObjects
internal import FaultlineStore

/// A store of this library as a data store: for a data store of your own that adds something to it.
///
///     final class AuditedStore: DataStore {
///         private let inner: DefaultStore
///         var identifier: String { inner.identifier }
///         func save(
///             _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
///         ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
///             audit(request.deleted)
///             return try inner.save(request)
///         }
///         …
///
/// A container with a `ModelConfiguration` does not make one: it reads and writes its store itself.
public final class DefaultStore: DataStore, DataStoreBatching, HistoryProviding {
    /// The type of its configurations.
    public typealias Configuration = ModelConfiguration
    /// The type of its objects' values.
    public typealias Snapshot = DefaultSnapshot

    /// The configuration that it was made with.
    public let configuration: ModelConfiguration
    /// The name of the configuration.
    public var name: String { configuration.name }
    /// The schema of its objects.
    public var schema: Schema { container.schema }
    /// The identifier of the store, as its objects' `PersistentIdentifier.storeIdentifier` has it.
    public let identifier: String
    private let container: ModelContainer

    /// Opens a store.
    ///
    /// - Throws: `SwiftDataError.unknownSchema` if the configuration has no schema; otherwise as the initializers of
    ///   `ModelContainer`.
    /// - Complexity: As the initializers of `ModelContainer`.
    public init(_ configuration: ModelConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)? = nil) throws {
        guard let schema = configuration.schema else {
            throw SwiftDataError.unknownSchema.explained(
                "The configuration \(configuration.name) has no schema. Set its schema before a DefaultStore is made.")
        }
        self.configuration = configuration
        container = try ModelContainer(for: schema, migrationPlan: migrationPlan, configurations: [configuration])
        identifier = PersistentIdentifier.storeIdentifier(container.rowStore.log.storeID)
    }

    /// Fetches the objects that a descriptor selects.
    ///
    /// - Throws: As `ModelContext.fetch(_:)`.
    /// - Complexity: That of the fetch, and the values of the objects found.
    public func fetch<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, DefaultSnapshot> {
        let found = try ModelContext(container).fetch(request.descriptor)
        return DataStoreFetchResult(
            descriptor: request.descriptor, fetchedSnapshots: try found.map { try DefaultSnapshot(of: $0) })
    }

    /// Counts the objects that a descriptor selects.
    ///
    /// - Throws: As `ModelContext.fetchCount(_:)`.
    /// - Complexity: As `ModelContext.fetchCount(_:)`.
    public func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int {
        try ModelContext(container).fetchCount(request.descriptor)
    }

    /// The identifiers of the objects that a descriptor selects.
    ///
    /// - Throws: As `ModelContext.fetchIdentifiers(_:)`.
    /// - Complexity: As `ModelContext.fetchIdentifiers(_:)`.
    public func fetchIdentifiers<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> [PersistentIdentifier] { try ModelContext(container).fetchIdentifiers(request.descriptor) }

    /// Saves the changes of a context in one transaction.
    ///
    /// Durability: as a save of the store.
    /// - Throws: As `ModelContext.save()`.
    /// - Complexity: As `ModelContext.save()`.
    public func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
        let context = ModelContext(container)
        context.author = request.editingState.author
        let saved = try context.save(
            inserted: request.inserted, updated: request.updated,
            deleted: request.deleted.map(\.persistentIdentifier))
        return DataStoreSaveChangesResult(for: identifier, remappedIdentifiers: saved)
    }

    /// Deletes the objects that satisfy a predicate, in one transaction.
    ///
    /// - Throws: As `ModelContext.batchDelete(_:where:)`.
    /// - Complexity: As `ModelContext.batchDelete(_:where:)`.
    public func delete<T: PersistentModel>(_ request: DataStoreBatchDeleteRequest<T>) throws {
        let context = ModelContext(container)
        context.author = request.editingState.author
        if request.includeSubclasses {
            _ = try context.batchDelete(T.self, where: request.predicate)
        } else {
            try context.delete(model: T.self, where: request.predicate, includeSubclasses: false)
            try context.save()
        }
    }

    /// Deletes all objects, in one transaction.
    ///
    /// - Throws: As `ModelContainer.erase()`.
    /// - Complexity: As `ModelContainer.erase()`.
    public func erase() throws { try container.erase() }

    /// The values of objects, by their rows.
    ///
    /// - Throws: `StorageError` if the store cannot be read.
    /// - Complexity: O(1) a look-up, and the values of the objects found.
    public func cachedSnapshots(
        for persistentIdentifiers: [PersistentIdentifier], editingState: EditingState
    ) throws -> [PersistentIdentifier: DefaultSnapshot] {
        let context = ModelContext(container)
        var found: [PersistentIdentifier: DefaultSnapshot] = [:]
        for identifier in persistentIdentifiers {
            if let values = try context.snapshot(of: identifier) { found[identifier] = values }
        }
        return found
    }

    /// The type of the history's transactions.
    public static var historyType: DefaultHistoryTransaction.Type { DefaultHistoryTransaction.self }

    /// Fetches the saves that a descriptor selects.
    ///
    /// - Throws: As `ModelContext.fetchHistory(_:)`.
    public func fetchHistory(
        _ descriptor: HistoryDescriptor<DefaultHistoryTransaction>
    ) throws -> [DefaultHistoryTransaction] { try ModelContext(container).fetchHistory(descriptor) }

    /// Deletes the saves that a descriptor selects from the history.
    ///
    /// - Throws: As `ModelContext.deleteHistory(_:)`.
    public func deleteHistory(_ descriptor: HistoryDescriptor<DefaultHistoryTransaction>) throws {
        try ModelContext(container).deleteHistory(descriptor)
    }
}

extension ModelConfiguration: DataStoreConfiguration {
    /// The type of the store.
    public typealias Store = DefaultStore
}
