/// A fetch that a context asks of a data store.
///
///     func fetch<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> DataStoreFetchResult<T, DefaultSnapshot> {
///         if request.descriptor.predicate != nil { throw DataStoreError.preferInMemoryFilter }
///         …
public struct DataStoreFetchRequest<T: PersistentModel>: Sendable {
    /// The editing state of the context.
    public let editingState: EditingState
    /// Selects the objects, and their order.
    public let descriptor: FetchDescriptor<T>

    /// Whether the object of a snapshot is of the requested class, or of a subclass.
    ///
    ///     let found = all.filter { request.isOfClass($0) }
    ///
    /// - Complexity: O(1) for each class between the two.
    public func isOfClass(_ snapshot: DefaultSnapshot) -> Bool {
        let name = T._$modelType.entityName
        if snapshot.entityName == name { return true }
        guard !descriptor.leavesOutSubclasses, let call = DataStoreCall.current else { return false }
        return call.isEntity(snapshot.entityName, name)
    }

    /// Makes a request, for a data store that asks another one.
    public init(descriptor: FetchDescriptor<T>, editingState: EditingState) {
        self.descriptor = descriptor
        self.editingState = editingState
    }
}
