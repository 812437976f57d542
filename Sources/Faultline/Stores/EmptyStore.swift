internal import FaultlineModel
internal import FaultlineStore

/// A store without entities: a container over several needs one for calls that name none of its entities.
enum EmptyStore {
    /// Made once for the process, in memory: it has no entity, and is never written.
    static let rows: RowStore = {
        let configuration = ModelConfiguration("no store", isStoredInMemoryOnly: true)
        guard let container = try? ModelContainer(ContainerRequest(Schema(), nil, [configuration])) else {
            preconditionFailure("A store in memory without entities can be opened.")
        }
        kept = container
        return container.rowStore
    }()

    // Safe because only the initializer of `rows` writes it, once.
    nonisolated(unsafe) private static var kept: ModelContainer?
}
