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

    /// Makes a request, for a data store that asks another one.
    public init(descriptor: FetchDescriptor<T>, editingState: EditingState) {
        self.descriptor = descriptor
        self.editingState = editingState
    }
}
