/// What a model class does at the turning points of its objects' lives; conform to it, and write those that are wanted.
///
/// Called on the thread that uses the context. Migrations call none of them: what a stage makes of an object is the
/// stage's to say.
///
/// There is no `awakeFromFetch`: a fault is loaded amid a getter, where no other code may use the object. A `@Transient`
/// property has its default value in every object that a fetch makes.
public protocol ObjectLifecycle: PersistentModel {
    /// Called once, when a new object, and all that it refers to, has been taken into a context.
    ///
    /// The object's `init` has run before, so what is set here overwrites what was set there.
    func awakeFromInsert()

    /// Called by a save, before anything is checked, of every object that is new, changed or to be deleted.
    ///
    /// It may change, insert and delete objects: those that have not been told are told, too, each once a save. An object
    /// that goes because of another one's delete rule is not told: none is made of it. To call `save` here is an error.
    func willSave()

    /// Called when a save has written the object, or deleted it. What is changed here is for the next save.
    func didSave()

    /// Says what is wrong with a new object, by throwing: nothing is saved then, and the error of the save lists all
    /// findings with those of the schema's own rules.
    ///
    /// It may read, and must change nothing. `InvalidValue` names the property.
    func validateForInsert() throws

    /// Says what is wrong with a changed object; as `validateForInsert`.
    func validateForUpdate() throws

    /// Says why an object must not be deleted; as `validateForInsert`. Asked of objects that were deleted by name, not of
    /// those that go by a delete rule.
    func validateForDelete() throws
}

extension ObjectLifecycle {
    /// Does nothing.
    public func awakeFromInsert() {}
    /// Does nothing.
    public func willSave() {}
    /// Does nothing.
    public func didSave() {}
    /// Finds nothing.
    public func validateForInsert() throws {}
    /// Finds nothing.
    public func validateForUpdate() throws {}
    /// Finds nothing.
    public func validateForDelete() throws {}
}

/// What `ObjectLifecycle` is for a class, for the dynamic objects of an entity: set by `ModelContext.setLifecycle`.
public struct EntityLifecycle {
    /// As `ObjectLifecycle.awakeFromInsert()`; nil for nothing, as the others.
    public var awakeFromInsert: ((ManagedObject) -> Void)?
    /// As `ObjectLifecycle.willSave()`.
    public var willSave: ((ManagedObject) -> Void)?
    /// As `ObjectLifecycle.didSave()`.
    public var didSave: ((ManagedObject) -> Void)?
    /// As `ObjectLifecycle.validateForInsert()`.
    public var validateForInsert: ((ManagedObject) throws -> Void)?
    /// As `ObjectLifecycle.validateForUpdate()`.
    public var validateForUpdate: ((ManagedObject) throws -> Void)?
    /// As `ObjectLifecycle.validateForDelete()`.
    public var validateForDelete: ((ManagedObject) throws -> Void)?

    /// Does nothing, until something is set.
    public init() {}
}

/// Why an object must not be saved as it is: thrown by validation of its class.
public struct InvalidValue: Error, Hashable, Sendable, CustomStringConvertible {
    /// The property; nil where the whole object is meant.
    public var propertyName: String?
    /// What is wrong, in a sentence without its full stop.
    public var description: String

    /// - Parameters:
    ///   - description: What is wrong, in a sentence without its full stop.
    ///   - propertyName: The property; nil where the whole object is meant.
    public init(_ description: String, property propertyName: String? = nil) {
        self.propertyName = propertyName
        self.description = description
    }
}

extension ModelContext {
    /// Says what is done at the turning points of the lives of an entity's dynamic objects, in this context.
    ///
    /// - Parameters:
    ///   - lifecycle: What is done; nil for nothing.
    ///   - name: The entity; where it is not known, or its objects have a class, the next save throws.
    public func setLifecycle(_ lifecycle: EntityLifecycle?, forEntityNamed name: String) {
        core.setLifecycle(lifecycle, forEntityNamed: name)
    }
}
