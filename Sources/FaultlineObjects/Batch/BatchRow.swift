/// The values of one new object of a batch insertion; no object is made.
///
/// A property that is not set has its declared default, or nil. If a property cannot have its value, the insertion
/// throws once the closure returns.
public struct BatchRow<T: PersistentModel>: ~Copyable {
    let values: BatchValues

    init(_ values: BatchValues) { self.values = values }

    /// Gives an attribute a value.
    public mutating func set<Value>(_ keyPath: KeyPath<T, Value>, to value: Value) {
        values.set(values.type.slots[keyPath], "\(keyPath)", to: value)
    }

    /// Sets a to-one relationship to a stored object, or to nil.
    public mutating func set<Target: PersistentModel>(
        _ keyPath: KeyPath<T, Target?>, to identifier: PersistentIdentifier?
    ) {
        values.set(values.type.slots[keyPath], "\(keyPath)", to: identifier)
    }

    /// Sets a required to-one relationship to a stored object.
    public mutating func set<Target: PersistentModel>(
        _ keyPath: KeyPath<T, Target>, to identifier: PersistentIdentifier
    ) {
        values.set(values.type.slots[keyPath], "\(keyPath)", to: identifier)
    }

    /// Sets a property by its name; a to-one relationship takes the identifier of its object.
    ///
    /// Values are taken as `ManagedObject.setValue(_:forKey:)` takes them.
    public mutating func set(_ name: String, to value: Any?) { values.set(name, to: value) }
}
