internal import FaultlineModel

/// A stored property of an object, found by its key path.
struct KeyedProperty {
    let slot: Int
    let property: any SchemaProperty

    var isRelationship: Bool { property.isRelationship }
    var isTransformable: Bool { property.asAttribute?.isTransformable ?? false }
}

extension PersistentModel {
    /// The stored property that a key path of the object's class names; nil if it names none.
    func keyed(_ keyPath: PartialKeyPath<Self>) -> KeyedProperty? {
        let type = Self._$modelType
        guard let slot = type.slots[keyPath] else { return nil }
        return KeyedProperty(
            slot: _$coreAddress().pointee.joinedSlot(slot, of: type), property: type.properties[slot])
    }

    /// Reports a key path that names no stored property, and returns a value in place of one.
    func standIn<Value>(for keyPath: KeyPath<Self, Value>) -> Value {
        _$coreAddress().pointee.context?.report(unsupported(keyPath), isOfStore: false)
        if let optional = Value.self as? any OptionalNil.Type, let value = optional.makeNil() as? Value { return value }
        if let type = Value.self as? any RelationshipCollection.Type, let value = type.none as? Value { return value }
        if let type = Value.self as? any PersistentModel.Type, let value = type._$modelType.makeFault() as? Value {
            return value
        }
        if let type = Value.self as? any Decodable.Type, let value = ZeroDecoder.decode(type) as? Value { return value }
        return FirstCase.of(Value.self) ?? self[keyPath: keyPath]
    }

    /// Makes the next save throw, because a key path names no stored property.
    func refuseChange(of keyPath: PartialKeyPath<Self>) { _$coreAddress().pointee.refuse(unsupported(keyPath)) }

    private func unsupported(_ keyPath: PartialKeyPath<Self>) -> SwiftDataError {
        SwiftDataError.unsupportedKeyPath.explained(
            "\(Self._$modelType.entityName) has no stored property \(keyPath). Use the key path of one property that @Model stores."
        )
    }
}

extension RelationshipCollection {
    /// No members.
    fileprivate static var none: Any { _$make([]) }
}
