internal import FaultlineModel
internal import Foundation

// Values of a type that is known only when the program runs: the same forms, in the same slots, as the accessors of the
// property read and write, which choose them when it is compiled.

extension ModelCore {
    /// Reads a property of a type.
    mutating func value<V>(of keyed: KeyedProperty) -> V {
        let slot = keyed.slot
        if keyed.isRelationship {
            if let value: V = related(slot) { return value }
            return standInOrEnd(slot)
        }
        if keyed.property.isTransient {
            let fallback = home._withUnsafeGuaranteedRef { $0.type?.defaultValue(of: slot) } as? V
            guard let fallback else { return ephemeralValue(slot) }
            return ephemeralValue(slot, orElse: fallback)
        }
        if keyed.isTransformable { return transformableValue(slot) }
        if let value: V = stored(slot) { return value }
        return standInOrEnd(slot)
    }

    /// Sets a property of a type.
    mutating func setValue<V>(of keyed: KeyedProperty, to value: V) {
        let slot = keyed.slot
        if keyed.isRelationship { return setRelated(slot, to: value) }
        if keyed.property.isTransient { return setEphemeralValue(slot, to: value) }
        if keyed.isTransformable { return setTransformableValue(slot, to: value) }
        setStored(slot, to: value)
    }

    // MARK: Attributes

    private mutating func stored<V>(_ slot: Int) -> V? {
        let wrapped = (V.self as? any OptionalValue.Type)?.wrappedType
        let type = wrapped ?? V.self
        let scalar = type as? any StoredScalar.Type
        let raw = type as? any RawRepresentable.Type
        if scalar == nil, !isStoredRaw(raw) { return encoded(slot) }
        if wrapped != nil, _$isNil(slot) { return nothing() }
        if wrapped != nil, type == URL.self {
            guard let url = url(of: slot) else { return nothing() }
            return url as? V
        }
        if let scalar { return read(scalar, slot) as? V }
        guard let raw else { return nil }
        return self.raw(raw, slot, isOptional: wrapped != nil)
    }

    private func nothing<V>() -> V? { (V.self as? any OptionalNil.Type)?.makeNil() as? V }

    private mutating func read(_ type: any StoredScalar.Type, _ slot: Int) -> Any { type._$read(&self, slot) }

    private mutating func raw<V>(_ type: any RawRepresentable.Type, _ slot: Int, isOptional: Bool) -> V? {
        func open<R: RawRepresentable>(_ type: R.Type, _ core: inout ModelCore) -> V? {
            guard let scalar = R.RawValue.self as? any StoredScalar.Type else { return nil }
            if let raw = core.read(scalar, slot) as? R.RawValue, let value = R(rawValue: raw) { return value as? V }
            if isOptional {
                core._$noteUnknownRawValue(slot)
                return core.nothing()
            }
            if let value: V = core.unknownCase(slot) { return value }
            return (scalar._$standIn as? R.RawValue).flatMap { R(rawValue: $0) } as? V
        }
        return open(type, &self)
    }

    private mutating func encoded<V>(_ slot: Int) -> V? {
        func open<C: Codable>(_ type: C.Type, _ core: inout ModelCore) -> V? {
            let value: C = core.readNested(slot)
            return value as? V
        }
        guard let type = V.self as? any Codable.Type else { return nil }
        return open(type, &self)
    }

    private mutating func setStored<V>(_ slot: Int, to value: V) {
        func set<S: StoredScalar>(_ scalar: S, _ core: inout ModelCore) { core.setValue(slot, to: scalar) }
        var inner: Any = value
        if let optional = value as? any OptionalNil {
            guard let wrapped = optional.wrapped else {
                if _$beginChange(slot) { _$writeNil(slot) }
                return
            }
            inner = wrapped
        }
        if let scalar = inner as? any StoredScalar { return set(scalar, &self) }
        if let raw = inner as? any RawRepresentable, let scalar = raw.rawValue as? any StoredScalar {
            return set(scalar, &self)
        }
        guard let encodable = inner as? any Encodable else { return }
        if _$beginChange(slot) { writeNested(slot, encodable) }
    }

    // MARK: Relationships

    private mutating func related<V>(_ slot: Int) -> V? {
        func target<M: PersistentModel>(_ type: M.Type, _ core: inout ModelCore) -> V? {
            let target: M? = core.value(slot)
            guard let target else { return core.nothing() }
            return target as? V
        }
        func required<M: PersistentModel>(_ type: M.Type, _ core: inout ModelCore) -> V? {
            let target: M = core.value(slot)
            return target as? V
        }
        func members<C: RelationshipCollection>(_ type: C.Type, _ core: inout ModelCore) -> V? {
            let members: C = core.value(slot)
            return members as? V
        }
        if let type = V.self as? any RelationshipCollection.Type { return members(type, &self) }
        if let wrapped = (V.self as? any OptionalValue.Type)?.wrappedType as? any PersistentModel.Type {
            return target(wrapped, &self)
        }
        guard let type = V.self as? any PersistentModel.Type else { return nil }
        return required(type, &self)
    }

    private mutating func setRelated<V>(_ slot: Int, to value: V) {
        func members<C: RelationshipCollection>(_ type: C.Type, _ core: inout ModelCore) {
            if let value = value as? C { core.setValue(slot, to: value) }
        }
        func target<M: PersistentModel>(_ value: M, _ core: inout ModelCore) { core.setValue(slot, to: value) }
        if let type = V.self as? any RelationshipCollection.Type { return members(type, &self) }
        if let value = value as? any PersistentModel { return target(value, &self) }
        // Any class will do for no target.
        setValue(slot, to: ManagedObject?.none)
    }
}

/// Whether values of a type are stored as their raw values.
private func isStoredRaw(_ type: (any RawRepresentable.Type)?) -> Bool {
    func open<R: RawRepresentable>(_ type: R.Type) -> Bool { R.RawValue.self is any StoredScalar.Type }
    guard let type else { return false }
    return open(type)
}
