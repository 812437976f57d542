internal import CFaultline
internal import FaultlineLog
internal import FaultlineStore

/// The state of a model object: its only stored property except the user's own transient ones.
///
/// 40 bytes, so that an object takes 64 bytes of the allocator: a home (context and entity), a number with flags, a
/// reference to a loaded row, the draft of unsaved values, and a reference to rarely needed state. Not copyable,
/// because its `deinit` removes the object from its context's identity map: a macro cannot add a `deinit` to the class.
///
/// States:
/// - *detached*: in no context; values are in the draft;
/// - *inserted*: in a context, never saved; values are in the draft; the number is temporary;
/// - *fault*: stored; nothing is loaded;
/// - *loaded*: stored; `row` leads to a row of the context's arena, which may be evicted at any time: then it is a
///   fault again;
/// - *changed*: stored; a draft holds all values, and knows which of them changed;
/// - *deleted*: to be deleted by the next save; then *gone*: reads return the last values;
/// - *deleted elsewhere*: gone too, by another context or a batch; a change of it is refused;
/// - *absent*: made for an identifier that the store lacks; never loaded, changed or saved;
/// - *alias*: stored, but another object of the context represents the row and has its values; never loaded, changed or
///   deleted itself.
public struct ModelCore: ~Copyable {
    /// The context's entity home, or the class's home for detached objects.
    ///
    /// Not retained: the context is, see `isAttached`.
    private(set) var home: Unmanaged<ObjectHome>
    /// Bits 0 to 47 number, 48 to 63 flags.
    private var word: UInt64
    var row: RowReference
    var draftPointer: UnsafeMutableRawPointer?
    private var extraReference: Unmanaged<ObjectExtra>?

    struct Flags: OptionSet {
        let rawValue: UInt64

        /// Belongs to a context, which the object keeps alive.
        static let attached = Flags(rawValue: 1 << 48)
        /// The number is temporary: drawn from a counter of the process.
        static let temporary = Flags(rawValue: 1 << 49)
        /// In the context, never saved.
        static let inserted = Flags(rawValue: 1 << 50)
        /// Has unsaved changes.
        static let changed = Flags(rawValue: 1 << 51)
        /// To be deleted by the next save.
        static let deleted = Flags(rawValue: 1 << 52)
        /// Deleted by a save, or found missing.
        static let gone = Flags(rawValue: 1 << 53)
        /// A read of it failed: it returns placeholders and refuses to be saved.
        static let damaged = Flags(rawValue: 1 << 54)
        /// Is in the identity map.
        static let registered = Flags(rawValue: 1 << 55)
        /// In no context, and in a graph of such objects: `row` leads to its node there.
        static let grouped = Flags(rawValue: 1 << 56)
        /// Was saved onto the row that another object of the context represents: passes every access on to that object.
        static let alias = Flags(rawValue: 1 << 57)
        /// In no context, and retains its type, to which it may have the last reference.
        static let retainsType = Flags(rawValue: 1 << 58)
        /// In a context, where a change of it was refused and not settled since; outside of one the bit says the above.
        static let refused = retainsType
        /// Its `awakeFromInsert` was called.
        static let awake = Flags(rawValue: 1 << 59)
        /// Is in the context's lookup of unsaved objects by value.
        static let indexed = Flags(rawValue: 1 << 60)
        /// Made for an identifier that the store lacks: gone too, never registered, and never saved.
        static let absent = Flags(rawValue: 1 << 61)
        /// Was inserted into a context while its initializer ran, and never saved: if it is freed, that initializer has
        /// failed.
        static let initializing = Flags(rawValue: 1 << 62)
        /// Gone, because another context or a batch has deleted it: a change of it would be lost.
        static let deletedElsewhere = Flags(rawValue: 1 << 63)
    }

    static let numberMask = TemporaryNumber.max

    /// Begins an object: a detached one, or the fault that the library is making.
    public init(_ type: ModelType) {
        if let pending = fl_pending_get() {
            let fault = pending.assumingMemoryBound(to: PendingFault.self)
            if fault.pointee.type.toOpaque() == Unmanaged.passUnretained(type).toOpaque() {
                fl_pending_set(nil)
                home = fault.pointee.home
                word = fault.pointee.word
                row = fault.pointee.row
                draftPointer = nil
                extraReference = nil
                return
            }
        }
        home = type.detachedHome
        word = 0
        row = .none
        draftPointer = nil
        extraReference = nil
        if type.isDynamic { retainType(type) }
    }

    private mutating func retainType(_ type: ModelType) {
        _ = Unmanaged.passUnretained(type).retain()
        insert(.retainsType)
    }

    /// Releases the type, and with it the home and the layout of a draft.
    private func releaseType() {
        home._withUnsafeGuaranteedRef { $0.type.map { Unmanaged.passUnretained($0) } }?.release()
    }

