public import Foundation

/// Fetches objects.
extension ModelContext {
    /// Fetches the objects that a descriptor selects.
    ///
    /// Objects that are not loaded yet are faults: their rows are read when a property is first used.
    ///
    /// - Parameters:
    ///   - descriptor: Selects the objects, and their order.
    ///   - fileID: The file of the call, for `faultAccount`.
    ///   - line: Its line.
    /// - Returns: The objects found, in the requested order.
    /// - Throws: `SwiftDataError.unsupportedPredicate` and `.unsupportedSortDescriptor`; `StorageError` if the store
    ///   cannot be read; `CancellationError` if the task is cancelled, after some thousand checked rows.
    /// - Complexity: Proportional to the found objects and the checked rows, which `explain(_:)` counts; found objects
    ///   are also sorted if no index has the order.
    @inlinable @inline(__always)
    public func fetch<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>, fileID: StaticString = #fileID, line: UInt = #line
    ) throws -> [T] {
        // Inlined, because the caller knows the class: where it is unknown, each part of the descriptor takes hundreds
        // of instructions. It is in an extension: a method that could be overridden is called and not inlined.
        if looksUpUniqueValues, let predicate = descriptor.predicate, descriptor.fetchOffset ?? 0 <= 0,
            // Not `isEmpty`, which takes hundreds of instructions more for elements of a generic type.
            descriptor.sortBy.count == 0, descriptor.propertiesToFetch.count == 0,
            descriptor.relationshipKeyPathsForPrefetching.count == 0,
            descriptor.relationshipPathsForPrefetching.count == 0
        {
            switch try uniqueAnswer(predicate.expression, predicate.variable.key, T._$modelType) {
            case .unknown: break
            case .nothing: return []
            // Safe because the objects of the class's entity are of the class.
            case .object(let object): return [unsafeDowncast(object, to: T.self)]
            }
        }
        return try fetchAnything(descriptor, fileID, line)
    }

    /// Fetches the objects that a descriptor selects, where no call site can be recorded: as a requirement of a protocol,
    /// and as a function value.
    ///
    ///     protocol Repository { func fetch<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> [T] }
    ///     extension ModelContext: Repository {}
    ///
    /// A call of the context itself is one of the form above, which has the same result. A `faultAccount` counts the
    /// fetches of this form together.
    ///
    /// - Throws: As that form.
    /// - Complexity: As that form.
    @_disfavoredOverload
    public func fetch<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> [T] {
        try fetch(descriptor, fileID: "through a protocol", line: 0)
    }

    /// Whether nothing but the store has a part in the answer of a fetch: no unsaved object, account or migration.
    @usableFromInline
    var looksUpUniqueValues: Bool {
        !core.pending.hasInserts && core.pending.changed.isEmpty && core.pending.deleted.isEmpty
            && core.reports.accounting == nil && core.stage == nil && core.link == nil && parts == nil
    }

    /// Looks up the object for a predicate that compares only a unique attribute; for a context without unsaved objects.
    @usableFromInline
    func uniqueAnswer(
        _ expression: any StandardPredicateExpression<Bool>, _ variable: PredicateExpressions.VariableID,
        _ type: ModelType
    ) throws -> UniqueAnswer {
        try core.throwing { try FetchRunner(core).uniqueAnswer(expression, variable, type) }
    }

    /// Fetches the objects that any descriptor selects.
    @usableFromInline
    func fetchAnything<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>, _ fileID: StaticString, _ line: UInt
    ) throws -> [T] {
        let core = core(of: T.self)
        return try core.throwing {
            try core.accountedFetch(fileID, line) { try FetchRunner(core).fetch(descriptor) }
        }
    }

    /// Finds the first object whose attribute has a value.
    ///
    ///     if let user = try context.first(\User.email, equals: address) { user.lastSeen = .now }
    ///
    /// Returns the same object as a fetch of `$0.email == address` with the limit 1, in a third of the instructions,
    /// because no predicate is made. Unsaved changes count: an inserted or changed object with the value is found, an
    /// object that has lost the value, or is to be deleted, is not.
    ///
    /// - Parameters:
    ///   - keyPath: An attribute; best one that is unique.
    ///   - value: The value.
    ///   - fileID: The file of the call, for `faultAccount`.
    ///   - line: Its line.
    /// - Returns: The object; the first in the order of creation if several have the value; nil if none has it.
    /// - Throws: `SwiftDataError.unsupportedPredicate` for a property that no fetch can compare; `.unknownSchema` for a
    ///   class that the container lacks; `StorageError` if the store cannot be read.
    /// - Complexity: For a unique attribute one look-up in its index, one row, and O(objects of the entity inserted or
    ///   changed since the last fetch). For any other attribute that of the fetch.
    public func first<T: PersistentModel, V: Codable & Equatable & Sendable>(
        _ keyPath: any KeyPath<T, V> & Sendable, equals value: V, fileID: StaticString = #fileID, line: UInt = #line
    ) throws -> T? {
        let core = core(of: T.self)
        return try core.throwing {
            guard core.reports.accounting != nil else { return try FetchRunner(core).first(keyPath, equals: value) }
            return try core.accountedFetch(fileID, line) {
                try FetchRunner(core).first(keyPath, equals: value).map { [$0] } ?? []
            }.first
        }
    }

    /// Fetches the objects that a descriptor selects, and makes them a batch at a time on access.
    ///
    /// - Parameters:
    ///   - descriptor: Selects the objects, and their order.
    ///   - batchSize: Objects held at once by the result; 0 for all.
    /// - Returns: The objects found, in the requested order.
    /// - Throws: The errors of `fetch`; `SwiftDataError.includePendingChangesWithBatchSize` if the context has unsaved
    ///   changes and the descriptor includes them.
    /// - Complexity: That of `fetchIdentifiers(_:)`; eight bytes an object, and one batch of objects.
    public func fetch<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>, batchSize: Int
    ) throws -> FetchResultsCollection<T> {
        let core = core(of: T.self)
        return try core.throwing { try FetchRunner(core).batches(QuerySource(descriptor), batchSize: batchSize) }
    }

    /// Fetches the identifiers of the objects that a descriptor selects, and makes them a batch at a time on access.
    ///
    /// The parameters are those of `fetch(_:batchSize:)`.
    ///
    /// - Throws: As `fetch(_:batchSize:)`.
    /// - Complexity: That of `fetchIdentifiers(_:)`; eight bytes an object, and one batch of identifiers.
    public func fetchIdentifiers<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>, batchSize: Int
    ) throws -> FetchResultsCollection<PersistentIdentifier> {
        let core = core(of: T.self)
        return try core.throwing {
            try FetchRunner(core).identifierBatches(QuerySource(descriptor), batchSize: batchSize)
        }
    }

    /// Counts the objects that a descriptor selects, without making any.
    ///
    /// - Throws: The errors of `fetch`.
    /// - Complexity: O(1) without a predicate. With one, the entries of an index that answers it alone, else the
    ///   checked rows, which `explain(_:)` counts.
    public func fetchCount<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> Int {
        let core = core(of: T.self)
        return try core.throwing { try FetchRunner(core).count(QuerySource(descriptor)) }
    }

    /// Fetches the identifiers of the objects that a descriptor selects, without making any.
    ///
    /// - Throws: The errors of `fetch`.
    /// - Complexity: As `fetch(_:)`, without the objects.
    public func fetchIdentifiers<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> [PersistentIdentifier]
    {
        let core = core(of: T.self)
        return try core.throwing { try FetchRunner(core).identifiers(QuerySource(descriptor)) }
    }

    /// Walks the objects that a descriptor selects, a batch at a time, and releases each batch before the next.
    ///
    ///     try context.enumerate(FetchDescriptor<Order>(predicate: #Predicate { $0.isOpen })) { order in
    ///         order.isOpen = false
    ///         try context.save()
    ///     }
    ///
    /// The block gets each object in the context's current state: after a save with its newest values, and no deleted
    /// ones. Objects that are added during the walk are not reached.
    ///
    /// - Parameters:
    ///   - descriptor: Selects the objects, and their order.
    ///   - batchSize: Objects held at once by the walk.
    ///   - allowEscapingMutations: Unless true, unsaved changes at the end of a batch are an error, because the walk
    ///     does not hold the changed objects.
    ///   - block: Called with one object after the other.
    /// - Throws: The errors of `fetch`; `SwiftDataError.includePendingChangesWithBatchSize` for unsaved changes at the
    ///   end of a batch; the errors of `block`.
    /// - Complexity: As `fetch(_:)`, with one batch of objects in memory; an order that no index has takes eight bytes
    ///   an object.
    public func enumerate<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>, batchSize: Int = 5_000, allowEscapingMutations: Bool = false,
        block: (T) throws -> Void
    ) throws {
        let core = core(of: T.self)
        try core.throwing(runsOthersCode: true) {
            try FetchRunner(core).enumerate(
                QuerySource(descriptor), batchSize: batchSize, allowEscapingMutations: allowEscapingMutations,
                block: block)
        }
    }
}
