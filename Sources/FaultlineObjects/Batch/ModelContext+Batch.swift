public import Foundation

// Changes of many stored objects at once, without making any.

extension ModelContext {
    /// Deletes all stored objects of a class that satisfy a predicate, at once, in a transaction of its own.
    ///
    /// Makes no object where rows answer the predicate: it takes eight bytes for each object that is found, and a bit for
    /// each number of the entities concerned. Where others have saved one of them since, the predicate is asked again.
    /// Delete rules hold, and where they refuse nothing is deleted. Code of classes is not called. Unsaved changes of this
    /// context stay, and are not looked at; its objects that were deleted say so once they are read.
    ///
    /// Durability: as a save.
    /// - Parameters:
    ///   - model: The class.
    ///   - predicate: Which objects, as they are stored; nil for all.
    /// - Returns: How many objects of each entity were deleted, those that went by a delete rule among them.
    /// - Throws: What `fetch` and `save` throw.
    @discardableResult
    public func batchDelete<T: PersistentModel>(
        _ model: T.Type, where predicate: Predicate<T>? = nil
    ) throws -> BatchResult {
        try core.throwing { try core.batchDelete(QuerySource(Self.stored(predicate))) }
    }

    /// Deletes all stored objects that a request asks for; as `batchDelete(_:where:)`.
    @discardableResult
    public func batchDelete(_ request: FetchRequest) throws -> BatchResult {
        var request = request
        request.includesPendingChanges = false
        return try core.throwing { try core.batchDelete(QuerySource(request)) }
    }

    /// Gives attributes of all stored objects of a class that satisfy a predicate new values, at once, in a transaction of
    /// its own.
    ///
    /// Makes no object, and holds a number for each. Uniqueness is kept, and code of classes is not called. Unsaved changes
    /// of this context stay, over what was set; its other objects show the new values.
    ///
    ///     try context.batchUpdate(Worker.self, where: #Predicate { $0.team == nil }, .set(\.isIdle, to: true))
    ///
    /// Durability: as a save.
    /// - Parameters:
    ///   - model: The class.
    ///   - predicate: Which objects, as they are stored; nil for all.
    ///   - changes: What they are given.
    /// - Returns: How many objects were changed.
    /// - Throws: `SwiftDataError.unsupportedKeyPath` for what is no stored property, `.modelValidationFailure` for a
    ///   relationship, and where two objects would have the same unique value; what `fetch` and `save` throw.
    @discardableResult
    public func batchUpdate<T: PersistentModel>(
        _ model: T.Type, where predicate: Predicate<T>? = nil, _ changes: BatchChange<T>...
    ) throws -> BatchResult {
        try core.throwing {
            let slots = try changes.map { change in
                guard let slot = change.slot(T._$modelType) else {
                    throw SwiftDataError.unsupportedKeyPath.explained(
                        "\(change.keyPath) is no stored property of \(T._$modelType.entityName).")
                }
                return try SlotChange(slot, of: T._$modelType, to: change.value)
            }
            return try core.batchUpdate(QuerySource(Self.stored(predicate)), slots)
        }
    }

    /// Gives attributes of all stored objects that a request asks for new values, by name; as `batchUpdate(_:where:_:)`.
    @discardableResult
    public func batchUpdate(_ request: FetchRequest, set values: [String: Any?]) throws -> BatchResult {
        var request = request
        request.includesPendingChanges = false
        return try core.throwing {
            let type = try core.requireDynamic(request.entityName)
            let changes = try values.sorted { $0.key < $1.key }.map { name, value in
                guard let slot = type.slotsByName[name] else {
                    throw SwiftDataError.unsupportedKeyPath.explained(NearestName.unknown(name, among: type.entity))
                }
                return try SlotChange(slot, of: type, to: value)
            }
            return try core.batchUpdate(QuerySource(request), changes)
        }
    }

    private static func stored<T: PersistentModel>(_ predicate: Predicate<T>?) -> FetchDescriptor<T> {
        var descriptor = FetchDescriptor<T>(predicate: predicate)
        descriptor.includePendingChanges = false
        return descriptor
    }
}
