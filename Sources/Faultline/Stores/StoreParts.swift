internal import FaultlineDisk
internal import FaultlineModel
internal import FaultlineObjects
internal import Synchronization

/// The stores of a container over several: each is the container of one configuration.
package final class StoreParts: ContextSource {
    private let held: Guarded<[ModelContainer]>
    /// Read by contexts at each call, so it is read without the lock.
    private let changes = Atomic<Int>(0)

    init(_ containers: [ModelContainer]) { held = Guarded(containers) }

    /// The containers, in the order of their configurations.
    var containers: [ModelContainer] { held.withLock { $0 } }

    /// The container of the store that has an entity.
    func container(forEntityNamed name: String) -> ModelContainer? {
        containers.first { $0.schema.entitiesByName[name] != nil }
    }

    /// Adds a store, which contexts see at their next call.
    func add(_ container: ModelContainer) {
        held.withLock { $0.append(container) }
        changes.wrappingAdd(1, ordering: .releasing)
    }

    /// Removes a store, and leaves it open.
    func remove(_ container: ModelContainer) {
        held.withLock { $0.removeAll { $0 === container } }
        changes.wrappingAdd(1, ordering: .releasing)
    }

    /// Closes all stores, also after an error, of which the first is thrown.
    func close() throws { _ = try forEach(containers) { try $0.close() } }

    /// Does something to all stores that this container may write, also after an error, of which the first is thrown.
    ///
    /// - Throws: The errors of `body`; if no store may be written, that of the first.
    func forEachWritable<R>(_ body: (ModelContainer) throws -> R) throws -> [R] {
        let writable = containers.filter(\.configuration.allowsSave)
        return try forEach(writable.isEmpty ? containers : writable, body)
    }

    private func forEach<R>(_ containers: [ModelContainer], _ body: (ModelContainer) throws -> R) throws -> [R] {
        var failure: (any Error)?
        var results: [R] = []
        for container in containers {
            do { results.append(try body(container)) } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
        return results
    }

    // MARK: Contexts

    package var changeCount: Int { changes.load(ordering: .acquiring) }

    package func storesNow() -> (changeCount: Int, stores: [ContextParts.Store]) {
        // Read first: a store that comes in between is seen once more, and not missed.
        let count = changeCount
        let stores = containers.map { container in
            ContextParts.Store(id: ObjectIdentifier(container), name: container.configuration.name) {
                container.makeCore()
            }
        }
        return (count, stores)
    }
}
