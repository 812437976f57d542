internal import FaultlineLog
internal import FaultlineStore
public import Foundation

/// Fetches, changes and saves objects: one object for each row, unsaved changes until `save()` writes them in one
/// transaction.
///
/// A context belongs to one thread, task or actor at a time, like its objects; identifiers go between contexts. Objects
/// may outlive their context: they keep reading, and `modelContext` is nil.
///
/// Each context reads one state of the store: that of its last fetch or save. Saves of other contexts become visible at
/// the next fetch. `pin` keeps a context at its state.
public class ModelContext: Equatable, SendableMetatype {
    package let core: ContextCore
    /// An object that the context keeps alive: its container.
    package let owner: AnyObject?
    /// Whether the user wants automatic saves of unsaved changes.
    var wantsAutosave = false

    package init(_ core: ContextCore, owner: AnyObject?) {
        self.core = core
        self.owner = owner
        core.setUserContext(self)
    }

    deinit {
        // Unsaved changes of a main context belong to its container: the next handle shows them.
        if !core.owner.isRemade { core.abandonChanges() }
    }

    /// Whether both are the same context: two contexts of one container are not equal.
    public static func == (left: ModelContext, right: ModelContext) -> Bool { left === right }

    // MARK: Changes

    /// Inserts a new object, and all objects it refers to, into the context; the next save writes them.
    ///
    /// - Complexity: O(n) for n new objects that it refers to, directly or through others.
    public func insert<T: PersistentModel>(_ model: T) { ObjectInsertion(core).insert(model: model) }

    /// Marks an object to be deleted by the next save, together with the effects of its delete rules.
    ///
    /// An unsaved object leaves the context. An object in no context is ignored, because it is not stored; an object of
    /// another context makes the next save throw.
    ///
    /// - Complexity: O(1). The save applies the delete rules; `deletePlan(for:)` counts their effects.
    public func delete<T: PersistentModel>(_ model: T) { core.delete(ObjectHandle(model)) }

    /// Marks all objects of a class that satisfy a predicate to be deleted by the next save.
    ///
    /// Makes an object for each, as a fetch does; each is deleted individually, with its delete rules.
    ///
    /// - Throws: The errors of `fetch`.
    /// - Complexity: That of `fetch`; `batchDelete(_:where:)` makes no object.
    public func delete<T: PersistentModel>(
        model: T.Type, where predicate: Predicate<T>? = nil, includeSubclasses: Bool = true
    ) throws {
        for object in try fetch(FetchDescriptor<T>(predicate: predicate)) { delete(object) }
    }

    /// Whether a save would write anything.
    public var hasChanges: Bool { core.hasChanges }

    /// The objects that the next save adds.
    ///
    /// - Complexity: O(n) for n unsaved new objects.
    public var insertedModelsArray: [any PersistentModel] {
        core.settleMembers()
        return core.pending.inserted.filter { !$0.core.pointee.has(.deleted) }.compactMap {
            $0.object as? any PersistentModel
        }
    }

    /// The stored objects with unsaved changes.
    ///
    /// - Complexity: O(n) for n changed objects.
    public var changedModelsArray: [any PersistentModel] {
        core.settleMembers()
        return core.pending.changed.filter { !$0.core.pointee.has(.deleted) }.compactMap {
            $0.object as? any PersistentModel
        }
    }

    /// The stored objects that the next save deletes.
    ///
    /// - Complexity: O(n) for n deleted objects.
    public var deletedModelsArray: [any PersistentModel] {
        core.pending.deleted.compactMap { $0.object as? any PersistentModel }
    }

    /// The author that each transaction of this context records; at most 1,024 bytes of UTF-8.
    public var author: String? {
        get { core.history.author }
        set { core.history.author = newValue }
    }

    /// Writes all unsaved changes in one transaction.
    ///
    /// A save without changes does nothing.
    ///
    /// When it returns the changes are durable, unless the store was opened with asynchronous durability: then
    /// `ModelContainer.synchronize()` waits for that. When it throws nothing was written, and the changes are still
    /// unsaved, unless the error says that the outcome is unknown: then `ModelContainer.transactionLanded(_:)` answers
    /// once the store is open again.
    ///
    /// - Throws: `SwiftDataError.modelValidationFailure` if objects break a rule, or have unique values of other
    ///   objects; `StorageError` if the store cannot be written.
    /// - Complexity: O(n) for n objects with unsaved changes, those included that delete rules reach, and one
    ///   synchronization of the disk, which concurrent saves share.
    public func save() throws { try core.throwing { try saveTelling() } }

    /// Drops all unsaved changes: new objects leave the context, changed ones show their stored values.
    ///
    /// - Complexity: Proportional to the unsaved changes.
    public func rollback() { core.rollback() }

    /// Applies delete rules now instead of in the next save.
    ///
    /// - Complexity: Proportional to the objects that delete rules reach.
    public func processPendingChanges() {
        core.settleMembers()
        do { try DeletePropagation(core).propagateDeletes() } catch { core.refuseSave(error) }
    }

    /// Runs `block`, then saves.
    ///
    /// If it throws, unsaved changes are dropped and the error is passed on.
    ///
    /// - Throws: The error of `block`, and those of `save()`.
    /// - Complexity: That of `block` and of `save()`.
    public func transaction(block: () throws -> Void) throws {
        do {
            try block()
            try save()
        } catch {
            rollback()
            throw error
        }
    }

