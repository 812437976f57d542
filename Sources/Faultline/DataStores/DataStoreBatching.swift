public import FaultlineObjects

/// A data store that deletes all objects that satisfy a predicate in one call: `ModelContext.batchDelete(_:where:)`.
public protocol DataStoreBatching: DataStore {
    /// Deletes the objects that satisfy the request's predicate.
    ///
    /// - Throws: Any error: then nothing is deleted.
    func delete<T: PersistentModel>(_ request: DataStoreBatchDeleteRequest<T>) throws
}
