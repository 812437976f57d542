/// One new object of a batch insertion while it is given its values: no object is made of it.
///
/// A property that is not set has its declared default, or nil. A value that a property cannot have makes the insertion
/// throw once the closure returns.
public struct BatchRow<T: PersistentModel>: ~Copyable {
    let values: BatchValues

    init(_ values: BatchValues) { self.values = values }

    /// Gives an attribute a value.
    public mutating func set<Value>(_ keyPath: KeyPath<T, Value>, to value: Value) {
        values.set(values.type.slots[keyPath], "\(keyPath)", to: value)
    }

    /// Gives a relationship to one its object, which is stored, or nil.
    public mutating func set<Target: PersistentModel>(
        _ keyPath: KeyPath<T, Target?>, to identifier: PersistentIdentifier?
    ) {
        values.set(values.type.slots[keyPath], "\(keyPath)", to: identifier)
    }

    /// Gives a required relationship to one its object, which is stored.
    public mutating func set<Target: PersistentModel>(
        _ keyPath: KeyPath<T, Target>, to identifier: PersistentIdentifier
    ) {
        values.set(values.type.slots[keyPath], "\(keyPath)", to: identifier)
    }

    /// Gives a property a value by its name; a relationship to one takes the identifier of its object.
    ///
    /// Values are taken as `ManagedObject.setValue(_:forKey:)` takes them.
    public mutating func set(_ name: String, to value: Any?) { values.set(name, to: value) }
}
