package import FaultlineModel
internal import FaultlineStore

// Values by the names of properties.
//
// The calls of key-value coding are disfavored, because `FaultlineCoreData` has them with Core Data's conversions.

extension ManagedObject {
    /// The value of a property by its name.
    ///
    /// Loads the object if it is a fault. An attribute returns its declared type if that is a scalar: `Bool`, the
    /// integers, `Float`, `Double`, `Date`, `UUID`, `Decimal`, `String`, `URL`, `Data`. An enum that is stored as a raw
    /// value returns the raw value, any other `Codable` type a `CodableValue`, and the value of a transformer the `Data`
    /// that is stored. A relationship returns a `ManagedObject`, nil, or an array of them.
    ///
    /// - Returns: Nil also if the entity has no such property, or if the value cannot be read: then the context's
    ///   `errorHandler` is called.
    /// - Complexity: A look-up of the name; a fault for an object that is not loaded; O(m) for m members of a
    ///   collection, and O(n) for the n bytes of a large value.
    @_disfavoredOverload
    public func value(forKey key: String) -> Any? {
        guard let found = keyed(key) else { return nil }
        if found.property.isTransient { _$awakeFromFetch(self) }
        return values.pointee.keyedValue(found.slot, found.property)
    }

    /// Sets a property by its name.
    ///
    /// Every number property takes an integer that it can hold exactly, and a relationship takes objects of model classes
    /// too. A value of a wrong type, nil for a required attribute, or an object of another entity than the
    /// relationship's destination changes nothing and makes the next save throw.
    ///
    /// - Complexity: A look-up of the name, and a fault for an object that is not loaded; O(m) for m members of a
    ///   collection.
    @_disfavoredOverload
    public func setValue(_ value: Any?, forKey key: String) {
        guard let found = keyed(key, isChange: true) else { return }
        if found.property.isTransient { _$awakeFromFetch(self) }
        let values = values
        do throws(KeyedValueError) {
            if type.family == nil { try values.pointee.checkClass(found.slot, type, value) }
            try values.pointee.setKeyedValue(found.slot, found.property, to: value)
        } catch {
            let text = "\(entityName).\(key) \(error.message)"
            values.pointee.refuse(
                SwiftDataError.modelValidationFailure.explained(text).about(entityName, key), found.slot)
        }
    }

    /// Sets several properties by their names, in alphabetical order; each as `setValue(_:forKey:)` does.
    ///
    /// - Complexity: O(n log n) for n values.
    public func setValues(forKeys values: [String: Any?]) {
        for (key, value) in values.sorted(by: { $0.key < $1.key }) { setValue(value, forKey: key) }
    }

    /// The value of a property by its name; as `value(forKey:)` and `setValue(_:forKey:)`.
    ///
    /// - Complexity: As `value(forKey:)` and `setValue(_:forKey:)`.
    public subscript(key: String) -> Any? {
        get { value(forKey: key) }
        set { setValue(newValue, forKey: key) }
    }

    /// The value at the end of a path of names, such as `department.name`.
    ///
    /// After a to-many relationship the values of all its members are collected, without nil. There `@count`,
    /// `@sum.name`, `@avg.name`, `@min.name` and `@max.name` reduce them to one value.
    ///
    /// - Returns: Nil if an object on the path is nil; for unknown keys, as `value(forKey:)`.
    /// - Complexity: A fault for each object on the path that is not loaded; after a collection, for each of its
    ///   members.
    @_disfavoredOverload
    public func value(forKeyPath keyPath: String) -> Any? {
        var names = keyPath.split(separator: ".", omittingEmptySubsequences: false).map(String.init)[...]
        guard let first = names.popFirst() else { return nil }
        guard !names.isEmpty else { return value(forKey: first) }
        switch value(forKey: first) {
        case let target as ManagedObject: return target.value(forKeyPath: names.joined(separator: "."))
        case let members as [ManagedObject]: return KeyedCollection(members).value(names, of: self, keyPath)
        case let members as Set<ManagedObject>:
            return KeyedCollection(members.sorted { $0.objectID < $1.objectID }).value(names, of: self, keyPath)
        case nil: return nil
        default:
            report("\(entityName).\(first) is no relationship, so the path \(keyPath) ends there.")
            return nil
        }
    }