    // MARK: Objects by identifier

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
        try core.throwing { try ObjectRegistry(core).existingModel(for: identifier) { $0.type is T.Type } as? T }
    }

    /// The object of an identifier, if there is one, of any class; as the form that takes a class.
    ///
    /// - Throws: As the form that takes a class.
    /// - Complexity: As the form that takes a class.
    public func existing(_ identifier: PersistentIdentifier) throws -> (any PersistentModel)? {
        try core.throwing { try ObjectRegistry(core).existingModel(for: identifier) { _ in true } }
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
        ObjectRegistry(core).model(for: identifier)
    }

    /// The object of an identifier, if it is alive in this context; nothing is made, and nothing is read.
    ///
    /// - Complexity: O(1).
    public func registeredModel<T: PersistentModel>(for identifier: PersistentIdentifier) -> T? {
        ObjectRegistry(core).registeredModel(for: identifier) as? T
    }

    // MARK: Fetching

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
    ///   cannot be read.
    /// - Complexity: Proportional to the found objects and the checked rows, which `explain(_:)` counts; found objects
    ///   are also sorted if no index has the order.
    @inlinable @inline(__always)
    public final func fetch<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>, fileID: StaticString = #fileID, line: UInt = #line
    ) throws -> [T] {
        // Inlined, because the caller knows the class: where it is unknown, each part of the descriptor takes hundreds
        // of instructions. Final, because a method that could be overridden is called and not inlined.
        if looksUpUniqueValues, let predicate = descriptor.predicate, descriptor.fetchOffset ?? 0 <= 0,
            // Not `isEmpty`, which takes hundreds of instructions more for elements of a generic type.
            descriptor.sortBy.count == 0, descriptor.propertiesToFetch.count == 0,
            descriptor.relationshipKeyPathsForPrefetching.count == 0
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

    /// Whether nothing but the store has a part in the answer of a fetch: no unsaved object, account or migration.
    @usableFromInline
    final var looksUpUniqueValues: Bool {
        core.pending.inserted.isEmpty && core.pending.changed.isEmpty && core.pending.deleted.isEmpty
            && core.accounting == nil && core.stage == nil
    }

    /// Looks up the object for a predicate that compares only a unique attribute; for a context without unsaved objects.
    @usableFromInline
    final func uniqueAnswer(
        _ expression: any StandardPredicateExpression<Bool>, _ variable: PredicateExpressions.VariableID,
        _ type: ModelType
    ) throws -> UniqueAnswer {
        try core.throwing { try FetchRunner(core).uniqueAnswer(expression, variable, type) }
    }

    /// Fetches the objects that any descriptor selects.
    @usableFromInline
    final func fetchAnything<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>, _ fileID: StaticString, _ line: UInt
    ) throws -> [T] {
        try core.throwing { try core.accountedFetch(fileID, line) { try FetchRunner(core).fetch(descriptor) } }
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
        try core.throwing {
            guard core.accounting != nil else { return try FetchRunner(core).first(keyPath, equals: value) }
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
        try core.throwing { try FetchRunner(core).batches(QuerySource(descriptor), batchSize: batchSize) }
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
        try core.throwing { try FetchRunner(core).identifierBatches(QuerySource(descriptor), batchSize: batchSize) }
    }

    /// Counts the objects that a descriptor selects, without making any.
    ///
    /// - Throws: The errors of `fetch`.
    /// - Complexity: O(1) without a predicate. With one, the entries of an index that answers it alone, else the
    ///   checked rows, which `explain(_:)` counts.
    public func fetchCount<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> Int {
        try core.throwing { try FetchRunner(core).count(QuerySource(descriptor)) }
    }

    /// Fetches the identifiers of the objects that a descriptor selects, without making any.
    ///
    /// - Throws: The errors of `fetch`.
    /// - Complexity: As `fetch(_:)`, without the objects.
    public func fetchIdentifiers<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> [PersistentIdentifier]
    {
        try core.throwing { try FetchRunner(core).identifiers(QuerySource(descriptor)) }
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
        try core.throwing(runsOthersCode: true) {
            try FetchRunner(core).enumerate(
                QuerySource(descriptor), batchSize: batchSize, allowEscapingMutations: allowEscapingMutations,
                block: block)
        }
    }

    // MARK: Seeing inside

    /// Whether the context belongs to a dry run of a migration: its changes are dropped, so a closure should skip
    /// effects outside of the store.
    public var isDryRun: Bool { core.stage?.isDryRun ?? false }

    /// The reads of this context so far.
    public var counters: FaultCounters {
        var counters = core.counters
        counters.cacheBytes = core.store.log.budget.used
        return counters
    }

    /// Called with errors of getters and setters, which cannot throw.
    public var errorHandler: (@Sendable (any Error) -> Void)? {
        get { core.errors.handler }
        set { core.errors.handler = newValue }
    }
}

@available(
    *, unavailable,
    message: "A context belongs to one thread or actor at a time. Pass a ModelContainer or a PersistentIdentifier."
)
extension ModelContext: Sendable {}
