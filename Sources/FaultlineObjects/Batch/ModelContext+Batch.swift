public import Foundation

// Changes of many stored objects at once, without making objects.

extension ModelContext {
    /// Deletes all stored objects of a class that satisfy a predicate, at once, in a transaction of its own.
    ///
    /// Makes no object if rows answer the predicate: it takes eight bytes for each selected object, and a bit for each
    /// number of the affected entities. If one of them was saved since the selection, the predicate is evaluated again.
    /// Delete rules apply, and if they refuse, nothing is deleted. No code of model classes is called. Unsaved changes
    /// of this context stay, and are ignored; its objects that were deleted report that once they are read.
    ///
    /// Durability: as a save.
    /// - Parameters:
    ///   - model: The class.
    ///   - predicate: Selects the objects, by their stored values; nil for all.
    /// - Returns: How many objects of each entity were deleted, including objects that a delete rule deleted.
    /// - Throws: The errors of `fetch` and `save`.
    /// - Complexity: O(n) for n checked rows and n deleted objects, and the index entries of their relationships.
    @discardableResult
    public func batchDelete<T: PersistentModel>(
        _ model: T.Type, where predicate: Predicate<T>? = nil
    ) throws -> BatchResult {
        let core = core(of: T.self)
        return try core.throwing {
            if let link = core.link {
                try BatchRunner(core).checkMayBatch()
                return try link.batchDelete(model, predicate)
            }
            return try BatchRunner(core).batchDelete(QuerySource(Self.stored(predicate)))
        }
    }

    /// Deletes all stored objects that a request selects; as `batchDelete(_:where:)`.
    ///
    /// - Throws: As `batchDelete(_:where:)`.
    /// - Complexity: As `batchDelete(_:where:)`.
    @discardableResult
    public func batchDelete(_ request: FetchRequest) throws -> BatchResult {
        let core = core(named: request.entityName)
        var request = request
        request.includesPendingChanges = false
        func batchDelete<T: PersistentModel>(_ type: T.Type) throws -> BatchResult {
            try BatchRunner(core).batchDelete(QuerySource(request, of: type))
        }
        return try core.throwing { try batchDelete(try core.entity(named: request.entityName).model) }
    }

    /// Sets attributes of all stored objects of a class that satisfy a predicate, at once, in a transaction of its own.
    ///
    /// Makes no object, and holds a number for each. Uniqueness is enforced, and no code of model classes is called.
    /// Unsaved changes of this context stay, and override the new values; its other objects show the new values.
    ///
    ///     try context.batchUpdate(Worker.self, where: #Predicate { $0.team == nil }, .set(\.isIdle, to: true))
    ///
    /// Durability: as a save.
    /// - Parameters:
    ///   - model: The class.
    ///   - predicate: Selects the objects, by their stored values; nil for all.
    ///   - changes: The new values.
    /// - Returns: How many objects were changed.
    /// - Throws: `SwiftDataError.unsupportedKeyPath` for a key path that is no stored property,
    ///   `.modelValidationFailure` for a relationship, and if two objects would have the same unique value; the errors
    ///   of `fetch` and `save`.
    /// - Complexity: O(n) for n checked rows and n changed objects; memory for eight bytes each.
    @discardableResult
    public func batchUpdate<T: PersistentModel>(
        _ model: T.Type, where predicate: Predicate<T>? = nil, _ changes: BatchChange<T>...
    ) throws -> BatchResult {
        let core = core(of: T.self)
        return try core.throwing {
            let type = try core.require(model).type ?? T._$modelType
            let slots = try changes.map { change in
                guard let slot = change.slot(type) else {
                    throw SwiftDataError.unsupportedKeyPath.explained(
                        "\(change.keyPath) is no stored property of \(T._$modelType.entityName).")
                }
                return try SlotChange(slot, of: type, to: change.value)
            }
            return try BatchRunner(core).batchUpdate(QuerySource(Self.stored(predicate)), slots)
        }
    }

    /// Sets attributes of all stored objects that a request selects, by name; as `batchUpdate(_:where:_:)`.
    ///
    /// - Throws: As `batchUpdate(_:where:_:)`.
    /// - Complexity: As `batchUpdate(_:where:_:)`.
    @discardableResult
    public func batchUpdate(_ request: FetchRequest, set values: [String: Any?]) throws -> BatchResult {
        let core = core(named: request.entityName)
        var request = request
        request.includesPendingChanges = false
        func batchUpdate<T: PersistentModel>(_ type: T.Type, _ changes: [SlotChange]) throws -> BatchResult {
            try BatchRunner(core).batchUpdate(QuerySource(request, of: type), changes)
        }
        return try core.throwing {
            let entity = try core.entity(named: request.entityName)
            let changes = try values.sorted { $0.key < $1.key }.map { name, value in
                guard let named = entity.property(named: name) else {
                    throw SwiftDataError.unsupportedKeyPath.explained(entity.unknown(name))
                }
                return try SlotChange(named.slot, of: entity.type, inClass: entity.place, to: value)
            }
            return try batchUpdate(entity.model, changes)
        }
    }

    private static func stored<T: PersistentModel>(_ predicate: Predicate<T>?) -> FetchDescriptor<T> {
        var descriptor = FetchDescriptor<T>(predicate: predicate)
        descriptor.includePendingChanges = false
        return descriptor
    }
}
