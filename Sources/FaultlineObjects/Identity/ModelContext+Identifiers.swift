/// Finds objects by their identifiers.
extension ModelContext {
    /// Finds the object of an identifier: the way to use identifiers that come from outside.
    ///
    ///     guard let book = try context.existing(identifier, as: Book.self) else { return .notFound }
    ///
    /// The identifier may come from a client or another process. Nothing is made or registered for one that leads to no
    /// object. If the context's state lacks the object and the newest state has it, the context moves to that state, as
    /// for a fetch; a pinned context stays. An object that another context has deleted since is still found: the next
    /// fetch, or a save of a change of it, reports that.
    ///
    /// - Parameters:
    ///   - identifier: Any identifier.
    ///   - type: The class of the object.
    /// - Returns: The object, a fault unless it is loaded. Nil for an object of another class or entity, of another
    /// store, of an unsaved object of another context or process, and for one that is not stored or is deleted here.
    /// - Throws: `StorageError` if the store cannot be read.
    /// - Complexity: O(1): looks at one entry of the location table, and reads no row.
    public func existing<T: PersistentModel>(_ identifier: PersistentIdentifier, as type: T.Type = T.self) throws -> T?
    {
        let core = core(for: identifier)
        return try core.throwing { try ObjectRegistry(core).existingModel(for: identifier, as: T.self) }
    }

    /// The object of an identifier, if there is one, of any class; as the form that takes a class.
    ///
    /// - Throws: As the form that takes a class.
    /// - Complexity: As the form that takes a class.
    public func existing(_ identifier: PersistentIdentifier) throws -> (any PersistentModel)? {
        let core = core(for: identifier)
        return try core.throwing { try ObjectRegistry(core).existingModel(for: identifier) { _ in true } }
    }

    /// Finds the object of a class by its primary key, which may come from a client.
    ///
    ///     guard let key = UInt64(parameters["photo"]), let photo: Photo = try context.existing(primaryKey: key)
    ///     else { throw HTTPError(.notFound) }
    ///
    /// As the form that takes an identifier. A primary key is short, and means an object only together with its class
    /// and its store: the address says the class, and the service knows the store.
    ///
    /// - Parameters:
    ///   - primaryKey: Any number: `PersistentIdentifier.primaryKey` of the object.
    ///   - type: The class of the object.
    /// - Returns: The object, a fault unless it is loaded; nil if none of the class has the number.
    /// - Throws: `StorageError` if the store cannot be read; `SwiftDataError.unknownSchema` if the container lacks the
    ///   class.
    /// - Complexity: O(1): looks at one entry of the location table, and reads no row.
    public func existing<T: PersistentModel>(primaryKey: UInt64, as type: T.Type = T.self) throws -> T? {
        let core = core(of: T.self)
        return try core.throwing {
            let home = try core.require(T.self)
            if let keys = DataStoreKeys.find(home.storeID) {
                let identifier = PersistentIdentifier.ofDataStore(keys, home.entityName, key: String(primaryKey))
                return try identifier.flatMap { try ObjectRegistry(core).existingModel(for: $0, as: T.self) }
            }
            return try ObjectRegistry(core).storedModel(primaryKey: primaryKey, home) as? T
        }
    }

    /// Finds the object of an entity by its primary key; as the form that takes a class.
    ///
    ///     let photo = try context.existing(primaryKey: key, entityName: "Photo")
    ///
    /// - Throws: `StorageError` if the store cannot be read; `SwiftDataError.unknownSchema` if the container lacks the
    ///   entity.
    /// - Complexity: As the form that takes a class.
    public func existing(primaryKey: UInt64, entityName: String) throws -> ManagedObject? {
        let core = core(named: entityName)
        return try core.throwing {
            let entity = try core.entity(named: entityName)
            func existing<T: PersistentModel>(_ type: T.Type) throws -> ManagedObject? {
                try self.existing(primaryKey: primaryKey, as: type).map { .view(of: ObjectHandle($0)) }
            }
            guard entity.type.isDynamic else { return try existing(entity.model) }
            let found = try ObjectRegistry(core).storedModel(primaryKey: primaryKey, entity.home) as? ManagedObject
            return found.flatMap { entity.has(ObjectHandle($0), withSubentities: true) ? $0 : nil }
        }
    }

    /// The object of an identifier, never nil.
    ///
    /// For an identifier from outside use `existing(_:as:)`.
    ///
    ///     let book = context.model(for: identifier) as? Book
    ///
    /// An identifier that leads to no object returns one that is marked: `isDeleted` is true, `modelContext` nil, each
    /// property returns a placeholder and reports to `errorHandler`, and a save throws after it was changed, inserted
    /// or related. For an entity that the container lacks `errorHandler` is called, and the object is of a class
    /// without properties. Nothing is registered for either. If only the newest state has the object, the context moves
    /// to it, as `existing` does.
    ///
    /// - Complexity: O(1): looks at one entry of the location table, and reads no row.
    public func model(for identifier: PersistentIdentifier) -> any PersistentModel {
        ObjectRegistry(core(for: identifier)).model(for: identifier)
    }

    /// The object of an identifier, if it is alive in this context; nothing is made, and nothing is read.
    ///
    /// - Complexity: O(1).
    public func registeredModel<T: PersistentModel>(for identifier: PersistentIdentifier) -> T? {
        ObjectRegistry(core(for: identifier)).registeredModel(for: identifier) as? T
    }
}
