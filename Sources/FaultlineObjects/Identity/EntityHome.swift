internal import CFaultline
internal import FaultlineDisk
internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

/// The shared state of one entity's objects in one context: the context, the identity map, the last finds.
// Safe because the constants are immutable, and the identity map is used under the context's lock.
package final class EntityHome: ObjectHome, @unchecked Sendable {
    /// The context owns its homes and each object retains the context, so it outlives every use.
    let contextReference: Unmanaged<ContextCore>
    /// Code that is called for the entity's objects, on the context's thread.
    @exclusivity(unchecked) var lifecycle: Lifecycle?
    /// The part of it that the user of the context has set, by the positions of classes in the table.
    @exclusivity(unchecked) private var entityLifecycles: [Int: Lifecycle] = [:]
    /// Used under the context's lock.
    @exclusivity(unchecked) var identities = IdentityMap()
    /// The object whose row was loaded last, and how many loads in succession were of the next object; used on the
    /// context's thread.
    @exclusivity(unchecked) var lastLoaded: RecordID = 0
    @exclusivity(unchecked) private var ascendingCount = 0
    /// Rows that a fetch loaded for objects that may not exist yet; used on the context's thread.
    ///
    /// Each is checked to be the newest before it is used.
    @exclusivity(unchecked) var prefetchedRows: [RecordID: RowReference] = [:] {
        didSet { hasPrefetchedRows = !prefetchedRows.isEmpty }
    }
    @exclusivity(unchecked) private(set) var hasPrefetchedRows = false
    /// The stored object that was last found by its identifier: its first read needs no second look-up.
    @exclusivity(unchecked) private(set) var found = FoundObject(number: 0, location: .absent, changeCount: 0)
    /// Rows of objects that may be deallocated already; used under the context's lock.
    @exclusivity(unchecked) var recentRows = RecentRows()
    /// The property of the last look-up by a fetch, with its slot; used on the context's thread.
    @exclusivity(unchecked) private var lastProperty: (keyPath: AnyKeyPath, slot: Int)?
    /// How to read the last predicate of the form `$0.property == constant`; used on the context's thread.
    @exclusivity(unchecked) var equalities = EqualityCache()
    /// The unique index of each slot that has one of its own for the values that the property shows; nil for other
    /// slots.
    ///
    /// Empty for the table of several classes: there a look-up by value must ask for the class too.
    private(set) lazy var uniqueIndexes: [IndexDefinition?] =
        type?.family != nil
        ? []
        : (entity?.slots.indices ?? 0..<0).map {
            isTransformed($0) ? nil : entity?.uniqueIndex(comparedAt: $0)?.definition
        }
    /// The slots of the class's properties whose values rows have: all except to-many relationships, ephemeral
    /// attributes, and those that a transformer turns into bytes.
    private(set) lazy var rowSlots: [AnyKeyPath: Int] = (type?.slots ?? [:]).filter { _, slot in
        if entity?.ephemeralSlots.contains(slot) == true { return false }
        if isTransformed(slot) { return false }
        return if case .toMany? = entity?.slots[slot] { false } else { true }
    }

    init(context: ContextCore, entity: EntityStorage, type: ModelType?, storeID: (UInt64, UInt64)) {
        contextReference = .passUnretained(context)
        super.init(entity, type: type, storeID: storeID)
        lifecycle = type?.lifecycle()
    }

    /// Sets the code that is called for the objects of a class of the table, after that of the class; nil for none.
    func setLifecycle(_ code: Lifecycle?, inClass place: Int) {
        entityLifecycles[place] = code
        let ofEntities = entityLifecycles.sorted { $0.key < $1.key }.map(\.value)
        lifecycle = ([type?.lifecycle()].compactMap { $0 } + ofEntities).reduce(nil) { $0?.followed(by: $1) ?? $1 }
    }

    /// Whether rows have the bytes that a transformer makes of a property's values.
    private func isTransformed(_ slot: Int) -> Bool { type?.properties[slot].asAttribute?.isTransformable == true }

    /// Forgets how the context was used, for another use of it.
    func renew() {
        lastLoaded = 0
        ascendingCount = 0
        if hasPrefetchedRows { prefetchedRows = [:] }
    }

    /// The slot of a property of the class; nil for any other key path.
    ///
    /// Keeps the last one, because hashing a key path takes as long as a look-up.
    func slot(of keyPath: AnyKeyPath) -> Int? {
        if let lastProperty, lastProperty.keyPath === keyPath || lastProperty.keyPath == keyPath {
            return lastProperty.slot
        }
        guard let slot = type?.slots[keyPath] else { return nil }
        lastProperty = (keyPath, slot)
        return slot
    }

    /// The unique index of one attribute alone, whose keys are equal exactly if its values are.
    func uniqueIndex(comparedAt slot: Int) -> IndexDefinition? {
        slot < uniqueIndexes.count ? uniqueIndexes[slot] : nil
    }

    @inline(__always) var context: ContextCore { contextReference.takeUnretainedValue() }

    /// Whether objects are being loaded one after the other, so that reading ahead pays off.
    func isScanning(_ number: RecordID) -> Bool {
        if number > lastLoaded, number - lastLoaded <= 16 {
            ascendingCount += 1
        } else {
            ascendingCount = 0
        }
        return ascendingCount >= 4
    }

    // MARK: Objects

    /// Records that an object was found by its number in the context's snapshot.
    @inline(__always)
    func noteFound(_ number: RecordID, at location: Location, _ context: ContextCore) {
        found = FoundObject(number: number, location: location, changeCount: context.hold.changeCount)
    }

    override func letGo(of number: UInt64, isRegistered: Bool) {
        if isRegistered { forget(number) }
        contextReference.release()
    }

    /// Removes an object that is being destroyed from the identity map.
    ///
    /// The entry may belong to a new object already, which a look-up has made after it met the dying one. The new
    /// object can be retained, the dying one cannot.
    private func forget(_ number: UInt64) {
        contextReference._withUnsafeGuaranteedRef { context in
            context.lock.lock()
            let address = identities.address(of: number)
            if address != 0, let pointer = UnsafeMutableRawPointer(bitPattern: address) {
                if fl_try_retain(pointer) {
                    context.lock.unlock()
                    Unmanaged<AnyObject>.fromOpaque(pointer).release()
                    return
                }
                identities.remove(number)
            }
            context.lock.unlock()
        }
    }

    override func forgetUnfinished(_ number: UInt64, _ values: Draft) {
        let context = context
        context.pending.forgetUnfinished?(context, number, values, self)
    }

    override func noteIndexedChange(of reference: ObjectReference) {
        guard let ordinal = entity?.ordinal else { return }
        let context = context
        context.pending.lookup.noteChange(of: reference, ordinal, in: context.pending.living)
    }

    /// The core of an object of the entity; nil if the context does not know its class.
    ///
    /// Takes no reference.
    @inline(__always)
    func core(of object: AnyObject) -> UnsafeMutablePointer<ModelCore>? {
        let offset = typeReference?._withUnsafeGuaranteedRef { type in
            type.coreOffset == 0 ? type.coreOffset(of: object) : type.coreOffset
        }
        guard let offset else { return nil }
        return UnsafeMutablePointer(
            bitPattern: UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()) + UInt(offset))
    }

    /// The handle of an object of the entity; nil if the context does not know its class.
    func handle(of object: AnyObject) -> ObjectHandle? {
        core(of: object).map { ObjectHandle(object: object, core: $0) }
    }
}

extension ModelCore {
    /// The home of an object in a context; nil for any other object.
    @inline(__always) var contextHome: Unmanaged<EntityHome>? {
        // Safe because an object gets the flag together with a home of its context.
        has(.attached) ? .fromOpaque(home.toOpaque()) : nil
    }

    @inline(__always) var context: ContextCore? { contextHome?._withUnsafeGuaranteedRef { $0.context } }
}

/// A stored object of an entity, and the place of its record in one snapshot.
struct FoundObject {
    /// 0 for none.
    let number: RecordID
    let location: Location
    /// Names the snapshot: `SnapshotHold.changeCount`.
    let changeCount: Int
}
