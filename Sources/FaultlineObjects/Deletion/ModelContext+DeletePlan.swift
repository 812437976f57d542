public import Foundation

extension ModelContext {
    /// Previews the deletions of the next save: objects that were deleted in this context, and the effects of their
    /// delete rules.
    ///
    /// Changes nothing and makes no object: it takes a bit for each object of the affected entities, and the numbers in
    /// one collection at a time.
    ///
    /// - Throws: `StorageError` if the store cannot be read.
    /// - Complexity: Reads the row of each object that would be deleted, and the index entries of their collections.
    public func deletePlan() throws -> DeletePlan {
        try DeletePlan(joining: cores.map { core in try core.throwing { try DeletePlanner(core).deletePlan() } })
    }

    /// Previews the deletions of the next save if an object were deleted too.
    ///
    /// - Throws: `SwiftDataError.missingModelContext` if the object is not in this context; `StorageError` if the store
    ///   cannot be read.
    /// - Complexity: As `deletePlan()`.
    public func deletePlan<T: PersistentModel>(for model: T) throws -> DeletePlan {
        let core = core(having: model)
        return try core.throwing { try DeletePlanner(core).deletePlan(adding: [ObjectHandle(model)]) }
    }

    /// Previews the deletions of the next save if all objects of a class that satisfy a predicate were deleted too.
    ///
    /// Holds the identifiers of those objects during the call.
    ///
    /// - Throws: The errors of `fetchIdentifiers(_:)`.
    /// - Complexity: As `deletePlan()`, and that of `fetchIdentifiers(_:)`.
    public func deletePlan<T: PersistentModel>(
        for model: T.Type, where predicate: Predicate<T>? = nil
    ) throws -> DeletePlan {
        let identifiers = try fetchIdentifiers(FetchDescriptor<T>(predicate: predicate))
        let core = core(of: T.self)
        return try core.throwing { try DeletePlanner(core).deletePlan(adding: [], identifiers) }
    }

    /// Previews the deletions of the next save if all objects that a request selects were deleted too.
    ///
    /// - Throws: The errors of `fetchIdentifiers(_:)`.
    /// - Complexity: As `deletePlan()`, and that of `fetchIdentifiers(_:)`.
    public func deletePlan(for request: FetchRequest) throws -> DeletePlan {
        let identifiers = try fetchIdentifiers(request)
        let core = core(named: request.entityName)
        return try core.throwing { try DeletePlanner(core).deletePlan(adding: [], identifiers) }
    }
}
