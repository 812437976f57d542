internal import FaultlineLog
package import FaultlineModel
internal import FaultlineStore

// The dynamic interface of a context.

extension ModelContext {
    /// Makes a new object of an entity and inserts it.
    ///
    /// Its attributes have their declared defaults. No initializer of a model class is called: a required attribute
    /// without a default must be set before the next save.
    ///
    /// - Throws: `SwiftDataError.unknownSchema` if the context's container has no entity of that name.
    /// - Complexity: O(1).
    public func insertNewObject(forEntityName name: String) throws -> ManagedObject {
        ManagedObject(try core(named: name).entity(named: name), insertInto: self)
    }

    /// The entity of this context's objects that has a name; nil if there is none.
    package func entity(named name: String) -> Schema.Entity? { (try? core(named: name).entity(named: name))?.shown }

    /// Makes the next save throw, or a migration stage stop, because a call was refused that cannot throw.
    package func refuse(_ error: any Error) { core.refuseSave(error) }

    /// Fetches the objects that a request selects.
    ///
    /// Objects that are not loaded yet are faults: their rows are read when a property is first used.
    ///
    /// - Parameters:
    ///   - request: Selects the objects, and their order.
    ///   - fileID: The file of the call, for `faultAccount`.
    ///   - line: Its line.
    /// - Returns: The objects found, in the requested order.
    /// - Throws: `SwiftDataError.unknownSchema`, `.unsupportedPredicate` and `.unsupportedSortDescriptor`, with the
    ///   entity, the key and the nearest valid name; `StorageError` if the store cannot be read.
    /// - Complexity: As the form that takes a `FetchDescriptor`.
    public func fetch(
        _ request: FetchRequest, fileID: StaticString = #fileID, line: UInt = #line
    ) throws -> [ManagedObject] {
        let core = core(named: request.entityName)
        func fetch<T: PersistentModel>(_ type: T.Type) throws -> [ManagedObject] {
            ManagedObject.views(
                of: try core.accountedFetch(fileID, line) {
                    try FetchRunner(core).fetch(QuerySource(request, of: type))
                })
        }
        return try core.throwing {
            let model = try core.entity(named: request.entityName).model
            // The compiler specialises the call for objects without classes.
            return try model == ManagedObject.self ? fetch(ManagedObject.self) : fetch(model)
        }
    }

    /// Fetches the objects that a request selects, and makes them a batch at a time on access.
    ///
    /// The parameters are those of the form that takes a `FetchDescriptor`.
    ///
    /// - Throws: As the form that takes a `FetchDescriptor`.
    /// - Complexity: As the form that takes a `FetchDescriptor`.
    public func fetch(_ request: FetchRequest, batchSize: Int) throws -> FetchResultsCollection<ManagedObject> {
        let core = core(named: request.entityName)
        func batches<T: PersistentModel>(_ type: T.Type) throws -> FetchResultsCollection<ManagedObject> {
            let found = try FetchRunner(core).batches(QuerySource(request, of: type), batchSize: batchSize)
            return FetchResultsCollection(count: found.count, batchSize: batchSize) {
                ManagedObject.views(of: Array(found[$0]))
            }
        }
        return try core.throwing { try batches(try core.entity(named: request.entityName).model) }
    }

    /// Counts the objects that a request selects; makes none if the stored bytes can answer.
    ///
    /// - Throws: As `fetch(_:)`.
    /// - Complexity: As `fetchCount(_:)`.
    public func count(for request: FetchRequest) throws -> Int {
        let core = core(named: request.entityName)
        func count<T: PersistentModel>(_ type: T.Type) throws -> Int {
            try FetchRunner(core).count(QuerySource(request, of: type))
        }
        return try core.throwing { try count(try core.entity(named: request.entityName).model) }
    }

