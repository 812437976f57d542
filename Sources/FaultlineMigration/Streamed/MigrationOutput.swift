public import FaultlineObjects

// Safe because each thread that runs a stage has its own.
/// Takes the new objects of a streamed stage.
///
/// They are written in batches; an object is valid until its batch is written, which is after the closure that inserted
/// it has returned.
public final class MigrationOutput: @unchecked Sendable {
    private let writer: any NewObjectWriter

    init(_ writer: any NewObjectWriter) { self.writer = writer }

    /// Whether this is a dry run: its results are dropped, so the closure should skip effects outside of the store.
    public var isDryRun: Bool { writer.isDryRun }

    /// Inserts a new object, and all new objects it refers to.
    ///
    /// - Throws: `MigrationError.stageFailed` for an object of another version, or of another thread; the errors of its
    ///   values.
    /// - Complexity: O(n) for n new objects that it refers to. A full batch is saved before the next old object.
    public func insert<New: PersistentModel>(_ new: New) throws {
        try writer.insert(new)
    }

    /// Finds the object with the unique values of `new`, or inserts `new` if there is none.
    ///
    /// Attributes of a found object that differ are set to those of `new`. In a stage on several threads it may wait
    /// for other threads: hold no lock that their code takes.
    ///
    /// - Returns: The one object with these unique values: use it in relationships.
    /// - Throws: `MigrationError.stageFailed` if the class has no unique attribute.
    /// - Complexity: A look-up in the index of the unique attribute.
    @discardableResult
    public func upsert<New: PersistentModel>(_ new: New) throws -> New {
        try writer.upsert(new)
    }

    /// Prevents a property of new objects from being carried over: its values are those that the closure sets.
    ///
    /// By default a property that both versions have with the same type, and that no closure sets on any object of the
    /// stage, keeps the values of the old objects. To prevent that:
    ///
    /// ```swift
    /// StreamedEntity(V1.Photo.self) { old, output in
    ///     try output.leave(\V2.Photo.album)
    ///     try output.insert(V2.Photo(title: old.title))
    /// }
    /// ```
    ///
    /// One call is enough for all objects of the stage.
    ///
    /// - Throws: `MigrationError.stageFailed` for a key path that is no stored property.
    /// - Complexity: O(1).
    public func leave<New: PersistentModel>(_ property: PartialKeyPath<New>) throws { try writer.leave(property) }

    /// The new object that keeps the identity of an old one: for relationships to objects of entities that are carried
    /// over, or that the stage rewrites.
    ///
    /// - Throws: `MigrationError.stageFailed` if objects of the old one's entity do not become objects of `type`;
    ///   `StorageError` if the store cannot be read.
    /// - Complexity: O(1): the object is a fault.
    public func object<New: PersistentModel>(
        migratedFrom old: (any PersistentModel)?, as type: New.Type = New.self
    ) throws -> New? {
        guard let old else { return nil }
        return try writer.object(migratedFrom: old, as: type)
    }
}
