/// The hooks of `ObjectLifecycle` for the objects of an entity, by its name: set by `ModelContext.setLifecycle`.
///
/// For objects of a model class they are called after those of the class.
public struct EntityLifecycle {
    /// As `ObjectLifecycle.awakeFromInsert()`; nil does nothing, as for the others.
    public var awakeFromInsert: ((ManagedObject) -> Void)?
    /// As `ObjectLifecycle.awakeFromFetch()`.
    public var awakeFromFetch: ((ManagedObject) -> Void)?
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
    /// The hooks for the objects of an entity, which is one of a table.
    init(_ lifecycle: EntityLifecycle, inClass place: Int, of type: ModelType) {
        func object(_ object: AnyObject) -> ManagedObject? {
            guard let handle = ObjectHandle(object: object), type.isObject(handle, ofClass: place) else { return nil }
            return .view(of: handle)
        }
        self.init(
            awakeFromInsert: { object($0).map { lifecycle.awakeFromInsert?($0) } },
            awakeFromFetch: { object($0).map { lifecycle.awakeFromFetch?($0) } },
            willSave: { object($0).map { lifecycle.willSave?($0) } },
            didSave: { object($0).map { lifecycle.didSave?($0) } },
            validate: { model, change in
                guard let object = object(model) else { return }
                switch change {
                case .insert: try lifecycle.validateForInsert?(object)
                case .update: try lifecycle.validateForUpdate?(object)
                case .delete: try lifecycle.validateForDelete?(object)
                }
            })
    }
}