    /// Walks the objects that a request selects, a batch at a time, and releases each batch before the next.
    ///
    /// The parameters are those of the form that takes a `FetchDescriptor`.
    ///
    /// - Throws: As the form that takes a `FetchDescriptor`.
    /// - Complexity: As the form that takes a `FetchDescriptor`.
    public func enumerate(
        _ request: FetchRequest, batchSize: Int = 5_000, allowEscapingMutations: Bool = false,
        block: (ManagedObject) throws -> Void
    ) throws {
        let core = core(named: request.entityName)
        func walk<T: PersistentModel>(_ type: T.Type, _ block: (T) throws -> Void) throws {
            try FetchRunner(core).enumerate(
                QuerySource(request, of: type), batchSize: batchSize, allowEscapingMutations: allowEscapingMutations,
                block: block)
        }
        func walkViews<T: PersistentModel>(_ type: T.Type) throws {
            try walk(type) { try block(.view(of: ObjectHandle($0))) }
        }
        try core.throwing(runsOthersCode: true) {
            let model = try core.entity(named: request.entityName).model
            // Specialised, as in a fetch.
            try model == ManagedObject.self ? walk(ManagedObject.self, block) : walkViews(model)
        }
    }

    /// Fetches the identifiers of the objects that a request selects, without making any.
    ///
    /// - Throws: As `fetch(_:)`.
    /// - Complexity: As `fetch(_:)`, without the objects.
    public func fetchIdentifiers(_ request: FetchRequest) throws -> [PersistentIdentifier] {
        let core = core(named: request.entityName)
        func identifiers<T: PersistentModel>(_ type: T.Type) throws -> [PersistentIdentifier] {
            try FetchRunner(core).identifiers(QuerySource(request, of: type))
        }
        return try core.throwing { try identifiers(try core.entity(named: request.entityName).model) }
    }

    /// Marks all objects that a request selects to be deleted by the next save.
    ///
    /// Makes an object for each, as a fetch does; each is deleted individually, with its delete rules.
    ///
    /// - Throws: As `fetch(_:)`.
    /// - Complexity: That of `fetch(_:)`; `batchDelete(_:)` makes no object.
    public func delete(_ request: FetchRequest) throws {
        for object in try fetch(request) { delete(object) }
    }

    /// The object of an identifier; nil if this context cannot have it, because the container lacks its entity, because
    /// it is of another store, or because it belongs to an unsaved object of another context.
    ///
    /// Reads no row. An object that is not in the store returns nil for every value, reports each read, and its
    /// `isDeleted` is true.
    ///
    /// - Complexity: O(1): looks at one entry of the location table, and reads no row.
    public func object(with objectID: PersistentIdentifier) -> ManagedObject? {
        let core = core(for: objectID)
        guard core.mayHave(objectID) else { return nil }
        return .view(of: ObjectRegistry(core).model(for: objectID))
    }

    /// The object of an identifier, if it is alive in this context.
    ///
    /// - Complexity: O(1).
    public func registeredObject(for objectID: PersistentIdentifier) -> ManagedObject? {
        ObjectRegistry(core(for: objectID)).registeredModel(for: objectID).flatMap { .view(of: $0) }
    }

    /// The object of an identifier that must exist.
    ///
    /// - Throws: `SwiftDataError.missingModelContext` if it is not in the context or the store, or deleted;
    ///   `StorageError` if that cannot be read.
    /// - Complexity: O(1): looks at one entry of the location table, and reads no row.
    public func existingObject(with objectID: PersistentIdentifier) throws -> ManagedObject {
        guard let object = try existing(objectID).flatMap({ ManagedObject.view(of: $0) }) else {
            throw SwiftDataError.missingModelContext.explained(
                "The object \(objectID) is not in this context, or deleted. Ask object(with:), which may be nil.")
        }
        return object
    }
}

extension ContextCore {
    /// Whether an identifier belongs to a stored object of the context's store, or to one that is inserted here.
    fileprivate func mayHave(_ identifier: PersistentIdentifier) -> Bool {
        if let number = identifier.unsavedNumber { return pending.insertedObject(number) != nil }
        return ObjectRegistry(self).storedNumber(of: identifier) != nil
            && homes.reference(of: identifier)?.takeUnretainedValue().type != nil
    }
}