    /// Begins the fault of a stored row.
    @inline(__always)
    init(faultOf number: UInt64, home: Unmanaged<ObjectHome>, row: RowReference) {
        self.home = home
        word = number | Flags.attached.rawValue | Flags.registered.rawValue
        self.row = row
        draftPointer = nil
        extraReference = nil
    }

    deinit {
        if word & Flags.initializing.rawValue != 0, has(.inserted), let draftPointer {
            let number = word & Self.numberMask
            home._withUnsafeGuaranteedRef { $0.forgetUnfinished(number, Draft(block: draftPointer)) }
        }
        if word & Flags.grouped.rawValue != 0 { return endInGraph() }
        if let draftPointer { Draft(block: draftPointer).destroy() }
        extraReference?.release()
        guard word & Flags.attached.rawValue != 0 else {
            if word & Flags.retainsType.rawValue != 0 { releaseType() }
            return
        }
        home._withUnsafeGuaranteedRef {
            $0.letGo(of: word & Self.numberMask, isRegistered: word & Flags.registered.rawValue != 0)
        }
    }

    // MARK: Graphs

    /// The object's node in the graph of detached objects that it is connected to; nil for none.
    var node: DetachedNode? { nodeReference?.takeUnretainedValue() }

    private var nodeReference: Unmanaged<DetachedNode>? {
        guard has(.grouped), let pointer = UnsafeRawPointer(bitPattern: UInt(row.bits)) else { return nil }
        return .fromOpaque(pointer)
    }

    /// Puts a detached object into a graph.
    ///
    /// - Returns: The address of the seldom needed part, by which the node knows the object's core.
    mutating func enter(_ node: DetachedNode) -> UnsafeRawPointer {
        row = RowReference(bits: UInt64(UInt(bitPattern: Unmanaged.passRetained(node).toOpaque())))
        insert(.grouped)
        return UnsafeRawPointer(Unmanaged.passUnretained(extra).toOpaque())
    }

    /// Takes the object out of its graph, for a context; the graph stays until its relationships are made there.
    private mutating func leaveGraph() {
        guard let node = nodeReference else { return }
        extra.graph = node._withUnsafeGuaranteedRef { $0.becomeAttached() }
        remove(.grouped)
        row = .none
        node.release()
    }

    /// The state of a detached object, in no graph, with the seldom needed part taken out of the one that is on its way
    /// out: its `deinit` may still be reading the rest.
    borrowing func takeState() -> ModelCore {
        var state = ModelCore(detached: self, draft?.copy().block, nil)
        if state.has(.retainsType) { _ = modelType.map { Unmanaged.passUnretained($0).retain() } }
        if let old = extraIfPresent { state.extra.takeOver(old) }
        return state
    }

    private init(
        detached core: borrowing ModelCore, _ draftPointer: UnsafeMutableRawPointer?, _ extra: Unmanaged<ObjectExtra>?
    ) {
        home = core.home
        word = core.word & ~Flags.grouped.rawValue
        row = .none
        self.draftPointer = draftPointer
        extraReference = extra
    }

    /// Leaves the state to the node, which keeps it for those who refer to the object.
    private borrowing func endInGraph() {
        guard let node = nodeReference, let extraReference else { return }
        let state = UnsafeMutablePointer<ModelCore>.allocate(capacity: 1)
        state.initialize(to: ModelCore(detached: self, draftPointer, extraReference))
        node._withUnsafeGuaranteedRef { $0.end(state, extraReference) }
        node.release()
    }

    // MARK: State

    @inline(__always) var number: UInt64 { word & Self.numberMask }
    @inline(__always) func has(_ flag: Flags) -> Bool { word & flag.rawValue != 0 }
    @inline(__always) mutating func insert(_ flag: Flags) { word |= flag.rawValue }
    @inline(__always) mutating func remove(_ flag: Flags) { word &= ~flag.rawValue }
    @inline(__always) mutating func setNumber(_ number: UInt64) { word = word & ~Self.numberMask | number }

    @inline(__always) var draft: Draft? { draftPointer.map { Draft(block: $0) } }

    /// Whether an initial value is used; makes the draft.
    @inline(__always)
    public mutating func _$beginInitialValue() -> Bool {
        if draftPointer != nil { return true }
        if has(.attached) { return false }
        draftPointer = Draft.create(layout: home._withUnsafeGuaranteedRef { $0.layout }).block
        return true
    }

    /// Whether an unsaved value was set in a slot.
    func hasChange(of slot: Int) -> Bool { draft?.isChanged(slot) ?? false }

    /// The rarely needed state; made on first access.
    var extra: ObjectExtra {
        mutating get {
            if let extraReference { return extraReference.takeUnretainedValue() }
            let made = ObjectExtra()
            extraReference = .passRetained(made)
            return made
        }
    }

    @inline(__always) var hasExtra: Bool { extraReference != nil }

    var extraIfPresent: ObjectExtra? { extraReference?.takeUnretainedValue() }

