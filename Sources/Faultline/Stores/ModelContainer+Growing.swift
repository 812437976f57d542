internal import FaultlineLog
package import FaultlineModel
package import FaultlineObjects
internal import FaultlineStore

// A container whose stores come one after the other, while contexts of it exist.

extension ModelContainer {
    /// Makes a container without a store.
    package convenience init(growingOver schema: Schema) {
        self.init(over: StoreParts([]), EmptyStore.rows, schema, StoreOptions.Performing())
    }

    /// Opens a store, and adds it to those that there are: contexts see it at their next call.
    ///
    /// - Parameters:
    ///   - configuration: The store.
    ///   - names: The names of its entities; nil for all that no other store has.
    ///   - open: Opens it under its part of the schema.
    /// - Returns: The container of the store.
    /// - Throws: As the initializers for several configurations; the errors of `open`.
    package func addStore(
        _ configuration: ModelConfiguration, ofEntities names: Set<String>?,
        _ open: (Schema) throws -> ModelContainer
    ) throws -> ModelContainer {
        let others = parts?.containers ?? []
        let taken = others.reduce(into: Set<String>()) { $0.formUnion($1.schema.entities.map(\.name)) }
        let names = names ?? Set(schema.entities.map(\.name)).subtracting(taken)
        try configuration.validate()
        try StoreDivision.check(names, configuration, of: schema, besides: others)
        let part = Schema(entities: schema.entities.filter { names.contains($0.name) }, version: schema.version)
        let container = try open(part)
        do { try StoreParts.check(container, besides: others) } catch {
            try? container.close()
            throw error
        }
        parts?.add(container)
        return container
    }

    /// Opens the store of a configuration.
    ///
    /// - Throws: As the initializers.
    package convenience init(_ schema: Schema, at configuration: ModelConfiguration) throws {
        try self.init(schema, ofOneStore: configuration)
    }

    /// Closes a store, and removes it from the others: contexts let its objects go at their next call.
    ///
    /// - Throws: As `close()`; the store is removed then, too.
    package func removeStore(_ container: ModelContainer) throws {
        parts?.remove(container)
        try container.close()
    }

    /// The identifier of its store, which is in the identifiers of its objects.
    package var storeIdentifier: String { PersistentIdentifier.storeIdentifier(rowStore.log.storeID) }

    /// Counts the stores that were added and removed.
    package var storeChangeCount: Int { parts?.changeCount ?? 0 }

    /// The stores for contexts, with the count of changes that they stand for.
    package func storesForContexts() -> (changeCount: Int, stores: [ContextParts.Store]) {
        parts?.storesNow() ?? (changeCount: 0, stores: [])
    }
}

extension ModelContext {
    /// Makes a context over stores that may come later.
    ///
    /// - Parameter owner: The stores, and the container of the context; kept alive by it.
    package convenience init(over owner: any ContextSource & ContainerHolder) {
        self.init(ContextCore(store: EmptyStore.rows, types: []), over: owner, owner: owner)
    }
}
