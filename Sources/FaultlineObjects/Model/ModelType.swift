internal import FaultlineDisk
package import FaultlineModel
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
    /// The attributes that an object must have a value of, and may lack: see `ModelCore.missingValues`.
    let requiredValues: [RequiredValue]
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
    let detachedHome: Unmanaged<ObjectHome>
    private let maker: @Sendable (ModelType) -> AnyObject
    /// Casts an object of the class, found by number, to a model without looking up its conformance.
    let asModel: @Sendable (consuming AnyObject) -> any PersistentModel
    private let defaults: @Sendable (Int) -> Any?
    private let learnedCoreOffset = Atomic<Int>(0)
    /// By slot; made when two objects in no context are first connected.
    let inverses = Guarded<[Inverse?]?>(nil)
    /// The class's metadata, if its objects have a core and nothing else: then a fault is made without running an
    /// initializer.
    // Safe because metadata is immutable and lives as long as the process.
    nonisolated(unsafe) let bareMetadata: UnsafeRawPointer?

    /// - Parameters:
    ///   - type: The class of the objects.
    ///   - entity: Their entity by itself.
    ///   - defect: The rule that the class breaks.
    ///   - described: The entity to show to users; nil for the same.
    ///   - isDynamic: Whether the objects have no class of their own.
    ///   - maker: Makes a fault, or, if none is pending, an object in no context.
    ///   - defaults: The declared default value of a slot.
    init<Model: PersistentModel>(
        _ type: Model.Type, _ entity: Schema.Entity, _ defect: SchemaError? = nil, described: Schema.Entity? = nil,
        isDynamic: Bool = false, maker: @escaping @Sendable (ModelType) -> AnyObject,
        defaults: @escaping @Sendable (Int) -> Any?
    ) {
        self.type = type
        self.maker = maker
        self.defaults = defaults
        entityName = entity.name
        self.entity = entity
        self.described = described ?? entity
        self.defect = defect
        self.isDynamic = isDynamic
        let properties = entity.properties
        self.properties = properties
        requiredValues = properties.enumerated().compactMap { RequiredValue($0.element, $0.offset) }
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
        detachedHome = .passRetained(ObjectHome(detached: layout))
        detachedHome._withUnsafeGuaranteedRef { $0.belong(to: self) }
    }

    deinit { detachedHome.release() }

    /// Makes a fault if one is pending, else an object in no context.
    func makeFault() -> AnyObject { maker(self) }

    /// The slot in the destination's class that is the inverse of a relationship.
    struct Inverse: Sendable {
        let slot: Int
        let isToOne: Bool
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
}