    /// Drops the rarely needed state.
    ///
    /// Observers and the view of the object stay, ephemeral values, and that it was made by name.
    mutating func dropExtra() {
        guard let old = extraReference else { return }
        extraReference = nil
        old._withUnsafeGuaranteedRef { old in
            if let observation = old.observation { extra.observation = observation }
            if !old.ephemerals.isEmpty { extra.ephemerals = old.ephemerals }
            if let view = old.view { extra.view = view }
            if old.isMadeByName { extra.isMadeByName = true }
        }
        old.release()
    }

    /// Moves a detached object into a context.
    ///
    /// The caller retained the context for it.
    mutating func attach(to home: Unmanaged<ObjectHome>, number: UInt64) {
        leaveGraph()
        if has(.retainsType) {
            // The context's home has the same type.
            releaseType()
            remove(.retainsType)
        }
        self.home = home
        setNumber(number)
        insert(.attached | .temporary | .inserted)
    }

    /// Makes a detached object one of a subclass of its class, whose values it has.
    mutating func changeDetachedHome(to type: ModelType) { home = type.detachedHome }

    /// Makes an object that the library has made the fault of a stored row: the values that its initializers gave it are
    /// dropped.
    ///
    /// The caller retained the context for it.
    mutating func begin(_ word: UInt64, home: Unmanaged<ObjectHome>, row: RowReference) {
        leaveGraph()
        if let extraIfPresent { extraIfPresent.leaveNodes() }
        if let draftPointer { Draft(block: draftPointer).destroy() }
        draftPointer = nil
        extraReference?.release()
        extraReference = nil
        self.home = home
        self.word = word
        self.row = row
    }

    /// Moves an unsaved object out of its context.
    ///
    /// The caller releases the context.
    mutating func detach(to home: Unmanaged<ObjectHome>) {
        remove(.refused)
        self.home = home
        if let type = modelType, type.isDynamic { retainType(type) }
        remove(.attached | .inserted | .changed | .deleted | .registered | .initializing)
    }

    /// Whether two objects of one context have the same identity; nil if they are of different entities or contexts.
    @inline(__always)
    func isSame(as other: UnsafePointer<ModelCore>) -> Bool? {
        guard has(.attached), other.pointee.has(.attached), home.toOpaque() == other.pointee.home.toOpaque() else {
            return nil
        }
        return reference == other.pointee.reference
    }

    mutating func dropDraft() {
        if has(.indexed) { noteIndexedChange() }
        if let draftPointer { Draft(block: draftPointer).destroy() }
        draftPointer = nil
    }

    /// Records in the context's lookup that the object's values change.
    @inline(never)
    mutating func noteIndexedChange() {
        remove(.indexed)
        home._withUnsafeGuaranteedRef { $0.noteIndexedChange(of: reference) }
    }

    /// Whether the object has unsaved changes.
    var hasChanges: Bool { has(.inserted) || has(.changed) || has(.deleted) }

    /// Whether the object was deleted; the deletion may be unsaved.
    var isDeleted: Bool { has(.deleted) || has(.gone) }

    /// The description of the object's class or entity.
    var modelType: ModelType? { home._withUnsafeGuaranteedRef { $0.type } }

    /// The value of a to-one slot that refers to the object.
    @inline(__always) var reference: ObjectReference {
        ObjectReference(number: number, isTemporary: has(.temporary))
    }

    /// The object's identity; a temporary one is assigned on first access.
    var persistentIdentifier: PersistentIdentifier {
        mutating get {
            if number == 0 {
                if has(.alias), let canonical = extraIfPresent?.canonical {
                    return canonical.core.pointee.persistentIdentifier
                }
                setNumber(TemporaryNumber.next())
                insert(.temporary)
            }
            let name = home._withUnsafeGuaranteedRef { $0.entityName }
            if has(.temporary) {
                return PersistentIdentifier(storeID: PersistentIdentifier.unsaved, entityName: name, number: number)
            }
            let store = home._withUnsafeGuaranteedRef { $0.storeID }
            return PersistentIdentifier(storeID: store, entityName: name, number: number)
        }
    }

    /// The address of the object's memory: the core is at a fixed offset in it.
    var objectAddress: UInt {
        mutating get {
            let offset = home._withUnsafeGuaranteedRef { $0.type?.anyCoreOffset() ?? 0 }
            precondition(offset > 0, "Every object's class has had its core found before the object can change.")
            return withUnsafeMutablePointer(to: &self) { UInt(bitPattern: $0) } - UInt(offset)
        }
    }

    /// While there is a draft of a stored object, `row` has the place of the row it was made from: segment and offset.
    var base: UInt64 { row.bits }

    mutating func setBase(_ location: Location) {
        row = RowReference(bits: UInt64(location.segment) << 32 | UInt64(location.offset))
    }
}

extension ModelCore.Flags {
    /// A literal of all flags would be built at run time.
    @inline(__always) static func | (left: Self, right: Self) -> Self { left.union(right) }
}

/// The parameters that the library passes to the core of the fault it is making.
struct PendingFault {
    let type: Unmanaged<ModelType>
    let home: Unmanaged<ObjectHome>
    let word: UInt64
    let row: RowReference
}
