internal import FaultlineModel
public import FaultlineObjects

// The stores of a container, for calls that are about one of them.

extension ModelContainer {
    /// The containers of its stores, in the order of their configurations; of a container of one store, itself.
    ///
    ///     for store in container.stores { print(store.configurations, try store.historyUsage()) }
    ///
    /// Each is a container of its own, over its part of the schema: with its history, its backups, its past. Contexts
    /// of it see the same objects. It is closed with the whole.
    public var stores: [ModelContainer] { parts?.containers ?? [self] }

    /// The container of the store that has a class's objects.
    ///
    ///     let visits = try container.store(for: Visit.self)
    ///     let token = try ModelContext(visits).historyToken()
    ///
    /// - Throws: `SwiftDataError.unknownSchema` for a class that the container does not have.
    /// - Complexity: O(s) for s stores.
    public func store<T: PersistentModel>(for type: T.Type) throws -> ModelContainer {
        try store(forEntityNamed: Schema.entityName(for: type))
    }

    /// The container of the store that has an entity's objects.
    ///
    ///     let visits = try container.store(forEntityNamed: "Visit")
    ///
    /// - Throws: `SwiftDataError.unknownSchema` for an entity that the container does not have.
    /// - Complexity: O(s) for s stores.
    public func store(forEntityNamed name: String) throws -> ModelContainer {
        if let container = stores.first(where: { $0.schema.entitiesByName[name] != nil }) { return container }
        throw SwiftDataError.unknownSchema.explained(
            "No store of this container has \"\(name.excerpt)\". Add it to the container's schema.")
    }

    /// The container of the store that has a class's objects; itself, which refuses the class, if there is none.
    func part<T: PersistentModel>(of type: T.Type) -> ModelContainer { part(named: Schema.entityName(for: type)) }

    /// The same for an entity.
    func part(named name: String) -> ModelContainer { parts?.container(forEntityNamed: name) ?? self }

    /// Refuses a call that is about one store.
    ///
    /// - Throws: `SeveralStoresError.ofOneStore` for a container over several.
    func checkIsOfOneStore(_ call: String) throws {
        if parts != nil { throw SeveralStoresError.ofOneStore(call, "container") }
    }
}
