public import Foundation

extension ModelContext {
    /// What the next save will delete: objects that were deleted in this context, with what their delete rules say.
    ///
    /// Changes nothing and makes no object: it takes a bit for each object of the entities concerned, and the numbers in
    /// one collection at a time.
    ///
    /// - Throws: `StorageError` if the store cannot be read.
    /// - Complexity: Reads the row of each object that would be deleted, and the index entries of their collections.
    public func deletePlan() throws -> DeletePlan {
        try core.throwing { try core.deletePlan() }
    }

    /// What the next save would delete if an object were deleted too.
    ///
    /// - Throws: `SwiftDataError.missingModelContext` if the object is not in this context; `StorageError` if the store
    ///   cannot be read.
    public func deletePlan<T: PersistentModel>(for model: T) throws -> DeletePlan {
        try core.throwing { try core.deletePlan(adding: [ObjectHandle(model)]) }
    }

    /// What the next save would delete if all objects of a class that satisfy a predicate were deleted too.
    ///
    /// The identifiers of those objects are held meanwhile.
    ///
    /// - Throws: What `fetchIdentifiers(_:)` throws.
    public func deletePlan<T: PersistentModel>(
        for model: T.Type, where predicate: Predicate<T>? = nil
    ) throws -> DeletePlan {
        let identifiers = try fetchIdentifiers(FetchDescriptor<T>(predicate: predicate))
        return try core.throwing { try core.deletePlan(adding: [], identifiers) }
    }

    /// What the next save would delete if all objects that a request asks for were deleted too.
    ///
    /// - Throws: What `fetchIdentifiers(_:)` throws.
    public func deletePlan(for request: FetchRequest) throws -> DeletePlan {
        let identifiers = try fetchIdentifiers(request)
        return try core.throwing { try core.deletePlan(adding: [], identifiers) }
    }
}
