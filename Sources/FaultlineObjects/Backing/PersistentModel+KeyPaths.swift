internal import FaultlineModel

// Values by key path.

extension PersistentModel {
    // MARK: Reading

    /// Reads an attribute by its key path, as the property itself does.
    ///
    ///     let name = trip.getValue(forKey: \.name)
    ///
    /// A fault loads its row, and observers of the property are told of later changes.
    ///
    /// - Returns: The value. For a key path that names no stored property, which is reported to the context's
    ///   `errorHandler` as `SwiftDataError.unsupportedKeyPath`: nil, zero or another stand-in.
    /// - Complexity: A look-up of the key path, and the read of the property.
    @_disfavoredOverload
    public func getValue<Value: Decodable>(forKey keyPath: KeyPath<Self, Value>) -> Value { keyedValue(keyPath) }

    /// Reads the target of a required relationship by its key path, as the property itself does.
    ///
    /// - Returns: The target; for a key path that names no stored property, as for attributes, a new object in no context.
    /// - Complexity: A look-up of the key path, and the read of the property.
    public func getValue<Value: PersistentModel>(forKey keyPath: KeyPath<Self, Value>) -> Value {
        guard let keyed = keyed(keyPath), keyed.isRelationship else { return keyedValue(keyPath) }
        return _$coreAddress().pointee.value(keyed.slot)
    }

    /// Reads the target of a relationship by its key path, as the property itself does.
    ///
    /// - Returns: The target; nil also for a key path that names no stored property, which is reported as for attributes.
    /// - Complexity: A look-up of the key path, and the read of the property.
    public func getValue<Value: PersistentModel>(forKey keyPath: KeyPath<Self, Value?>) -> Value? {
        guard let keyed = keyed(keyPath), keyed.isRelationship else { return keyedValue(keyPath) }
        return _$coreAddress().pointee.value(keyed.slot)
    }

    /// Reads the members of a relationship by its key path, as the property itself does.
    ///
    /// - Returns: The members; none for a key path that names no stored property, which is reported as for attributes.
    /// - Complexity: A look-up of the key path, and the read of the property.
    public func getValue<Value: RelationshipCollection, OtherModel>(forKey keyPath: KeyPath<Self, Value>) -> Value
    where OtherModel == Value.PersistentElement { keyedMembers(keyPath) }

    /// Reads the members of a relationship to a class that is `Decodable`, as the property itself does.
    ///
    /// - Returns: The members; none for a key path that names no stored property, which is reported as for attributes.
    /// - Complexity: A look-up of the key path, and the read of the property.
    public func getValue<Value: RelationshipCollection & Decodable, OtherModel>(
        forKey keyPath: KeyPath<Self, Value>
    ) -> Value where OtherModel == Value.PersistentElement { keyedMembers(keyPath) }

    /// Reads an attribute of any type by its key path, as the property itself does: also one of a type that is not
    /// `Codable`.
    ///
    /// - Returns: The value; for a key path that names no stored property, a stand-in, or the value of the computed
    ///   property if its type has none. It is reported as for other attributes.
    /// - Complexity: A look-up of the key path, and the read of the property.
    public func getTransformableValue<Value>(forKey keyPath: KeyPath<Self, Value>) -> Value { keyedValue(keyPath) }

    // MARK: Writing

    /// Sets an attribute by its key path, as the property itself does.
    ///
    ///     trip.setValue(forKey: \.name, to: "Rome")
    ///
    /// The setter of the property need not be visible. A key path that names no stored property changes nothing and
    /// makes the next save throw `SwiftDataError.unsupportedKeyPath`.
    ///
    /// - Complexity: A look-up of the key path, and the change of the property.
    @_disfavoredOverload
    public func setValue<Value: Encodable>(forKey keyPath: KeyPath<Self, Value>, to newValue: Value) {
        setKeyedValue(keyPath, newValue)
    }

    /// Sets the target of a required relationship, and its inverse, by its key path, as the property itself does.
    ///
    /// A key path that names no stored property is refused as for attributes.
    ///
    /// - Complexity: A look-up of the key path, and the change of the property.
    public func setValue<Value: PersistentModel>(forKey keyPath: KeyPath<Self, Value>, to newValue: Value) {
        guard let keyed = keyed(keyPath), keyed.isRelationship else { return setKeyedValue(keyPath, newValue) }
        _$coreAddress().pointee.setValue(keyed.slot, to: newValue)
    }

    /// Sets the target of a relationship, and its inverse, by its key path, as the property itself does.
    ///
    /// A key path that names no stored property is refused as for attributes.
    ///
    /// - Complexity: A look-up of the key path, and the change of the property.
    public func setValue<Value: PersistentModel>(forKey keyPath: KeyPath<Self, Value?>, to newValue: Value?) {
        guard let keyed = keyed(keyPath), keyed.isRelationship else { return setKeyedValue(keyPath, newValue) }
        _$coreAddress().pointee.setValue(keyed.slot, to: newValue)
    }

    /// Sets the members of a relationship, and their inverses, by its key path, as the property itself does.
    ///
    /// A key path that names no stored property is refused as for attributes.
    ///
    /// - Complexity: A look-up of the key path, and the change of the property.
    public func setValue<Value: RelationshipCollection, OtherModel>(
        forKey keyPath: KeyPath<Self, Value>, to newValue: Value
    ) where OtherModel == Value.PersistentElement { setKeyedMembers(keyPath, newValue) }

    /// Sets the members of a relationship to a class that is `Encodable`, as the property itself does.
    ///
    /// A key path that names no stored property is refused as for attributes.
    ///
    /// - Complexity: A look-up of the key path, and the change of the property.
    public func setValue<Value: RelationshipCollection & Encodable, OtherModel>(
        forKey keyPath: KeyPath<Self, Value>, to newValue: Value
    ) where OtherModel == Value.PersistentElement { setKeyedMembers(keyPath, newValue) }

    /// Sets an attribute of any type by its key path, as the property itself does.
    ///
    /// A key path that names no stored property is refused as for other attributes.
    ///
    /// - Complexity: A look-up of the key path, and the change of the property.
    public func setTransformableValue<Value>(forKey keyPath: KeyPath<Self, Value>, to newValue: Value) {
        setKeyedValue(keyPath, newValue)
    }

    // MARK: Parts of these methods

    private func keyedValue<Value>(_ keyPath: KeyPath<Self, Value>) -> Value {
        guard let keyed = keyed(keyPath) else { return standIn(for: keyPath) }
        if keyed.property.isTransient { _$awakeFromFetch(self) }
        return _$coreAddress().pointee.value(of: keyed)
    }

    private func setKeyedValue<Value>(_ keyPath: KeyPath<Self, Value>, _ value: Value) {
        guard let keyed = keyed(keyPath) else { return refuseChange(of: keyPath) }
        if keyed.property.isTransient { _$awakeFromFetch(self) }
        _$coreAddress().pointee.setValue(of: keyed, to: value)
    }

    private func keyedMembers<Value: RelationshipCollection>(_ keyPath: KeyPath<Self, Value>) -> Value {
        guard let keyed = keyed(keyPath), keyed.isRelationship else { return keyedValue(keyPath) }
        return _$coreAddress().pointee.value(keyed.slot)
    }

    private func setKeyedMembers<Value: RelationshipCollection>(_ keyPath: KeyPath<Self, Value>, _ value: Value) {
        guard let keyed = keyed(keyPath), keyed.isRelationship else { return setKeyedValue(keyPath, value) }
        _$coreAddress().pointee.setValue(keyed.slot, to: value)
    }
}
