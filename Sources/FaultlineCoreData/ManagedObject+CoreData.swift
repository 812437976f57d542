internal import FaultlineModel
public import FaultlineObjects

// Key-value coding with the conversions of Core Data. The subscript of `ManagedObject` gives and takes values unconverted.

extension ManagedObject {
    /// The value of a property by its name, in the form that Core Data gives it.
    ///
    ///     let pages = book.value(forKey: "pages") as? Int
    ///
    /// A number or a flag is an `NSNumber`, so `as?` takes each type of number that holds the value exactly. A to-many
    /// relationship is an `NSSet`: `as? Set<NSManagedObject>`. Its order is that of `object["books"]`, an array. Other
    /// values are those of `subscript(_:)`: a `Date`, `Data`, `String`, `UUID`, `URL`, a `Decimal` as an
    /// `NSDecimalNumber`, a `ManagedObject`, and a `CodableValue` for any other `Codable` type.
    ///
    /// - Returns: Nil also if the entity has no such property, or if the value cannot be read: then the context's
    ///   `errorHandler` is called, and a migration stops. It never traps.
    /// - Complexity: As `subscript(_:)`, and O(m) for m members of a collection.
    public func value(forKey key: String) -> Any? {
        CoreDataValue.read(self[key], isToMany: leadsToMany(key))
    }

    /// Sets a property by its name, to a value in the form that Core Data takes.
    ///
    ///     event.setValue(parts.month, forKey: "month")
    ///
    /// A number is an integer of any width, a floating-point number, or an `NSNumber`; the property takes it if it can
    /// hold it exactly, and a fraction of a floating-point property is rounded. A flag takes 0 and 1. `NSNull` is nil. A
    /// to-many relationship takes an array, a set, an `NSSet` or an `NSOrderedSet`.
    ///
    /// Never traps. A number that is out of the property's range, a value of a wrong type, nil for a required attribute
    /// or an unknown name changes nothing, and makes the next save throw `SwiftDataError.modelValidationFailure`, with
    /// entity, property and value; in a migration the call of the policy fails with it when it returns.
    ///
    /// - Complexity: As `subscript(_:)`.
    public func setValue(_ value: Any?, forKey key: String) {
        self[key] = CoreDataValue.written(value, to: property(named: key))
    }

    /// The value at the end of a path of names, such as `profile.photo`, in the form that Core Data gives it.
    ///
    ///     let bytes = employee.value(forKeyPath: "profile.photo") as? Data
    ///
    /// A path that ends in a to-many relationship gives an `NSSet`, as `value(forKey:)`. One that goes over a to-many
    /// relationship and ends in an attribute or a to-one relationship gives an array of the values of all members,
    /// without nil, with repetitions, and in the order of the members: where Core Data has a set, which has each value
    /// once, write `Set(values)`. Without members both are empty. After a to-many relationship `@count`, `@sum.pages`,
    /// `@avg.pages`, `@min.pages` and `@max.pages` give one number.
    ///
    /// - Returns: Nil if an object on the path is nil; for unknown names, as `value(forKey:)`.
    /// - Complexity: A fault for each object on the path that is not loaded; after a collection, for each of its
    ///   members.
    public func value(forKeyPath keyPath: String) -> Any? {
        guard keyPath.contains(".") else { return value(forKey: keyPath) }
        return CoreDataValue.read(
            self.FaultlineObjects::value(forKeyPath: keyPath), isToMany: leadsToMany(keyPath))
    }

    /// Whether a path ends in a to-many relationship.
    private func leadsToMany(_ keyPath: String) -> Bool {
        var entity: Schema.Entity? = entity
        var isToMany = false
        for name in keyPath.split(separator: ".", omittingEmptySubsequences: false).map(String.init) {
            guard let relationship = entity?.relationship(named: name) else { return false }
            isToMany = !relationship.isToOneRelationship
            entity = managedObjectContext?.entity(named: relationship.destination)
        }
        return isToMany
    }

    /// Sets the property at the end of a path of names, as `setValue(_:forKey:)`; the names before it are to-one
    /// relationships.
    ///
    /// Nothing is set if an object on the path is nil.
    ///
    /// - Complexity: A fault for each object on the path that is not loaded.
    public func setValue(_ value: Any?, forKeyPath keyPath: String) {
        guard let dot = keyPath.firstIndex(of: ".") else { return setValue(value, forKey: keyPath) }
        guard let target = self[String(keyPath[..<dot])] as? ManagedObject else {
            // Refuses a name that is no to-one relationship.
            return self.FaultlineObjects::setValue(value, forKeyPath: keyPath)
        }
        target.setValue(value, forKeyPath: String(keyPath[keyPath.index(after: dot)...]))
    }

    /// The value of a property, as `value(forKey:)`: objects have no accessors of their own that it could pass over.
    ///
    /// - Complexity: As `value(forKey:)`.
    public func primitiveValue(forKey key: String) -> Any? { value(forKey: key) }

    /// Sets a property, as `setValue(_:forKey:)`.
    ///
    /// - Complexity: As `setValue(_:forKey:)`.
    public func setPrimitiveValue(_ value: Any?, forKey key: String) { setValue(value, forKey: key) }

    /// The values of some properties, as `value(forKey:)`; `NSNull` for nil.
    ///
    /// - Complexity: As `value(forKey:)`, for each of them.
    public func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] {
        Dictionary(keys.map { ($0, value(forKey: $0) ?? NSNull()) }) { first, _ in first }
    }

    /// Sets several properties, each as `setValue(_:forKey:)`, in the order of their names.
    ///
    /// - Complexity: O(n log n) for n values.
    public func setValuesForKeys(_ keyedValues: [String: Any]) {
        for (key, value) in keyedValues.sorted(by: { $0.key < $1.key }) { setValue(value, forKey: key) }
    }
}
