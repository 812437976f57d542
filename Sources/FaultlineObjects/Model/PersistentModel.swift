public import FaultlineModel
public import Observation

/// A class whose instances live in a store: the `@Model` macro makes a class conform.
///
/// Do not conform by hand; the requirements that begin with an underscore belong to the macro and the library.
public protocol PersistentModel: AnyObject, Observable, Hashable, Identifiable, SendableMetatype {
    /// Makes a model from backing data.
    init(backingData: any BackingData<Self>)

    /// The model's values, by key path.
    var persistentBackingData: any BackingData<Self> { get set }

    /// The persisted properties in the order of their declaration, then indexes and uniqueness constraints.
    static var schemaMetadata: [Schema.PropertyMetadata] { get }

    /// The library's description of the class.
    static var _$modelType: ModelType { get }

    /// Makes a fault: the core takes its state from the library.
    init(_$fault token: FaultToken)

    /// The address of the object's core.
    func _$coreAddress() -> UnsafeMutablePointer<ModelCore>
}

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

/// Proof that a fault is made by the library.
public struct FaultToken: Sendable {
    package init() {}

    /// For an object that gets its values otherwise.
    public static var ofNoObject: FaultToken { FaultToken() }
}

extension PersistentModel {
    /// The object's identity: stable once the object was saved.
    public var persistentModelID: PersistentIdentifier {
        _$coreAddress().pointee.persistentIdentifier
    }

    /// The object's identity; a property named `id` in the class takes precedence.
    public var id: PersistentIdentifier { persistentModelID }

    /// Whether the object has unsaved changes.
    public var hasChanges: Bool {
        ObjectHandle(self).core.pointee.hasChanges
    }

    /// Whether the object was deleted from its context; the deletion may be unsaved.
    public var isDeleted: Bool {
        ObjectHandle(self).core.pointee.isDeleted
    }

    /// Whether both have the same identity, in one context or two; their values are not compared.
    public static func == (left: Self, right: Self) -> Bool {
        if left === right { return true }
        let (one, other) = (left._$coreAddress(), right._$coreAddress())
        if let isSame = one.pointee.isSame(as: other) { return isSame }
        return left.persistentModelID == right.persistentModelID
    }

    /// Hashes the identity, which changes with the object's first save.
    public func hash(into hasher: inout Hasher) {
        persistentModelID.hash(into: &hasher)
    }

    /// The hash of the identity.
    ///
    /// Declared because the compiler would otherwise add it to each root class, and give it a place in the table of
    /// methods of some subclasses and not of others: a call from another file could then run the wrong method.
    public var hashValue: Int {
        var hasher = Hasher()
        hash(into: &hasher)
        return hasher.finalize()
    }
}

/// A to-many relationship's collection: an array of models, or an optional one.
public protocol RelationshipCollection {
    /// The class of the members.
    associatedtype PersistentElement: PersistentModel

    /// Whether the collection may be nil.
    static var _$isOptional: Bool { get }
    static func _$make(_ members: [PersistentElement]) -> Self
    var _$members: [PersistentElement] { get }
}

extension Array: RelationshipCollection where Element: PersistentModel {
    /// The class of the members.
    public typealias PersistentElement = Element

    /// False: an array is never nil.
    public static var _$isOptional: Bool { false }
    /// The members themselves.
    public static func _$make(_ members: [Element]) -> [Element] { members }
    /// The array itself.
    public var _$members: [Element] { self }
}

extension Optional: RelationshipCollection where Wrapped: RelationshipCollection {
    /// The class of the members.
    public typealias PersistentElement = Wrapped.PersistentElement

    /// True: a collection that was not set may be nil.
    public static var _$isOptional: Bool { true }
    /// The collection of the members, never nil.
    public static func _$make(_ members: [Wrapped.PersistentElement]) -> Wrapped? { Wrapped._$make(members) }
    /// The members; none for nil.
    public var _$members: [Wrapped.PersistentElement] { self?._$members ?? [] }
}
