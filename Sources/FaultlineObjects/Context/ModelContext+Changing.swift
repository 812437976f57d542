public import Foundation

/// Inserts, deletes and saves objects.
extension ModelContext {
    package convenience init(_ core: ContextCore, _ parts: ContextParts? = nil, owner: AnyObject?) {
        self.init(core, parts, owner: owner) { $0.abandonChanges() }
    }

    /// Inserts a new object, and all objects it refers to, into the context; the next save writes them.
    ///
    /// - Complexity: O(n) for n new objects that it refers to, directly or through others.
    public func insert<T: PersistentModel>(_ model: T) { ObjectInsertion(core(having: model)).insert(model: model) }

    /// Marks an object to be deleted by the next save, together with the effects of its delete rules.
    ///
    /// An unsaved object leaves the context. An object in no context is ignored, because it is not stored; an object of
    /// another context makes the next save throw.
    ///
    /// - Complexity: O(1). The save applies the delete rules; `deletePlan(for:)` counts their effects.
    public func delete<T: PersistentModel>(_ model: T) { core(having: model).delete(ObjectHandle(model)) }

    /// Marks all objects of a class that satisfy a predicate to be deleted by the next save.
    ///
    /// Makes an object for each, as a fetch does; each is deleted individually, with its delete rules.
    ///
    /// - Parameters:
    ///   - model: The class.
    ///   - predicate: Selects the objects; nil for all.
    ///   - includeSubclasses: Whether objects of its subclasses are deleted too.
    /// - Throws: The errors of `fetch`.
    /// - Complexity: That of `fetch`; `batchDelete(_:where:)` makes no object.
    public func delete<T: PersistentModel>(
        model: T.Type, where predicate: Predicate<T>? = nil, includeSubclasses: Bool = true
    ) throws {
        var descriptor = FetchDescriptor<T>(predicate: predicate)
        descriptor.leavesOutSubclasses = !includeSubclasses
        for object in try fetch(descriptor) { delete(object) }
    }

    /// The objects that the next save adds.
    ///
    /// - Complexity: O(n) for n unsaved new objects.
    public var insertedModelsArray: [any PersistentModel] {
        models { $0.pending.inserted.filter { !$0.core.pointee.has(.deleted) } }
    }

    /// The stored objects with unsaved changes.
    ///
    /// - Complexity: O(n) for n changed objects.
    public var changedModelsArray: [any PersistentModel] {
        models { $0.pending.changed.filter { !$0.core.pointee.has(.deleted) } }
    }

    /// The stored objects that the next save deletes.
    ///
    /// - Complexity: O(n) for n deleted objects.
    public var deletedModelsArray: [any PersistentModel] {
        models { Array($0.pending.deleted) }
    }

    private func models(_ wanted: (ContextCore) -> [ObjectHandle]) -> [any PersistentModel] {
        cores.flatMap { core in
            core.settleMembers()
            return wanted(core).compactMap { $0.object as? any PersistentModel }
        }
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
    public func save() throws {
        guard parts == nil else { return try saveParts() }
        try core.throwing { try saveTelling() }
    }

    /// Drops all unsaved changes: new objects leave the context, changed ones show their stored values.
    ///
    /// - Complexity: Proportional to the unsaved changes.
    public func rollback() { onEachState { $0.rollback() } }

    /// Applies delete rules now instead of in the next save, and ends the event of the undo manager.
    ///
    /// - Complexity: Proportional to the objects that delete rules reach.
    public func processPendingChanges() {
        for core in cores {
            core.settleMembers()
            do { try DeletePropagation(core).propagateDeletes() } catch { core.refuseSave(error) }
            core.undo?.endEvent()
        }
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
}
