internal import FaultlineDisk
public import FaultlineModel
package import FaultlineStore
internal import Synchronization

/// The library's description of a model class: its entity, its slots, how to make faults of it.
///
/// There is one for each class, made when the class is first used, and never freed. There is one for each entity of a
/// container whose objects have no class; it lives as long as the container, its contexts and their objects.
public final class ModelType: Sendable {
    package let type: any PersistentModel.Type
    /// Unqualified name of the class: `SchemaV1.Item` and `SchemaV2.Item` are both entity `Item`.
    package let entityName: String
    /// The class's entity by itself: inverses are not resolved.
    package let entity: Schema.Entity
    /// The entity that users see: changing that of dynamic objects has no effect here.
    let described: Schema.Entity
    /// The entity's properties by slot.
    // Safe because a schema's parts are changed only while it is built.
    nonisolated(unsafe) let properties: [any SchemaProperty]
    /// Whether the objects have no class of their own.
    let isDynamic: Bool
    /// Nil unless the class breaks a rule; a container with the class reports it.
    package let defect: SchemaError?
    /// The layout of unsaved objects, with the same places as the layout that a store registers for the same
    /// properties.
    package let layout: RowLayout
    /// Slots by key path.
    // Safe because key paths are immutable; those of properties capture nothing.
    nonisolated(unsafe) package let slots: [AnyKeyPath: Int]
    /// Slots by the name of the property.
    package let slotsByName: [String: Int]
    /// Released with the type: each object in no context retains the type, unless the type is permanent.
    let detachedHome: Unmanaged<EntityHome>
    private let maker: @Sendable (ModelType) -> AnyObject
    /// Casts an object of the class, found by number, to a model without looking up its conformance.
    let asModel: @Sendable (consuming AnyObject) -> any PersistentModel
    private let defaults: @Sendable (Int) -> Any?
    private let learnedCoreOffset = Atomic<Int>(0)
    /// By slot; made when two objects in no context are first connected.
    private let inverses = Guarded<[Inverse?]?>(nil)
    /// The class's metadata, if its objects have a core and nothing else: then a fault is made without running an
    /// initializer.
    // Safe because metadata is immutable and lives as long as the process.
    nonisolated(unsafe) let bareMetadata: UnsafeRawPointer?

    /// Reads the description of a class.
    public convenience init<Model: PersistentModel>(_ type: Model.Type) {
        ModelClasses.note(type)
        let name = unqualifiedName(of: type)
        var entity = Schema.Entity(name)
        var defect: SchemaError?
        do throws(SchemaError) {
            entity = try Schema.Entity(name, metadata: type.schemaMetadata, role: ModelType.role)
        } catch { defect = error }
        let names = entity.properties.map(\.name)
        self.init(
            type, entity, defect, maker: { _ in type.init(_$fault: FaultToken()) },
            defaults: { slot in
                guard slot < names.count else { return nil }
                return type.schemaMetadata.first { $0.name == names[slot] }?.defaultValue
            })
    }

