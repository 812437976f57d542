/// The `ObjectLifecycle` of one class, or the `EntityLifecycle` of one entity, for objects whose class is known only at
/// run time.
struct Lifecycle {
    enum Change { case insert, update, delete }

    let awakeFromInsert: (AnyObject) -> Void
    let awakeFromFetch: (AnyObject) -> Void
    let willSave: (AnyObject) -> Void
    let didSave: (AnyObject) -> Void
    let validate: (AnyObject, Change) throws -> Void
}

extension Lifecycle {
    init<T: ObjectLifecycle>(_ type: T.Type) {
        // Safe because a home's objects are of its class.
        let typed = { (object: AnyObject) in unsafeDowncast(object, to: T.self) }
        awakeFromInsert = { typed($0).awakeFromInsert() }
        awakeFromFetch = { typed($0).awakeFromFetch() }
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

    /// Calls other code after this one.
    func followed(by next: Lifecycle) -> Lifecycle {
        Lifecycle(
            awakeFromInsert: {
                awakeFromInsert($0)
                next.awakeFromInsert($0)
            },
            awakeFromFetch: {
                awakeFromFetch($0)
                next.awakeFromFetch($0)
            },
            willSave: {
                willSave($0)
                next.willSave($0)
            },
            didSave: {
                didSave($0)
                next.didSave($0)
            },
            validate: { object, change in
                try validate(object, change)
                try next.validate(object, change)
            })
    }

    /// The code of several classes, some of which may have none.
    fileprivate static var ofSeveral: Lifecycle { Lifecycle(ofSeveral: ()) }

    private init(ofSeveral: Void) {
        awakeFromInsert = { ($0 as? any ObjectLifecycle)?.awakeFromInsert() }
        awakeFromFetch = { ($0 as? any ObjectLifecycle)?.awakeFromFetch() }
        willSave = { ($0 as? any ObjectLifecycle)?.willSave() }
        didSave = { ($0 as? any ObjectLifecycle)?.didSave() }
        validate = { object, change in
            guard let object = object as? any ObjectLifecycle else { return }
            switch change {
            case .insert: try object.validateForInsert()
            case .update: try object.validateForUpdate()
            case .delete: try object.validateForDelete()
            }
        }
    }
}

extension ModelType {
    /// The lifecycle code of the class, or of the classes of a table; nil if there is none.
    func lifecycle() -> Lifecycle? {
        if let family {
            return family.classes.contains { $0.type is any ObjectLifecycle.Type } ? Lifecycle.ofSeveral : nil
        }
        return (type as? any ObjectLifecycle.Type).map { Lifecycle($0) }
    }
}
