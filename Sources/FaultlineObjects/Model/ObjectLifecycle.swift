/// Hooks a model class can implement: insertion, values computed on load, save, validation.
///
/// All have default implementations.
///
/// They run on the thread that uses the context. Migrations call none of them: the stage alone decides the objects.
public protocol ObjectLifecycle: PersistentModel {
    /// Called once, after a new object and all objects it refers to were inserted into a context.
    ///
    /// The object's `init` has run before, so values set here overwrite those of `init`.
    func awakeFromInsert()

    /// Called once for an object of the store, before code first reads or sets an ephemeral property of it.
    ///
    ///     @Attribute(.ephemeral) var area = 0.0
    ///
    ///     func awakeFromFetch() { area = width * height }
    ///
    /// It sets ephemeral properties, and changes nothing else: it may not save, insert, delete, refresh or roll back. A
    /// new object is not called. `ModelContext.refresh(_:mergeChanges:)` without merging forgets the ephemeral values, and
    /// the object is called again. A `@Transient` property is plain storage, which no code is called for.
    func awakeFromFetch()

    /// Called by a save, before all checks, for every object that is new, changed or to be deleted.
    ///
    /// It may change, insert and delete objects: those that have not been called yet are called too, each once a save.
    /// An object that another one's delete rule deletes is not called: it is not made. Calling `save` here is an error.
    func willSave()

    /// Called after a save has written or deleted the object.
    ///
    /// Changes made here belong to the next save.
    func didSave()

    /// Validates a new object, and throws if it is invalid: nothing is saved then, and the error of the save lists all
    /// findings with those of the schema's own rules.
    ///
    /// It may read, and must change nothing. `InvalidValue` names the property.
    func validateForInsert() throws

    /// Validates a changed object; as `validateForInsert`.
    func validateForUpdate() throws

    /// Validates a deletion; as `validateForInsert`.
    ///
    /// Called for objects that code has deleted, not for those that a delete rule deletes.
    func validateForDelete() throws
}

extension ObjectLifecycle {
    /// Does nothing.
    public func awakeFromInsert() {}
    /// Does nothing.
    public func awakeFromFetch() {}
    /// Does nothing.
    public func willSave() {}
    /// Does nothing.
    public func didSave() {}
    /// Finds nothing.
    ///
    /// - Throws: Nothing.
    public func validateForInsert() throws {}
    /// Finds nothing.
    ///
    /// - Throws: Nothing.
    public func validateForUpdate() throws {}
    /// Finds nothing.
    ///
    /// - Throws: Nothing.
    public func validateForDelete() throws {}
}

/// Why an object must not be saved: thrown by a validation method.
public struct InvalidValue: Error, Hashable, Sendable, CustomStringConvertible {
    /// The property; nil if the whole object is invalid.
    public var propertyName: String?
    /// The reason, in a sentence without its full stop.
    public var description: String

    /// - Parameters:
    ///   - description: The reason, in a sentence without its full stop.
    ///   - propertyName: The property; nil if the whole object is invalid.
    public init(_ description: String, property propertyName: String? = nil) {
        self.propertyName = propertyName
        self.description = description
    }
}
