public import FaultlineModel

/// The configuration of a data store: a container makes the store by it.
///
///     struct JSONStoreConfiguration: DataStoreConfiguration {
///         typealias Store = JSONStore
///         var name: String
///         var schema: Schema?
///         var fileURL: URL
///     }
public protocol DataStoreConfiguration: Hashable {
    /// The type of the store.
    associatedtype Store: DataStore where Store.Configuration == Self

    /// The name of the configuration.
    var name: String { get }
    /// The schema of the store's objects; a container sets it if it is nil.
    var schema: Schema? { get set }

    /// Checks the configuration before the store is made; does nothing by default.
    ///
    /// - Throws: Any error; the container's initializer throws it.
    func validate() throws
}

extension DataStoreConfiguration {
    /// Accepts the configuration.
    ///
    /// - Throws: Nothing.
    public func validate() throws {}
}