    /// - Parameters:
    ///   - type: The class of the objects.
    ///   - entity: Their entity by itself.
    ///   - defect: The rule that the class breaks.
    ///   - described: The entity to show to users; nil for the same.
    ///   - maker: Makes a fault, or, if none is pending, an object in no context.
    ///   - defaults: The declared default value of a slot.
    init<Model: PersistentModel>(
        _ type: Model.Type, _ entity: Schema.Entity, _ defect: SchemaError? = nil, described: Schema.Entity? = nil,
        maker: @escaping @Sendable (ModelType) -> AnyObject, defaults: @escaping @Sendable (Int) -> Any?
    ) {
        self.type = type
        self.maker = maker
        self.defaults = defaults
        entityName = entity.name
        self.entity = entity
        self.described = described ?? entity
        self.defect = defect
        isDynamic = Model.self == ManagedObject.self
        let properties = entity.properties
        self.properties = properties
        layout = RowLayout(
            number: 0, entityName: entity.name,
            columns: properties.enumerated().map {
                ColumnDescription(property: $0.element, number: UInt32($0.offset) + 1)
            })
        slotsByName = Dictionary(properties.enumerated().map { ($0.element.name, $0.offset) }) { first, _ in
            first
        }
        var slots: [AnyKeyPath: Int] = [:]
        for (slot, property) in properties.enumerated() {
            if let keyPath = entity.namesByKeyPath.first(where: { $0.value == property.name })?.key {
                slots[keyPath] = slot
            }
        }
        self.slots = slots
        // Safe because every object of the type is made by its class.
        asModel = { (object: consuming AnyObject) in unsafeDowncast(object, to: Model.self) }
        bareMetadata = BareObject.metadata(of: type)
        if bareMetadata != nil { learnedCoreOffset.store(BareObject.coreOffset, ordering: .relaxed) }
        detachedHome = .passRetained(EntityHome(detached: layout, slotCount: properties.count))
        detachedHome._withUnsafeGuaranteedRef { $0.belong(to: self) }
    }

    deinit { detachedHome.release() }

    /// The lifecycle code of the class; nil if it has none.
    func lifecycle() -> Lifecycle? { (type as? any ObjectLifecycle.Type).map { Lifecycle($0) } }

    /// Makes a fault if one is pending, else an object in no context.
    func makeFault() -> AnyObject { maker(self) }

    /// The slot in the destination's class that is the inverse of a relationship.
    struct Inverse: Sendable {
        let slot: Int
        let isToOne: Bool
    }

    /// The inverse of a relationship between objects in no context; nil for none.
    ///
    /// Resolved in the schema of the classes that the class's relationships lead to, which contains every inverse.
    func inverse(of slot: Int) -> Inverse? {
        inverses.withLock { known in
            let all = known ?? resolveInverses()
            known = all
            return slot < all.count ? all[slot] : nil
        }
    }

    private func resolveInverses() -> [Inverse?] {
        guard let schema = try? Schema.checked([type], version: Schema.Version(1, 0, 0)),
            let resolved = schema.entitiesByName[entityName]
        else { return [] }
        return resolved.properties.map { property in
            guard let relationship = property.asRelationship, let name = relationship.inverseName,
                let destination = schema.entitiesByName[relationship.destination],
                let slot = destination.properties.firstIndex(where: { $0.name == name }),
                let inverse = destination.properties[slot].asRelationship
            else { return nil }
            return Inverse(slot: slot, isToOne: inverse.isToOneRelationship)
        }
    }

    /// Bytes from the start of an object's memory to its core; 0 until the first object was seen.
    @inline(__always) var coreOffset: Int { learnedCoreOffset.load(ordering: .relaxed) }

    /// Records the offset of the core in an object; it is the same for all objects of a class.
    @inline(__always)
    func learnCoreOffset<T: PersistentModel>(of object: T) {
        guard coreOffset == 0 else { return }
        let start = UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
        learnedCoreOffset.store(UnsafeRawPointer(object._$coreAddress()) - start, ordering: .relaxed)
    }

    /// The same for any object of the class.
    func coreOffset(of object: AnyObject) -> Int {
        if coreOffset == 0, let model = object as? any PersistentModel { learnCoreOffset(of: model) }
        return coreOffset
    }

    /// The same before any complete object was seen, as while the first one is initialized: measured on a specimen.
    func anyCoreOffset() -> Int { coreOffset > 0 ? coreOffset : coreOffset(of: makeFault()) }

    /// The declared default value of a slot.
    func defaultValue(of slot: Int) -> Any? { defaults(slot) }

    /// Distinguishes relationships from attributes by the type of the property.
    static func role(of valueType: any Any.Type) -> PropertyRole {
        guard let (model, isToOne) = destination(of: valueType) else { return .attribute }
        let name = unqualifiedName(of: model)
        return isToOne ? .toOne(destination: name) : .toMany(destination: name)
    }

