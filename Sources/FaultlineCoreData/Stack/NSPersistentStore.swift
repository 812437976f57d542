public import Faultline
internal import FaultlineObjects
internal import Foundation

/// A store of a coordinator: a directory of files, or memory.
///
///     let store = try coordinator.addPersistentStore(
///         ofType: NSInMemoryStoreType, configurationName: "Cache", at: nil, options: nil)
///     print(store.configurationName, store.identifier)
public final class NSPersistentStore: Sendable {
    /// Its container: for history, backups and all else that is about one store.
    public let container: ModelContainer
    /// The type that it was added with.
    public let type: String
    /// The directory of the store; nil for one in memory.
    public let url: URL?
    /// The name of the configuration whose entities it has; that of the default configuration, if none was named.
    public let configurationName: String
    /// Whether it is only read.
    public let isReadOnly: Bool
    /// The identifier of the store: that of its objects' identifiers.
    public let identifier: String

    init(_ container: ModelContainer, type: String, url: URL?, configurationName: String, isReadOnly: Bool) {
        self.container = container
        self.type = type
        self.url = url
        self.configurationName = configurationName
        self.isReadOnly = isReadOnly
        identifier = container.storeIdentifier
    }

    /// The identifier of the store, and its type, under `NSStoreUUIDKey` and `NSStoreTypeKey`.
    public var metadata: [String: Any] { [NSStoreUUIDKey: identifier, NSStoreTypeKey: type] }
}
