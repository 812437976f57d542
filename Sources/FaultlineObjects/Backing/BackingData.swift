/// The values of a model by key path, apart from its class: of an object, or for an object to come.
///
///     let values: some BackingData<Trip> = Trip.createBackingData()
///     values.setValue(forKey: \.name, to: "Rome")
///     context.insert(Trip(backingData: values))
///
/// The library's own type is `ModelBackingData`. Accessors made by `@Model` use none.
public protocol BackingData<Model> {
    /// The model class.
    associatedtype Model: PersistentModel

    /// Makes the backing data of no object.
    init(for modelType: Model.Type)
    /// The identifier of the object; nil for no object.
    var persistentModelID: PersistentIdentifier? { get set }
    /// The metadata of the model's properties.
    var metadata: Any { get }

    /// Reads an attribute.
    @_disfavoredOverload
    func getValue<Value: Decodable>(forKey: KeyPath<Model, Value>) -> Value
    /// Reads the target of a required relationship.
    func getValue<Value: PersistentModel>(forKey: KeyPath<Model, Value>) -> Value
    /// Reads the target of a relationship.
    func getValue<Value: PersistentModel>(forKey: KeyPath<Model, Value?>) -> Value?
    /// Reads the members of a relationship.
    func getValue<Value: RelationshipCollection, OtherModel>(forKey: KeyPath<Model, Value>) -> Value
    where OtherModel == Value.PersistentElement
    /// Reads the members of a relationship whose class is `Decodable`.
    func getValue<Value: RelationshipCollection & Decodable, OtherModel>(forKey: KeyPath<Model, Value>) -> Value
    where OtherModel == Value.PersistentElement
    /// Reads an attribute of any type.
    func getTransformableValue<Value>(forKey: KeyPath<Model, Value>) -> Value

    /// Sets an attribute.
    @_disfavoredOverload
    func setValue<Value: Encodable>(forKey: KeyPath<Model, Value>, to newValue: Value)
    /// Sets the target of a required relationship.
    func setValue<Value: PersistentModel>(forKey: KeyPath<Model, Value>, to newValue: Value)
    /// Sets the target of a relationship.
    func setValue<Value: PersistentModel>(forKey: KeyPath<Model, Value?>, to newValue: Value?)
    /// Sets the members of a relationship.
    func setValue<Value: RelationshipCollection, OtherModel>(forKey: KeyPath<Model, Value>, to newValue: Value)
    where OtherModel == Value.PersistentElement
    /// Sets the members of a relationship whose class is `Encodable`.
    func setValue<Value: RelationshipCollection & Encodable, OtherModel>(
        forKey: KeyPath<Model, Value>, to newValue: Value
    ) where OtherModel == Value.PersistentElement
    /// Sets an attribute of any type.
    func setTransformableValue<Value>(forKey: KeyPath<Model, Value>, to newValue: Value)
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
