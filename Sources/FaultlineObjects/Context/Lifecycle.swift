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
}

extension ModelType {
    /// The lifecycle code of the class; nil if it has none.
    func lifecycle() -> Lifecycle? { (type as? any ObjectLifecycle.Type).map { Lifecycle($0) } }
}
