internal import FaultlineModel

/// The object of an identifier whose entity the schema lacks: it has no properties, counts as deleted, and cannot be
/// saved.
final class UnknownModel: PersistentModel {
    private var core: ModelCore

    static let _$modelType = ModelType(UnknownModel.self)
    static var schemaMetadata: [Schema.PropertyMetadata] { [] }

    /// An object in no context.
    static func marked() -> UnknownModel {
        let object = UnknownModel(_$fault: FaultToken())
        object.core.insert(.gone)
        return object
    }

    init(_$fault token: FaultToken) { core = ModelCore(Self._$modelType) }

    init(backingData: any BackingData<UnknownModel>) {
        core = ModelCore(Self._$modelType)
        core.adopt(backingData)
    }

    var persistentBackingData: any BackingData<UnknownModel> {
        get { core.backingData(of: self) }
        set { core.adopt(newValue) }
    }

    func _$coreAddress() -> UnsafeMutablePointer<ModelCore> {
        // Safe because the core is a stored property of a class, whose address does not change while the object lives.
        withUnsafeMutablePointer(to: &core) { $0 }
    }
}
