internal import FaultlineStore

/// The part that a subclass of a model class adds to its objects: the first values of its properties, until the object's
/// core takes them, and then the way to the core, which belongs to the root class.
///
/// An initializer gives a subclass's properties their values before it calls that of the superclass, and until then
/// there is no core. The values are kept in the object itself, so that other objects, which an initializer may make, and
/// a suspension of it do not matter.
public struct HeirStage: ~Copyable {
    private let type: Unmanaged<ModelType>
    private var core: UnsafeMutablePointer<ModelCore>?
    private var staged: [(slot: Int, apply: (inout ModelCore, Int) -> Void)] = []

    /// Begins an object of a subclass.
    public init(_ type: ModelType) { self.type = .passUnretained(type) }

    /// Keeps the first value of a property.
    public mutating func stage(_ slot: Int, _ apply: @escaping (inout ModelCore, Int) -> Void) {
        guard let core else { return staged.append((slot, apply)) }
        apply(&core.pointee, self.slot(slot))
    }

    /// Gives the core the first values; does nothing at later calls.
    ///
    /// The core is that of the object, whose superclass has done the same.
    @inline(__always)
    public mutating func settle(_ core: UnsafeMutablePointer<ModelCore>) {
        if self.core == nil { settleFirst(core) }
    }

    @inline(never)
    private mutating func settleFirst(_ core: UnsafeMutablePointer<ModelCore>) {
        self.core = core
        core.pointee.become(type.takeUnretainedValue())
        let values = staged
        staged = []
        for value in values { value.apply(&core.pointee, slot(value.slot)) }
    }

    /// The slot in the object of a property, by its position in the subclass.
    ///
    /// The object has settled.
    public func slot(_ place: Int) -> Int {
        let number = type._withUnsafeGuaranteedRef { $0.heirNumber }
        guard let list = core?.pointee.heirSlots(number) else {
            preconditionFailure("An object of a subclass is in a context that does not know the subclass.")
        }
        return list[place]
    }
}

extension ObjectHandle {
    /// The description of the object's class, also while the initializer of a subclass runs.
    @inline(__always) var classType: ModelType? {
        guard let type = core.pointee.modelType else { return nil }
        return type.mayHaveHeirs ? exactType ?? type : type
    }

    @inline(never)
    private var exactType: ModelType? {
        core.pointee.has(.attached) ? nil : ModelClasses.find(Swift.type(of: object))?._$modelType
    }
}

extension ModelCore {
    /// Calls `body`: a root class has its core when a property gets its first value.
    @inlinable @inline(__always)
    public mutating func stage(_ slot: Int, _ body: (inout ModelCore, Int) -> Void) { body(&self, slot) }

    /// The slots of the properties that a subclass declares; nil if the object is of another class.
    fileprivate func heirSlots(_ number: Int) -> UnsafePointer<Int>? {
        home._withUnsafeGuaranteedRef { home in
            home.typeReference?._withUnsafeGuaranteedRef { HeirSlots.list($0.heirSlots, number) }
        }
    }

    /// Makes the object of a superclass one of its subclass: in no context, its values move to the layout of that one.
    ///
    /// A context knows the class of the object already.
    mutating func become(_ type: ModelType) {
        guard !has(.attached), modelType !== type else { return }
        if let old = draft {
            let count = modelType?.properties.count ?? 0
            draftPointer = old.moved(to: type.layout, Array(0..<count)).block
            old.destroy()
        }
        changeDetachedHome(to: type)
    }

    /// Moves the values of a detached object to the slots that its class has in a table.
    ///
    /// - Parameters:
    ///   - family: The classes of the table.
    ///   - type: The class of the object.
    ///   - layout: The layout of the table.
    mutating func enterFamily(_ family: ModelFamily, _ type: ModelType, _ layout: RowLayout) {
        // While the initializer of a subclass runs, the core is still that of a superclass.
        guard let place = family.place(of: type), let known = modelType, let old = family.place(of: known) else {
            return
        }
        let slots = family.slots[old]
        var draft =
            self.draft.map { draft in
                defer { draft.destroy() }
                return draft.moved(to: layout, slots)
            } ?? Draft.create(layout: layout)
        family.hierarchy.setClass(of: &draft, to: place)
        draftPointer = draft.block
        if hasExtra { extra.move(to: slots) }
    }

    /// The slot in a context of a property, by its slot in the object's class.
    func joinedSlot(_ slot: Int, of type: ModelType?) -> Int {
        guard let family = modelType?.family, let place = type.flatMap(family.place(of:)) else { return slot }
        return family.slots[place][slot]
    }

    /// Whether the object has a property in a slot of its table: not if it is one of another class.
    func has(_ slot: Int, of entity: EntityStorage) -> Bool { draft.map { entity.has(slot, $0) } ?? true }

    /// The way back, for an object that leaves its context.
    mutating func leaveFamily(_ family: ModelFamily) -> ModelType? {
        guard let old = draft else { return nil }
        let place = family.hierarchy.place(of: old)
        let type = family.classes[place]
        draftPointer = old.moved(to: type.layout, from: family.slots[place]).block
        old.destroy()
        if hasExtra { extra.move(from: family.slots[place]) }
        return type
    }
}
