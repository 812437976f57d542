internal import FaultlineDisk
public import FaultlineModel
internal import FaultlineStore

/// An object whose properties are read and set by name.
///
///     let photo = try context.fetch(FetchRequest(entityName: "Photo")).first
///     photo?["caption"] = "Harbour"
///
/// Contexts, faults, relationships and saves are those of model classes. A container that was made without model classes
/// has objects of this class only. In a container with model classes such an object is a view of the object of the
/// class: both show the same values, changes and state, and calls that take an object take either. A context has one
/// view of an object, made when it is first asked for, as long as it is in use.
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
    ///
    /// - Parameters:
    ///   - type: The description of the table's objects.
    ///   - place: The position of the object's entity in a table with several.
    init(standInOf type: ModelType, inClass place: Int = 0) {
        core = ModelCore(type)
        core.setDefaults(of: type, place)
    }

    /// Makes a view of an object of a class.
    init(viewOf handle: ObjectHandle) {
        core = ModelCore(Self._$modelType)
        core.insert(.alias)
        core.extra.canonical = handle
        handle.core.pointee.extra.view = self
    }

    /// The object that shows another one by names: the view of an object of a class, else the object itself.
    static func view(of handle: ObjectHandle) -> ManagedObject {
        if let object = handle.object as? ManagedObject { return object }
        return handle.core.pointee.extra.view as? ManagedObject ?? ManagedObject(viewOf: handle)
    }

    /// The same, of an object whose class is known only at run time.
    static func view(of object: AnyObject) -> ManagedObject? {
        if let object = object as? ManagedObject { return object }
        return ObjectHandle(object: object).map { view(of: $0) }
    }

    /// The same, of the objects of a fetch.
    static func views<T: PersistentModel>(of objects: [T]) -> [ManagedObject] {
        objects as? [ManagedObject] ?? objects.map { view(of: ObjectHandle($0)) }
    }

    /// Makes a fault for the library.
    public init(_$fault token: FaultToken) { core = ModelCore(ModelType.pending ?? Self._$modelType) }

    // Not inlined, for the reason that `ModelMacro` gives.
    /// A copy, in no context, of the values of another object.
    @inline(never)
    public init(backingData: any BackingData<ManagedObject>) {
        let type = backingData.modelType
        core = ModelCore(type.flatMap { $0.isDynamic ? $0 : nil } ?? Self._$modelType)
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
    ///
    /// - Complexity: O(p) for p properties of a class; O(1) without classes.
    public var entity: Schema.Entity { ObjectHandle(self).ofClass.shown(inClass: place) }

    /// The object's identity: stable once the object was saved.
    public var objectID: PersistentIdentifier { core.persistentIdentifier }

    /// The object of a model class that this one is a view of; nil in a container without classes.
    ///
    ///     let photo = object.model as? Photo
    public var model: (any PersistentModel)? { core.canonical?.object as? any PersistentModel }

    /// The context that the object is in: nil after a rollback of its insertion, after a saved deletion, and when the
    /// context is gone.
    public var managedObjectContext: ModelContext? { modelContext }

    /// Whether nothing of the object is loaded; the question itself loads nothing.
    public var isFault: Bool { ObjectHandle(self).core.pointee.isFault }

    /// Whether the object was inserted and not saved yet.
    public var isInserted: Bool { ObjectHandle(self).core.pointee.has(.inserted) }

    /// Whether the object is stored and has unsaved changes.
    public var isUpdated: Bool { ObjectHandle(self).core.pointee.has(.changed) }

    /// The core that has the object's values: for a view, that of the object of a class.
    var values: UnsafeMutablePointer<ModelCore> { core.canonicalCore ?? _$coreAddress() }

    /// The description of the table's objects.
    var type: ModelType { values.pointee.modelType ?? Self._$modelType }
}

extension ObjectHandle {
    /// The description of the object's class; for an object without one, of its table.
    var ofClass: ModelType {
        guard let type = core.pointee.modelType else { return ManagedObject._$modelType }
        return type.family?.classes[placeOfClass] ?? type
    }
}

extension BackingData {
    /// The type of the object that the values belong to.
    fileprivate var modelType: ModelType? {
        (self as? ModelBackingData<ManagedObject>)?.model.type
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
    fileprivate mutating func setDefaults(of type: ModelType, _ place: Int) {
        guard _$beginInitialValue() else { return }
        let ofClass = type.hierarchy?.classes[place]
        write { type.hierarchy?.setClass(of: &$0, to: place) }
        for (slot, property) in type.properties.enumerated() where ofClass?.has(slot) != false {
            guard let attribute = property.asAttribute, attribute.hasDefaultValue else { continue }
            write { DefaultValues.set(attribute, slot: slot, draft: &$0) }
        }
    }
}
