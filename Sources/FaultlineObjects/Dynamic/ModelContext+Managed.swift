// The dynamic face of a context.

extension ModelContext {
    /// Makes a new object of an entity and inserts it.
    ///
    /// - Throws: `SwiftDataError.unknownSchema` if the context's container has no dynamic objects of that entity.
    public func insertNewObject(forEntityName name: String) throws -> ManagedObject {
        let type = try core.requireDynamic(name)
        return ManagedObject(entity: type.entity, insertInto: self)
    }

    /// The objects that a request asks for.
    ///
    /// Those not loaded yet are faults: nothing of them is read until it is touched.
    ///
    /// - Throws: `SwiftDataError.unknownSchema`, `.unsupportedPredicate` and `.unsupportedSortDescriptor`, naming entity,
    ///   key and the name that may be meant; `StorageError` if the store cannot be read.
    public func fetch(_ request: FetchRequest) throws -> [ManagedObject] {
        try core.throwing { try core.fetch(QuerySource(request)) }
    }

    /// How many objects a request asks for, without making any where the stored bytes can tell.
    public func count(for request: FetchRequest) throws -> Int {
        try core.throwing { try core.fetchCount(QuerySource(request)) }
    }

    /// Walks the objects that a request asks for, a batch at a time, letting go of each batch before the next.
    ///
    /// Parameters and errors are those of the form that takes a `FetchDescriptor`.
    public func enumerate(
        _ request: FetchRequest, batchSize: Int = 5_000, allowEscapingMutations: Bool = false,
        block: (ManagedObject) throws -> Void
    ) throws {
        try core.throwing(runsOthersCode: true) {
            try core.enumerate(
                QuerySource(request), batchSize: batchSize, allowEscapingMutations: allowEscapingMutations,
                block: block)
        }
    }

    /// The object of an identifier: nil if the context has no dynamic objects of its entity.
    ///
    /// One that is not in the store answers with nil for every value, and `isDeleted` says so once it was read.
    public func object(with objectID: PersistentIdentifier) -> ManagedObject? {
        core.model(for: objectID) as? ManagedObject
    }
}

extension ContextCore {
    func requireDynamic(_ name: String) throws -> ModelType {
        if let type = dynamicType(named: name) { return type }
        let isTyped = homes.contains { $0.entityName == name }
        let names = homes.map(\.entityName)
        let hint = NearestName.nearest(to: name, among: names).map { "Did you mean \"\($0)\"?" } ?? ""
        throw SwiftDataError.unknownSchema.explained(
            isTyped
                ? "The objects of \(name) have a class in this container. Fetch them by the class, or make the container from a schema without classes."
                : "The container has no entity \"\(name)\". \(hint)")
    }
}
