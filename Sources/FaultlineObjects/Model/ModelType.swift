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
    /// The description of the model class that the class inherits from; nil for a root class.
    package let parent: ModelType?
    /// Distinguishes the subclasses of the process; 0 for all other classes.
    let heirNumber: Int
    /// Whether a subclass of the class is known in the process.
    private let isInherited = Atomic<Bool>(false)
    /// The classes whose objects are in the entity's table; nil if there is only one.
    let hierarchy: EntityHierarchy?
    /// The classes whose objects are in one table of a container; nil for the description of one class.
    let family: ModelFamily?
    /// The slots of the declared properties of subclasses, by `heirNumber`.
    // Safe because the memory is written before the type is shared, and lives as long as the type.
    nonisolated(unsafe) let heirSlots: UnsafePointer<UnsafePointer<Int>?>?

    /// The classes that a description has to do with.
    enum Ancestry {
        /// A class that inherits from no other one, or none.
        case root
        /// The description of the class that the class inherits from.
        case heir(of: ModelType)
        /// The classes whose objects are in one table.
        case table(ModelFamily)
    }

    /// - Parameters:
    ///   - type: The class of the objects.
    ///   - entity: Their entity by itself.
    ///   - defect: The rule that the class breaks.
    ///   - described: The entity to show to users, of objects without a class of their own; nil for a class.
    ///   - maker: Makes a fault, or, if none is pending, an object in no context.
    ///   - defaults: The declared default value of a slot.
    ///   - ancestry: The classes that it has to do with.
    init<Model: PersistentModel>(
        _ type: Model.Type, _ entity: Schema.Entity, _ defect: SchemaError? = nil, described: Schema.Entity? = nil,
        maker: @escaping @Sendable (ModelType) -> AnyObject, defaults: @escaping @Sendable (Int) -> Any?,
        ancestry: Ancestry = .root
    ) {
        (parent, family) =
            switch ancestry {
            case .root: (nil, nil)
            case .heir(let parent): (parent, nil)
            case .table(let family): (nil, family)
            }
        hierarchy = family?.hierarchy ?? EntityHierarchy(entity)
        heirNumber = parent == nil ? 0 : HeirSlots.nextNumber()
        heirSlots = HeirSlots.make(
            family?.heirSlots ?? Self.heirSlots(of: parent, heirNumber, propertyCount: entity.properties.count))
        self.type = type
        self.maker = maker
        self.defaults = defaults
        entityName = entity.name
        self.entity = entity
        self.described = described ?? entity
        self.defect = defect
        isDynamic = described != nil
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
        for (keyPath, name) in entity.namesByKeyPath { slots[keyPath] = slotsByName[name] }
        self.slots = slots
        // Safe because every object of the type is made by its class.
        asModel = { (object: consuming AnyObject) in unsafeDowncast(object, to: Model.self) }
        bareMetadata = family == nil && parent == nil ? BareObject.metadata(of: type) : nil
        if bareMetadata != nil { learnedCoreOffset.store(BareObject.coreOffset, ordering: .relaxed) }
        detachedHome = .passRetained(ObjectHome(detached: layout, of: parent?.root.entityName ?? entity.name))
        detachedHome._withUnsafeGuaranteedRef { $0.belong(to: self) }
        var next = parent
        while let ancestor = next {
            ancestor.isInherited.store(true, ordering: .relaxed)
            next = ancestor.parent
        }
    }

    deinit {
        detachedHome.release()
        HeirSlots.free(heirSlots)
    }

    /// Whether an object that is described by this type may be one of a subclass.
    @inline(__always) var mayHaveHeirs: Bool { isInherited.load(ordering: .relaxed) }

    /// For a subclass and those that it inherits from, by number: the slots of the declared properties of an object in no
    /// context.
    private static func heirSlots(of parent: ModelType?, _ number: Int, propertyCount: Int) -> [Int: [Int]] {
        guard let parent else { return [:] }
        var lists = [number: Array(parent.properties.count..<max(propertyCount, parent.properties.count))]
        var next = parent
        while let ancestor = next.parent {
            lists[next.heirNumber] = Array(ancestor.properties.count..<next.properties.count)
            next = ancestor
        }
        return lists
    }

    /// The class that is at the top of the hierarchy.
    var root: ModelType { parent?.root ?? self }

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

/// The classes whose objects are in one table of a container, and the places of their properties in it: everything that
/// turns the slots of a class into those of the table.
final class ModelFamily: Sendable {
    /// The root class, then its subclasses, in the order of the table's hierarchy.
    let classes: [ModelType]
    /// For each class, by the slots of the class: those of the table.
    let slots: [[Int]]
    let hierarchy: EntityHierarchy

    /// Nil for an entity of one class, and if a class is missing.
    init?(_ table: Schema.Entity, _ types: [String: ModelType]) {
        guard let hierarchy = EntityHierarchy(table) else { return nil }
        let classes = hierarchy.classes.compactMap { types[$0.name] }
        guard classes.count == hierarchy.classes.count else { return nil }
        self.hierarchy = hierarchy
        self.classes = classes
        slots = hierarchy.classes.map(\.slots)
    }

    /// For each subclass, by its number: the slots in the table of the properties that it declares.
    fileprivate var heirSlots: [Int: [Int]] {
        var lists: [Int: [Int]] = [:]
        for (type, slots) in zip(classes, slots) where type.heirNumber > 0 {
            lists[type.heirNumber] = Array(slots.dropFirst(type.parent?.properties.count ?? 0))
        }
        return lists
    }

    /// The position of a class.
    func place(of type: ModelType) -> Int? { classes.firstIndex { $0 === type } }
}
