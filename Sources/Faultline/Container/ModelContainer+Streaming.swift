public import FaultlineObjects

// Reading and writing by tasks, without blocking the threads that all tasks share.

extension ModelContainer {
    /// The stored objects of a fetch as value copies, batch by batch.
    ///
    ///     for try await people in container.stream(FetchDescriptor<Person>(), batchSize: 500) { send(people) }
    ///
    /// - Parameters:
    ///   - descriptor: The objects, and their order: by stored properties, text by Swift's `<`.
    ///   - batchSize: The number of objects in a batch; below 1 counts as 1.
    ///   - contents: The contents of a copy beside attributes in the row and to-one relationships.
    /// - Returns: The stream. It throws the errors of `fetch`, and `SwiftDataError.unsupportedSortDescriptor` for
    ///   another order.
    /// - Complexity: O(1): each batch is read when it is requested.
    public nonisolated func stream<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>, batchSize: Int = 256, including contents: ValueCopy.Contents = []
    ) -> ValueStream {
        let store = part(of: T.self)
        return ValueStream {
            ValueStreamReader.reading(descriptor, batchSize, contents, on: store.performing.pool) { store.makeCore() }
        }
    }

    /// The stored objects of a fetch by name as value copies, batch by batch; as the form that takes a descriptor.
    ///
    /// - Complexity: O(1): each batch is read when it is requested.
    public nonisolated func stream(
        _ request: FetchRequest, batchSize: Int = 256, including contents: ValueCopy.Contents = []
    ) -> ValueStream {
        let store = part(named: request.entityName)
        return ValueStream {
            ValueStreamReader.reading(request, batchSize, contents, on: store.performing.pool) { store.makeCore() }
        }
    }
}
