internal import FaultlineDisk
public import FaultlineModel

/// An object of an entity that is known only at run time: its properties are read and set by name.
///
/// It gives dynamic access to the rows that model classes show by their properties; contexts, faults, relationships and
/// saves are the same. A container that was made without model classes returns objects of this class.
///
/// Nothing traps: an unknown key is reported to the context's `errorHandler` when it is read, and makes the next save
/// throw when it is set; so does a value of another type than the property's.
public final class ManagedObject: PersistentModel {
    private var core: ModelCore

    /// The class itself has no entity: each object belongs to one of its own.
    public static let _$modelType = ModelType(ManagedObject.self)
    /// Empty: the entities of its objects are not known at compile time.
    public static var schemaMetadata: [Schema.PropertyMetadata] { [] }

    /// A placeholder object in no context, for a result that must not be nil.
    init(standInOf type: ModelType) {
        core = ModelCore(type)
        core.setDefaults(of: type)
    }

    /// Makes a fault for the library.
    public init(_$fault token: FaultToken) { core = ModelCore(ModelType.pending ?? Self._$modelType) }

    // Not inlined, for the reason that `ModelMacro` gives.
    /// A copy, in no context, of the values of another object.
    @inline(never)
    public init(backingData: any BackingData<ManagedObject>) {
        core = ModelCore(backingData.modelType ?? Self._$modelType)
        core.adopt(backingData)
    }

    /// The object's values.
    public var persistentBackingData: any BackingData<ManagedObject> {
        get { core.backingData(of: self) }
        set { core.adopt(newValue) }
    }

    /// The address of the object's core.
    public func _$coreAddress() -> UnsafeMutablePointer<ModelCore> {
        // Safe because the core is a stored property of a class, whose address does not change while the object lives.
        withUnsafeMutablePointer(to: &core) { $0 }
    }

    // MARK: Identity and state

    /// The object's entity, with the properties that can be read by name.
    ///
    /// It is a description: changing it changes no object.
    public var entity: Schema.Entity { type.described }

    /// The object's identity: stable once the object was saved.
    public var objectID: PersistentIdentifier { core.persistentIdentifier }

    /// The context that the object is in: nil after a rollback of its insertion, after a saved deletion, and when the
    /// context is gone.
    public var managedObjectContext: ModelContext? { modelContext }

    /// Whether nothing of the object is loaded; the question itself loads nothing.
    public var isFault: Bool { ObjectHandle(self).core.pointee.isFault }

    /// Whether the object was inserted and not saved yet.
    public var isInserted: Bool { core.has(.inserted) }

    /// Whether the object is stored and has unsaved changes.
    public var isUpdated: Bool { ObjectHandle(self).core.pointee.has(.changed) }

    var type: ModelType { core.modelType ?? Self._$modelType }
}

extension BackingData {
    /// The type of the object that the values belong to.
    fileprivate var modelType: ModelType? {
        guard let backing = self as? ModelBackingData<ManagedObject> else { return nil }
        return backing.model.type
    }
}

extension ModelCore {
    /// Whether the object is stored and nothing of it is loaded.
    var isFault: Bool {
        guard has(.attached), !has(.inserted), draftPointer == nil, let context else { return false }
        context.lock.lock()
        defer { context.lock.unlock() }
        return !context.rows.isValid(row)
    }

    /// Gives a new object the declared defaults of its attributes.
    fileprivate mutating func setDefaults(of type: ModelType) {
        guard _$beginInitialValue() else { return }
        for (slot, property) in type.properties.enumerated() {
            guard let attribute = property.asAttribute, attribute.hasDefaultValue else { continue }
            write { DefaultValues.set(attribute, slot: slot, draft: &$0) }
        }
    }
}
