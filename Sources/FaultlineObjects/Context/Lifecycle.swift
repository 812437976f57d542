internal import FaultlineStore

/// The `ObjectLifecycle` of one class, or the `EntityLifecycle` of one entity, for objects whose class is known only at
/// run time.
struct Lifecycle {
    enum Change { case insert, update, delete }

    let awakeFromInsert: (AnyObject) -> Void
    let willSave: (AnyObject) -> Void
    let didSave: (AnyObject) -> Void
    let validate: (AnyObject, Change) throws -> Void

    init<T: ObjectLifecycle>(_ type: T.Type) {
        // Safe because a home's objects are of its class.
        let typed = { (object: AnyObject) in unsafeDowncast(object, to: T.self) }
        awakeFromInsert = { typed($0).awakeFromInsert() }
        willSave = { typed($0).willSave() }
        didSave = { typed($0).didSave() }
        validate = { object, change in
            switch change {
            case .insert: try typed(object).validateForInsert()
            case .update: try typed(object).validateForUpdate()
            case .delete: try typed(object).validateForDelete()
            }
        }
    }

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
