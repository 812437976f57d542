internal import FaultlineModel

/// The backing data of an object: a reference to it; or values for an object to come.
///
///     let copy = Trip(backingData: trip.persistentBackingData)
///
/// Values of an object are read and set as its properties are. Backing data of no object keeps the values that are set:
/// each object that is made from it gets them, and the other sides of its relationships know of them from then on.
public struct ModelBackingData<Model: PersistentModel>: BackingData {
    /// The object; for backing data of no object one of its own, which holds the attributes.
    let model: Model
    /// The relationships of an object to come; nil for the backing data of an object.
    let held: HeldRelationships?

    init(_ model: Model) {
        self.model = model
        held = nil
    }

    /// Makes the backing data of no object: its attributes have their declared defaults, and its relationships are nil
    /// and empty.
    ///
    /// - Complexity: That of an object in no context.
    public init(for modelType: Model.Type) {
        model = modelType.init(_$fault: FaultToken())
        held = HeldRelationships()
    }

    /// The identifier of the object; nil for no object.
    ///
    /// Identifiers are not given by hand: setting it does nothing.
    public var persistentModelID: PersistentIdentifier? {
        get { held == nil ? model.persistentModelID : nil }
        set {}
    }

    /// The properties of the class, as `Schema.PropertyMetadata`.
    public var metadata: Any { Model.schemaMetadata }

    // MARK: Reading

    /// Reads an attribute, as `PersistentModel.getValue(forKey:)` of the object.
    ///
    /// - Complexity: A look-up of the key path, and the read of the property.
    @_disfavoredOverload
    public func getValue<Value: Decodable>(forKey keyPath: KeyPath<Model, Value>) -> Value {
        heldValue(keyPath) ?? model.getValue(forKey: keyPath)
    }

    /// Reads the target of a required relationship, as `PersistentModel.getValue(forKey:)` of the object.
    ///
    /// - Complexity: A look-up of the key path, and the read of the property.
    public func getValue<Value: PersistentModel>(forKey keyPath: KeyPath<Model, Value>) -> Value {
        heldValue(keyPath) ?? model.getValue(forKey: keyPath)
    }

    /// Reads the target of a relationship, as `PersistentModel.getValue(forKey:)` of the object.
    ///
    /// - Complexity: A look-up of the key path, and the read of the property.
    public func getValue<Value: PersistentModel>(forKey keyPath: KeyPath<Model, Value?>) -> Value? {
        heldValue(keyPath) ?? model.getValue(forKey: keyPath)
    }

    /// Reads the members of a relationship, as `PersistentModel.getValue(forKey:)` of the object.
    ///
    /// - Complexity: A look-up of the key path, and the read of the property.
    public func getValue<Value: RelationshipCollection, OtherModel>(forKey keyPath: KeyPath<Model, Value>) -> Value
    where OtherModel == Value.PersistentElement { heldValue(keyPath) ?? model.getValue(forKey: keyPath) }

    /// Reads the members of a relationship to a class that is `Decodable`, as `PersistentModel.getValue(forKey:)` of the
    /// object.
    ///
    /// - Complexity: A look-up of the key path, and the read of the property.
    public func getValue<Value: RelationshipCollection & Decodable, OtherModel>(
        forKey keyPath: KeyPath<Model, Value>
    ) -> Value where OtherModel == Value.PersistentElement { heldValue(keyPath) ?? model.getValue(forKey: keyPath) }

    /// Reads an attribute of any type, as `PersistentModel.getTransformableValue(forKey:)` of the object.
    ///
    /// - Complexity: A look-up of the key path, and the read of the property.
    public func getTransformableValue<Value>(forKey keyPath: KeyPath<Model, Value>) -> Value {
        heldValue(keyPath) ?? model.getTransformableValue(forKey: keyPath)
    }

    // MARK: Writing

    /// Sets an attribute, as `PersistentModel.setValue(forKey:to:)` of the object.
    ///
    /// - Complexity: A look-up of the key path, and the change of the property.
    @_disfavoredOverload
    public func setValue<Value: Encodable>(forKey keyPath: KeyPath<Model, Value>, to newValue: Value) {
        model.setValue(forKey: keyPath, to: newValue)
    }

