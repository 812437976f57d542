/// The hooks of `ObjectLifecycle` for the dynamic objects of an entity: set by `ModelContext.setLifecycle`.
public struct EntityLifecycle {
    /// As `ObjectLifecycle.awakeFromInsert()`; nil does nothing, as for the others.
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

    /// Makes hooks that do nothing.
    public init() {}
}

extension Lifecycle {
    init(_ lifecycle: EntityLifecycle) {
        // Safe because the home's objects have no class of their own.
        let dynamic = { (object: AnyObject) in unsafeDowncast(object, to: ManagedObject.self) }
        awakeFromInsert = { lifecycle.awakeFromInsert?(dynamic($0)) }
        willSave = { lifecycle.willSave?(dynamic($0)) }
        didSave = { lifecycle.didSave?(dynamic($0)) }
        validate = { object, change in
            switch change {
            case .insert: try lifecycle.validateForInsert?(dynamic(object))
            case .update: try lifecycle.validateForUpdate?(dynamic(object))
            case .delete: try lifecycle.validateForDelete?(dynamic(object))
            }
        }
    }
}