    /// The model class that properties of a type lead to; nil for values.
    private static func destination(
        of valueType: any Any.Type
    ) -> (model: any PersistentModel.Type, isToOne: Bool)? {
        if isScalar(valueType) { return nil }
        switch TypeShape(of: valueType) {
        case .optional(let wrapped):
            if let model = ModelClasses.find(wrapped) { return (model, true) }
            // An optional array, not an optional optional.
            guard case .array(let element) = TypeShape(of: wrapped) else { return nil }
            return ModelClasses.find(element).map { ($0, false) }
        case .array(let element): return ModelClasses.find(element).map { ($0, false) }
        case .other: return ModelClasses.find(valueType).map { ($0, true) }
        }
    }

    /// The model classes that this one's relationships lead to.
    package var destinations: [any PersistentModel.Type] {
        entity.properties.compactMap { property in
            property.isRelationship ? Self.destination(of: property.valueType)?.model : nil
        }
    }
}

extension Schema.Entity {
    /// The class that the entity was made of.
    fileprivate var modelClass: (any PersistentModel.Type)? { modelType.flatMap(ModelClasses.find) }
}

/// An optional type, as an existential.
protocol OptionalValue {
    static var wrappedType: any Any.Type { get }
}

extension Optional: OptionalValue {
    static var wrappedType: any Any.Type { Wrapped.self }
}

extension Schema {
    /// Makes a schema of model classes and of every class that their relationships lead to.
    ///
    /// - Throws: `SchemaError` naming entity and property, if a class breaks a rule.
    package static func checked(_ types: [any PersistentModel.Type], version: Version) throws -> Schema {
        var entities: [Schema.Entity] = []
        for type in reachable(from: types) {
            let model = type._$modelType
            if let defect = model.defect { throw defect }
            // A new entity: inverses are resolved within this schema.
            let entity = try Schema.Entity(model.entityName, metadata: type.schemaMetadata, role: ModelType.role)
            entity.modelType = type
            entities.append(entity)
        }
        let schema = Schema(entities: entities, version: version)
        schema.resolveInverses()
        try schema.validate()
        schema.encodeDefaults()
        return schema
    }

    /// The given model classes, and then every class that their relationships lead to.
    package static func reachable(from types: [any PersistentModel.Type]) -> [any PersistentModel.Type] {
        var seen: Set<ObjectIdentifier> = []
        var all: [any PersistentModel.Type] = []
        var queue = types
        while !queue.isEmpty {
            let next = queue.removeFirst()
            guard seen.insert(ObjectIdentifier(next)).inserted else { continue }
            ModelClasses.note(next)
            all.append(next)
            queue.append(contentsOf: next._$modelType.destinations)
        }
        return all
    }

    /// The model classes that a schema was made of; nil if it was made otherwise.
    package static func modelTypes(of schema: Schema) -> [any PersistentModel.Type]? {
        let types = schema.entities.compactMap(\.modelClass)
        return types.count == schema.entities.count ? types : nil
    }

    /// Makes a schema of model classes.
    ///
    /// A class that breaks a rule is reported when a container is made with the schema.
    ///
    /// - Complexity: O(n) for n properties of the classes and of those that they lead to.
    public convenience init(_ types: [any PersistentModel.Type], version: Version = Version(1, 0, 0)) {
        let checked = try? Schema.checked(types, version: version)
        self.init(entities: checked?.entities ?? [], version: version)
    }

    /// Makes a schema of model classes.
    ///
    /// - Complexity: O(n) for n properties of the classes and of those that they lead to.
    public convenience init(_ types: any PersistentModel.Type..., version: Version = Version(1, 0, 0)) {
        self.init(types, version: version)
    }

    /// The name of a model class's entity.
    public static func entityName<T: PersistentModel>(for type: T.Type) -> String { type._$modelType.entityName }

    /// The entity of a model class.
    public func entity<T: PersistentModel>(for type: T.Type) -> Entity? {
        entitiesByName[type._$modelType.entityName]
    }
}
