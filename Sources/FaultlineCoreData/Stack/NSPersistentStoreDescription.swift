public import Foundation

/// The store that a container is to open.
///
///     let description = NSPersistentStoreDescription(url: URL(filePath: "/var/lib/library.store"))
///     description.configuration = "Catalog"
///     container.persistentStoreDescriptions = [description]
public final class NSPersistentStoreDescription {
    /// The type of the store: files, if nothing else is set.
    public var type = NSSQLiteStoreType
    /// The configuration of the model whose entities it has; nil for all that no other store has.
    public var configuration: String?
    /// The directory of the store.
    public var url: URL?
    /// The options of the store.
    public private(set) var options: [AnyHashable: Any] = [
        NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
    ]

    /// Describes a store in files.
    public init(url: URL) { self.url = url }

    /// Describes a store whose URL or type is set later.
    public init() {}

    /// Sets an option; nil removes it.
    public func setOption(_ option: Any?, forKey key: String) { options[key] = option }

    /// Whether the store is only read.
    public var isReadOnly: Bool {
        get { truth(NSReadOnlyPersistentStoreOption) }
        set { options[NSReadOnlyPersistentStoreOption] = newValue }
    }

    /// Whether a store of an older model is migrated; true, if nothing else is set.
    public var shouldMigrateStoreAutomatically: Bool {
        get { truth(NSMigratePersistentStoresAutomaticallyOption) }
        set { options[NSMigratePersistentStoresAutomaticallyOption] = newValue }
    }

    /// Whether such a migration may be inferred; true, if nothing else is set.
    public var shouldInferMappingModelAutomatically: Bool {
        get { truth(NSInferMappingModelAutomaticallyOption) }
        set { options[NSInferMappingModelAutomaticallyOption] = newValue }
    }

    private func truth(_ key: String) -> Bool {
        (options[key] as? Bool) ?? (options[key] as? NSNumber)?.boolValue ?? false
    }
}