    /// Sets the target of a required relationship, as `PersistentModel.setValue(forKey:to:)` of the object.
    ///
    /// - Complexity: A look-up of the key path, and the change of the property.
    public func setValue<Value: PersistentModel>(forKey keyPath: KeyPath<Model, Value>, to newValue: Value) {
        if !keep(keyPath, newValue, { $0.setValue($1, to: newValue) }) {
            model.setValue(forKey: keyPath, to: newValue)
        }
    }

    /// Sets the target of a relationship, as `PersistentModel.setValue(forKey:to:)` of the object.
    ///
    /// - Complexity: A look-up of the key path, and the change of the property.
    public func setValue<Value: PersistentModel>(forKey keyPath: KeyPath<Model, Value?>, to newValue: Value?) {
        if !keep(keyPath, newValue, { $0.setValue($1, to: newValue) }) {
            model.setValue(forKey: keyPath, to: newValue)
        }
    }

    /// Sets the members of a relationship, as `PersistentModel.setValue(forKey:to:)` of the object.
    ///
    /// - Complexity: A look-up of the key path, and the change of the property.
    public func setValue<Value: RelationshipCollection, OtherModel>(
        forKey keyPath: KeyPath<Model, Value>, to newValue: Value
    ) where OtherModel == Value.PersistentElement {
        if !keep(keyPath, newValue, { $0.setValue($1, to: newValue) }) {
            model.setValue(forKey: keyPath, to: newValue)
        }
    }

    /// Sets the members of a relationship to a class that is `Encodable`, as `PersistentModel.setValue(forKey:to:)` of
    /// the object.
    ///
    /// - Complexity: A look-up of the key path, and the change of the property.
    public func setValue<Value: RelationshipCollection & Encodable, OtherModel>(
        forKey keyPath: KeyPath<Model, Value>, to newValue: Value
    ) where OtherModel == Value.PersistentElement {
        if !keep(keyPath, newValue, { $0.setMembers($1, to: newValue) }) {
            model.setValue(forKey: keyPath, to: newValue)
        }
    }

    /// Sets an attribute of any type, as `PersistentModel.setTransformableValue(forKey:to:)` of the object.
    ///
    /// - Complexity: A look-up of the key path, and the change of the property.
    public func setTransformableValue<Value>(forKey keyPath: KeyPath<Model, Value>, to newValue: Value) {
        model.setTransformableValue(forKey: keyPath, to: newValue)
    }

    // MARK: Relationships of an object to come

    private func heldValue<Value>(_ keyPath: KeyPath<Model, Value>) -> Value? {
        guard let held, let keyed = model.keyed(keyPath), keyed.isRelationship else { return nil }
        return held.value(keyed.slot)
    }

    /// Keeps a relationship; false if it is to be set in an object, or the key path names none.
    private func keep<Value>(
        _ keyPath: KeyPath<Model, Value>, _ value: Value, _ give: @escaping (inout ModelCore, Int) -> Void
    ) -> Bool {
        guard let held, let keyed = model.keyed(keyPath), keyed.isRelationship else { return false }
        held.keep(value, keyed.slot, give)
        return true
    }
}

extension PersistentModel {
    /// Makes backing data of no object: it holds the values that are set, and an object made from it gets them.
    ///
    ///     let values: some BackingData<Trip> = Trip.createBackingData()
    ///     values.setValue(forKey: \.name, to: "Rome")
    ///     let trip = Trip(backingData: values)
    ///
    /// A property that is not set has its declared default. Called on a subclass of `P`, it makes backing data of that
    /// subclass.
    ///
    /// - Complexity: That of an object in no context.
    public static func createBackingData<P: PersistentModel>() -> some BackingData<P> {
        ModelBackingData<P>(for: Self.self as? P.Type ?? P.self)
    }
}

extension ModelCore {
    /// Sets the members of a class that is `Encodable`: a relationship, not an attribute.
    fileprivate mutating func setMembers<C: RelationshipCollection>(_ slot: Int, to members: C) {
        setValue(slot, to: members)
    }
}
