public import Faultline
internal import FaultlineDisk
public import FaultlineModel
public import FaultlineObjects
internal import Foundation
internal import Synchronization

/// The model, the stores and the contexts of an app.
///
///     let container = NSPersistentContainer(name: "Library", managedObjectModel: model)
///     container.loadPersistentStores { description, error in
///         if let error { fatalError("\(description.url?.path ?? ""): \(error)") }
///     }
///     let books = try container.viewContext.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book"))
///
/// It opens its stores when `loadPersistentStores` is called, one after the other, and waits for each. Contexts belong
/// to the code that uses them; `viewContext` saves only when it is told to.
open class NSPersistentContainer {
    /// The name: that of the model's file, and of the store.
    public let name: String
    /// The stores.
    public let persistentStoreCoordinator: NSPersistentStoreCoordinator
    /// The stores to open; at first one with the container's name, in `defaultDirectoryURL()`.
    public var persistentStoreDescriptions: [NSPersistentStoreDescription]
    /// The descriptions of stores in memory that were opened.
    private let inMemory = Guarded<Set<ObjectIdentifier>>([])
    /// A context for the main thread of the app.
    public let viewContext: NSManagedObjectContext

    /// Makes a container for a model.
    public init(name: String, managedObjectModel model: NSManagedObjectModel) {
        self.name = name
        persistentStoreCoordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let place = Self.defaultDirectoryURL().appending(path: "\(name).store", directoryHint: .isDirectory)
        persistentStoreDescriptions = [NSPersistentStoreDescription(url: place)]
        viewContext = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        viewContext.persistentStoreCoordinator = persistentStoreCoordinator
    }

    /// Makes a container for the model of the same name in the app's resources: `NAME.momd`, or `NAME.mom`.
    ///
    /// Without such a file the model has no entity, and `loadPersistentStores` tells the error.
    public convenience init(name: String) {
        let url = ["momd", "mom"].lazy.compactMap { Bundle.main.url(forResource: name, withExtension: $0) }.first
        let model = url.flatMap { try? NSManagedObjectModel(contentsOf: $0) }
        self.init(name: name, managedObjectModel: model ?? NSManagedObjectModel())
    }

    /// The model.
    public var managedObjectModel: NSManagedObjectModel { persistentStoreCoordinator.managedObjectModel }

    /// The folder for stores: `XDG_DATA_HOME`, or `.local/share` in the home folder.
    open class func defaultDirectoryURL() -> URL {
        ModelConfiguration("default").url.deletingLastPathComponent()
    }

    /// Opens the stores of `persistentStoreDescriptions` that are not open yet.
    ///
    /// - Parameter block: Called once for each, before this returns, with the description and the error.
    public func loadPersistentStores(completionHandler block: (NSPersistentStoreDescription, (any Error)?) -> Void) {
        for description in persistentStoreDescriptions {
            if managedObjectModel.entities.isEmpty {
                block(
                    description,
                    PersistentStoreError(
                        .withoutModel,
                        "The model \(name) has no entities: \(name).momd is not among the resources of the app, or cannot be read. Read it by NSManagedObjectModel(contentsOf:), and give it to NSPersistentContainer(name:managedObjectModel:)."
                    ))
            } else if isOpen(description) {
                block(description, nil)
            } else {
                persistentStoreCoordinator.addPersistentStore(with: description) { opened, error in
                    if error == nil, opened.type == NSInMemoryStoreType {
                        inMemory.withLock { _ = $0.insert(ObjectIdentifier(opened)) }
                    }
                    block(opened, error)
                }
            }
        }
    }

    private func isOpen(_ description: NSPersistentStoreDescription) -> Bool {
        guard description.type == NSInMemoryStoreType else {
            return description.url.flatMap(persistentStoreCoordinator.persistentStore(for:)) != nil
        }
        return inMemory.withLock { $0.contains(ObjectIdentifier(description)) }
            && persistentStoreCoordinator.persistentStores.contains { $0.type == NSInMemoryStoreType }
    }

    /// Makes a context for other code than that of `viewContext`.
    public func newBackgroundContext() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = persistentStoreCoordinator
        return context
    }

    /// Runs code with a context of its own, on a thread of the container.
    ///
    /// - Throws: The errors of `block`.
    public func performBackgroundTask<R: Sendable>(
        _ block: @escaping @Sendable (NSManagedObjectContext) throws -> R
    ) async throws -> R {
        let coordinator = persistentStoreCoordinator
        return try await coordinator.container.perform { (_: ModelContext) in
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            return try block(context)
        }
    }
}
