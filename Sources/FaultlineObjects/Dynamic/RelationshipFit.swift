internal import FaultlineModel
internal import FaultlineStore

/// The objects that a relationship may lead to, where the compiler does not check it.
struct RelationshipFit {
    private let relationship: Schema.Relationship
    /// Their class; nil for objects without classes.
    private let model: (any PersistentModel.Type)?

    /// - Parameters:
    ///   - relationship: The relationship, as its class or its table declares it.
    ///   - owner: The description of the objects that have it.
    init(_ relationship: Schema.Relationship, of owner: ModelType?) {
        self.relationship = relationship
        model = owner?.isDynamic == true ? nil : ModelType.destination(of: relationship.valueType)?.model
    }

    /// The handle of a value that the relationship may lead to.
    func handle(of value: Any) throws(KeyedValueError) -> ObjectHandle {
        guard let object = value as? any PersistentModel else {
            throw KeyedValueError(
                message: "holds \(relationship.destination), and was set to a value of type \(type(of: value)).")
        }
        let handle = ObjectHandle(erased: object)
        guard !fits(handle) else { return handle }
        throw KeyedValueError(
            message: "leads to \(relationship.destination), and was given a \(handle.ofClass.entityName).")
    }

    private func fits(_ handle: ObjectHandle) -> Bool {
        if let model { return handle.isObject(of: model) }
        guard let type = handle.core.pointee.modelType, type.isDynamic, type.entityName == relationship.destination
        else { return false }
        // Objects of several entities stand in the table: one without the inverse is of another entity.
        guard let hierarchy = type.hierarchy, let inverse = relationship.inverseName.flatMap({ type.slotsByName[$0] }),
            let place = handle.core.pointee.place(in: hierarchy)
        else { return true }
        return hierarchy.classes[place].has(inverse)
    }
}

extension ObjectHandle {
    /// The handle of an object whose class is known only at run time; nil for one that is no model.
    init?(object: AnyObject) {
        if let object = object as? ManagedObject {
            self.init(object)
        } else if let model = object as? any PersistentModel {
            self.init(erased: model)
        } else {
            return nil
        }
    }

    /// Whether the object is one of a class, or of a subclass of it.
    fileprivate func isObject(of type: any PersistentModel.Type) -> Bool {
        func open<T: PersistentModel>(_ type: T.Type) -> Bool { object is T }
        return open(type)
    }
}
