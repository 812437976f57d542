public import Faultline
internal import FaultlineDisk
public import FaultlineObjects
internal import Foundation
internal import Synchronization

/// The stores of a model, added one after the other, for contexts over all of them.
///
///     let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
///     try coordinator.addPersistentStore(
///         ofType: NSSQLiteStoreType, configurationName: "Catalog", at: catalogURL, options: nil)
///     try coordinator.addPersistentStore(
///         ofType: NSInMemoryStoreType, configurationName: "Session", at: nil, options: nil)
///     let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
///     context.persistentStoreCoordinator = coordinator
///
/// Each entity is in one store: that of the configuration which names it. Objects are related within their store. It is
/// thread-safe, and it keeps its stores open: they are closed with the last of coordinator and contexts.
public final class NSPersistentStoreCoordinator: Sendable {
    /// The model.
    public let managedObjectModel: NSManagedObjectModel
    /// The container over its stores: for `perform`, live changes, and all else that is about several.
    public let container: ModelContainer
    private let added = Guarded<[NSPersistentStore]>([])
    /// Held while a store is opened: the next one is checked against it.
    private let turn = Guarded(())

    /// Makes a coordinator without a store.
    public init(managedObjectModel model: NSManagedObjectModel) {
        managedObjectModel = model
        container = ModelContainer(growingOver: model)
    }

    /// The stores, in the order in which they were added.
    public var persistentStores: [NSPersistentStore] { added.withLock { $0 } }

    /// The store at a URL; nil if there is none.
    public func persistentStore(for url: URL) -> NSPersistentStore? {
        let path = url.standardizedFileURL.path
        return persistentStores.first { $0.url?.standardizedFileURL.path == path }
    }

    /// The URL of a store; `/dev/null` for one in memory.
    public func url(for store: NSPersistentStore) -> URL { store.url ?? URL(filePath: "/dev/null") }

    /// The identifier and the type of a store.
    public func metadata(for store: NSPersistentStore) -> [String: Any] { store.metadata }

    /// Opens a store for the entities of a configuration of the model.
    ///
    /// Contexts of the coordinator see it at their next call.
    ///
    /// - Parameters:
    ///   - storeType: `NSSQLiteStoreType` for files, `NSInMemoryStoreType` for memory.
    ///   - configurationName: A configuration of the model; nil for all entities that no other store has.
    ///   - storeURL: The directory of the store, made if it is missing; without effect in memory.
    ///   - options: Those of Core Data that have a meaning here.
    /// - Returns: The store.
    /// - Throws: `PersistentStoreError` for a file of SQLite, with the command that imports it, and for arguments that
    ///   have no meaning; `SeveralStoresError` if the entities cannot be in a store of their own; the errors of
    ///   `ModelContainer`'s initializers.
    /// - Complexity: As `ModelContainer`'s initializers.
    @discardableResult
    public func addPersistentStore(
        ofType storeType: String, configurationName: String?, at storeURL: URL?, options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStore {
        let opening = try StoreOpening(storeType, configurationName, storeURL, options, managedObjectModel)
        let added = try turn.withLock { _ throws -> ModelContainer in
            try container.addStore(opening.configuration, ofEntities: opening.entityNames, opening.open)
        }
        let store = NSPersistentStore(
            added, type: storeType, url: opening.isInMemory ? nil : storeURL,
            configurationName: opening.configuration.name, isReadOnly: opening.isReadOnly)
        self.added.withLock { $0.append(store) }
        return store
    }

    /// Opens the store of a description.
    ///
    /// - Parameters:
    ///   - description: The description.
    ///   - block: Called once, before this returns, with the description and the error.
    public func addPersistentStore(
        with description: NSPersistentStoreDescription,
        completionHandler block: (NSPersistentStoreDescription, (any Error)?) -> Void
    ) {
        do {
            try addPersistentStore(
                ofType: description.type, configurationName: description.configuration, at: description.url,
                options: description.options)
            block(description, nil)
        } catch {
            block(description, error)
        }
    }

    /// Closes a store and removes it.
    ///
    /// Contexts let its objects go at their next call; unsaved changes of them are lost, and the context's next save says
    /// so.
    ///
    /// - Throws: `PersistentStoreError.foreignStore` for a store of another coordinator; `StorageError` if the last
    ///   checkpoint cannot be written.
    public func remove(_ store: NSPersistentStore) throws {
        let isOwn = added.withLock { stores in
            guard let place = stores.firstIndex(where: { $0 === store }) else { return false }
            stores.remove(at: place)
            return true
        }
        guard isOwn else {
            throw PersistentStoreError(
                .foreignStore, "The store is none of this coordinator, or was removed. Ask persistentStores.")
        }
        // Not beside an addition, which would be checked against a store that is being closed.
        try turn.withLock { _ in try container.removeStore(store.container) }
    }

    /// The identifier that a URL stands for; nil if none of the coordinator's stores can have such an object.
    ///
    ///     guard let id = coordinator.managedObjectID(forURIRepresentation: url) else { throw HTTPError(.notFound) }
    ///
    /// - Complexity: O(s) for s stores.
    public func managedObjectID(forURIRepresentation url: URL) -> NSManagedObjectID? {
        guard let identifier = PersistentIdentifier(uriRepresentation: url) else { return nil }
        let owner = persistentStores.first { $0.identifier == identifier.storeIdentifier }
        return owner?.container.schema.entitiesByName[identifier.entityName] == nil ? nil : identifier
    }
}