    /// Sets the property at the end of a path of names; the names before it are to-one relationships.
    ///
    /// Nothing is set if an object on the path is nil. An invalid path makes the next save throw.
    ///
    /// - Complexity: A fault for each object on the path that is not loaded.
    @_disfavoredOverload
    public func setValue(_ value: Any?, forKeyPath keyPath: String) {
        guard let dot = keyPath.firstIndex(of: ".") else { return setValue(value, forKey: keyPath) }
        let first = String(keyPath[..<dot])
        guard let found = keyed(first, isChange: true) else { return }
        guard found.property.asRelationship?.isToOneRelationship == true else {
            return values.pointee.refuse(
                "\(entityName).\(first) is no to-one relationship, so \(keyPath) cannot be set.")
        }
        let target = self.value(forKey: first) as? ManagedObject
        target?.setValue(value, forKeyPath: String(keyPath[keyPath.index(after: dot)...]))
    }

    /// A reference to the value of an attribute, without reading it; nil if the value is nil.
    ///
    /// - Complexity: O(1): one small read of a large value's place, and a fault for an object that is not loaded.
    public func blob(forKey key: String) -> Blob? {
        guard let slot = variableSlot(of: key) else { return nil }
        return values.pointee.blob(of: slot)
    }

    /// Sets an attribute to a value of another object, or to one that a `BlobWriter` has written, by reference.
    ///
    /// The save takes over the bytes of a `BlobWriter`, unless another save has, and copies others chunk by chunk, so
    /// that no large value is in memory. In a migration no byte is read.
    ///
    /// Nil for a required attribute makes the next save throw.
    ///
    /// - Complexity: O(1) here; the save copies the n bytes in O(n), except those of a `BlobWriter` and in a migration.
    public func setBlob(_ blob: Blob?, forKey key: String) {
        if variableSlot(of: key, isChange: true) != nil { setValue(blob, forKey: key) }
    }

    // MARK: Keys

    /// The property with a name; nil if the entity has none.
    package func property(named key: String) -> (any SchemaProperty)? { found(key)?.property }

    /// A property by its name, with its slot; an unknown name is reported, or for a change makes the next save throw.
    func keyed(_ key: String, isChange: Bool = false) -> NamedProperty? {
        if let found = found(key) { return found }
        let text = NearestName.unknown(key, among: entity)
        if isChange { values.pointee.refuse(text) } else { report(text) }
        return nil
    }

    /// A property of the object's class, or a column of a table without classes.
    func found(_ key: String) -> NamedProperty? { type.named(key, inClass: place) ?? type.column(named: key) }

    /// The name of the object's entity.
    var entityName: String { type.entityName(inClass: place) }

    /// The position of the object's class in a table with several; 0 for all other objects.
    var place: Int {
        let type = type
        guard let hierarchy = type.hierarchy else { return 0 }
        if type.family != nil { return ObjectHandle(self).placeOfClass }
        return values.pointee.place(in: hierarchy) ?? 0
    }

    private func variableSlot(of key: String, isChange: Bool = false) -> Int? {
        guard let found = keyed(key, isChange: isChange) else { return nil }
        if let attribute = found.property.asAttribute, attribute.kind == .data { return found.slot }
        let text = "\(entityName).\(key) holds no Data, so it has no blob."
        if isChange { values.pointee.refuse(text) } else { report(text) }
        return nil
    }

    func report(_ text: String) {
        values.pointee.context?.report(SwiftDataError.unsupportedKeyPath.explained(text))
    }
}
