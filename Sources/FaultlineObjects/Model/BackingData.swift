internal import FaultlineStore

/// A model's values by key path: the shape that hand-written code for SwiftData expects.
///
/// Accessors made by `@Model` do not go through it.
public protocol BackingData<Model> {
    associatedtype Model: PersistentModel

    init(for modelType: Model.Type)
    var persistentModelID: PersistentIdentifier? { get set }
    /// The metadata of the model's properties.
    var metadata: Any { get }
}

/// The backing data of an object: a reference to it.
public struct ModelBackingData<Model: PersistentModel>: BackingData {
    private let model: Model?

    init(_ model: Model) { self.model = model }

    /// Backing data of no object: it has no identifier and gives no values.
    public init(for modelType: Model.Type) { model = nil }

    /// The identifier of the object; setting it does nothing.
    public var persistentModelID: PersistentIdentifier? {
        get { model?.persistentModelID }
        set {}
    }

    /// The properties of the class, as `Schema.PropertyMetadata`.
    public var metadata: Any { Model.schemaMetadata }

    func takeValues() -> Model? { model }
}

extension ModelCore {
    /// The backing data of the object that this core belongs to.
    public func backingData<Model: PersistentModel>(of model: Model) -> any BackingData<Model> {
        ModelBackingData(model)
    }

    /// Takes over the values of another object's backing data, as a detached copy.
    public mutating func adopt<Model: PersistentModel>(_ backingData: any BackingData<Model>) {
        guard let other = (backingData as? ModelBackingData<Model>)?.takeValues(), !has(.attached) else { return }
        let source = other._$coreAddress()
        dropDraft()
        if let draft = source.pointee.draft {
            draftPointer = draft.copy().block
        }
    }
}
