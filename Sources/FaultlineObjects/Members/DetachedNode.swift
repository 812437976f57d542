internal import CFaultline
internal import FaultlineDisk

/// One object of a detached graph, as the relationships of the others lead to it.
///
/// - *Alive*: found by its address, and retained by no relationship. It retains its graph.
/// - *Parked*: the object is gone, and others refer to it. Its state is kept here; a relationship that leads to it gives
///   a new object around that state.
/// - *Retained*: an object that cannot be made again (it has stored properties of its own), or one that went into a
///   context: retained while others refer to it.
/// - *Over*: gone, and nothing refers to it.
///
/// The thread that uses the graph's objects makes, reads and changes relationships. Any thread may release objects, so
/// whether an object is alive, its state, its graph and the counts are under the lock.
final class DetachedNode {
    private let lock = EngineLock()
    /// Nil for an object that was in a context before it was referred to.
    @exclusivity(unchecked) private var graphReference: Unmanaged<DetachedGraph>?
    /// Of the object; 0 for none.
    @exclusivity(unchecked) private var address: UInt
    private let coreOffset: UInt
    /// The seldom needed part of the living object's state: a core that ends with another one has lost its state to this
    /// one.
    @exclusivity(unchecked) private var extra: UnsafeRawPointer?
    /// The state of an object that is gone.
    @exclusivity(unchecked) private var parked: UnsafeMutablePointer<ModelCore>?
    /// Relationships of objects of the graph that lead here.
    @exclusivity(unchecked) private var referenceCount = 0
    @exclusivity(unchecked) private var isRetained = false
    @exclusivity(unchecked) private var isAttached = false
    private let isRemakeable: Bool
    @exclusivity(unchecked) private var holds = Holds()

    /// How arrays of members retain objects: such an array must not lead back to its owner, nor be a link of a chain that
    /// is too long to be released.
    private struct Holds {
        /// Arrays that retain the object.
        var holderCount = 0
        /// Members that the object's own arrays retain.
        var heldCount = 0
        /// Links of the longest chain known that ends here.
        var above = 0
        /// Links of the longest chain known that begins here.
        var below = 0

        static let chainMax = 200
    }

    /// Puts a detached object into a graph.
    init(_ object: ObjectHandle, in graph: DetachedGraph) {
        graphReference = .passRetained(graph)
        address = Self.address(of: object)
        coreOffset = UInt(bitPattern: object.core) - address
        isRemakeable = object.core.pointee.modelType?.remakes(object.object) == true
        extra = nil
        extra = object.core.pointee.enter(self)
    }

    /// Refers to an object that is in a context.
    init(attached object: ObjectHandle) {
        graphReference = nil
        address = Self.address(of: object)
        coreOffset = UInt(bitPattern: object.core) - address
        isRemakeable = false
        isAttached = true
    }

    deinit { end() }

    private static func address(of object: ObjectHandle) -> UInt {
        UInt(bitPattern: Unmanaged.passUnretained(object.object).toOpaque())
    }

    /// The graph of a living object; by the thread that uses the graph.
    var graph: DetachedGraph? { graphReference?.takeUnretainedValue() }

    /// Whether neither an object nor its state is left.
    var isOver: Bool { lock.withLock { address == 0 && parked == nil } }

    /// Whether it leads to an object.
    func leads(to object: ObjectHandle) -> Bool {
        object.core.pointee.node === self || isAttached && address == Self.address(of: object)
    }

    // MARK: The object

    /// The object, made again if it is gone; nil if there is none.
    func object() -> ObjectHandle? {
        lock.lock()
        defer { lock.unlock() }
        if let pointer = UnsafeMutableRawPointer(bitPattern: address) {
            if fl_try_retain(pointer) { return handle(Unmanaged<AnyObject>.fromOpaque(pointer).takeRetainedValue()) }
            // On its way out, perhaps on another thread: another object takes its state over, and its hold on the graph.
            guard isRemakeable, referenceCount > 0 else { return nil }
            let dying = (pointer + Int(coreOffset)).assumingMemoryBound(to: ModelCore.self)
            return remake(dying.pointee.takeState())
        }
        guard let parked else { return nil }
        self.parked = nil
        _ = graphReference?.retain()
        let made = remake(parked.move())
        parked.deallocate()
        return made
    }

    /// Under the lock.
    private func remake(_ state: consuming ModelCore) -> ObjectHandle? {
        guard let metadata = state.modelType?.bareMetadata else { return nil }
        extra = state.enter(self)
        let object = BareObject.make(metadata, state)
        address = UInt(bitPattern: object)
        return handle(Unmanaged<AnyObject>.fromOpaque(object).takeRetainedValue())
    }

    private func handle(_ object: AnyObject) -> ObjectHandle? {
        UnsafeMutablePointer<ModelCore>(bitPattern: address + coreOffset).map { ObjectHandle(object: object, core: $0) }
    }

    /// Ends the object's life: its core is being destroyed.
    ///
    /// - Parameters:
    ///   - state: The core's state, which is this node's from now on.
    ///   - extra: The seldom needed part of it.
    func end(_ state: UnsafeMutablePointer<ModelCore>, _ extra: Unmanaged<ObjectExtra>) {
        lock.lock()
        guard self.extra == UnsafeRawPointer(extra.toOpaque()) else {
            // Another object has taken the state over.
            lock.unlock()
            state.deinitialize(count: 1)
            return state.deallocate()
        }
        let graph = graphReference
        defer { graph?.release() }
        if hasFailedInitializer {
            lock.unlock()
            extra._withUnsafeGuaranteedRef { $0.leavePartners(self) }
            lock.lock()
        } else if isRemakeable, referenceCount > 0 {
            address = 0
            parked = state
            let arrays = extra._withUnsafeGuaranteedRef { $0.takeArrays() }
            holds.heldCount -= arrays.reduce(0) { $0 + $1.nodes.count }
            lock.unlock()
            for (_, nodes) in arrays { nodes.forEach { $0.noteLetGo() } }
            return
        }
        address = 0
        lock.unlock()
        Self.destroy(state)
    }

    /// Under the lock: whether the object is destroyed although it was not released, because its initializer failed.
    private var hasFailedInitializer: Bool {
        guard let pointer = UnsafeMutableRawPointer(bitPattern: address), fl_try_retain(pointer) else { return false }
        Unmanaged<AnyObject>.fromOpaque(pointer).release()
        return true
    }

    /// Ends a state that is left when the graph goes: no object of it is alive.
    fileprivate func endParked() {
        let state = lock.withLock { () -> UnsafeMutablePointer<ModelCore>? in
            defer { parked = nil }
            return parked
        }
        state?.deinitialize(count: 1)
        state?.deallocate()
    }

    /// Lets go of the rest: the graph goes, or nothing leads here any more.
    func end() {
        endParked()
        letGoOfObject()
    }

    private func letGoOfObject() {
        let object = lock.withLock { () -> Unmanaged<AnyObject>? in
            guard isRetained, let pointer = UnsafeRawPointer(bitPattern: address) else { return nil }
            isRetained = false
            if isAttached { address = 0 }
            return Unmanaged<AnyObject>.fromOpaque(pointer)
        }
        object?.release()
    }

    /// Notes that the object goes into a context.
    ///
    /// - Returns: The graph, of which the caller has to let go.
    func becomeAttached() -> DetachedGraph? {
        lock.lock()
        defer { lock.unlock() }
        isAttached = true
        extra = nil
        if referenceCount > 0 { retainObject() } else { address = 0 }
        return graphReference?.takeRetainedValue()
    }

    /// Moves to another graph.
    func move(to graph: DetachedGraph) {
        lock.lock()
        let old = graphReference
        let isCounted = address != 0 && !isAttached
        graphReference = isCounted ? .passRetained(graph) : .passUnretained(graph)
        lock.unlock()
        if isCounted { old?.release() }
    }

    // MARK: References

    /// Notes that one more relationship leads here.
    func refer() {
        lock.lock()
        defer { lock.unlock() }
        referenceCount += 1
        if isAttached || !isRemakeable { retainObject() }
    }

    /// Under the lock.
    private func retainObject() {
        guard !isRetained, let pointer = UnsafeRawPointer(bitPattern: address) else { return }
        _ = Unmanaged<AnyObject>.fromOpaque(pointer).retain()
        isRetained = true
    }

    /// Notes that relationships lead to some nodes no more: the states of objects that are gone, and that nothing else
    /// refers to, go, with those that they alone refer to.
    static func leave(_ nodes: [DetachedNode]) {
        var left = nodes
        while let node = left.popLast() { left += node.dropReference() }
    }

    /// Notes that one relationship leads here no more; see `leave(_:)`.
    func leave() {
        let left = dropReference()
        if !left.isEmpty { Self.leave(left) }
    }

    /// Counts one reference less.
    ///
    /// - Returns: The nodes that the state referred to, if it has ended.
    private func dropReference() -> [DetachedNode] {
        lock.lock()
        referenceCount -= 1
        guard referenceCount == 0 else {
            lock.unlock()
            return []
        }
        let state = parked
        parked = nil
        lock.unlock()
        letGoOfObject()
        guard let state else { return [] }
        defer {
            state.deinitialize(count: 1)
            state.deallocate()
        }
        return state.pointee.extraIfPresent?.takeNodes(of: self) ?? []
    }

    private static func destroy(_ state: UnsafeMutablePointer<ModelCore>) {
        let nodes = state.pointee.extraIfPresent?.takeNodes(of: nil) ?? []
        state.deinitialize(count: 1)
        state.deallocate()
        leave(nodes)
    }

    // MARK: Holds

    /// Whether an array of this object's members that retains a member could lead back here.
    func mayReturn(from member: DetachedNode) -> Bool {
        lock.withLock { holds.holderCount > 0 } && member.lock.withLock { member.holds.heldCount > 0 }
    }

    /// Notes that an array of this object retains a member.
    ///
    /// - Returns: False if it must not, for long: it could lead back here, or the chain is too long.
    func hold(_ member: DetachedNode) -> Bool {
        let (isHeld, above) = lock.withLock {
            holds.heldCount += 1
            return holds.holderCount > 0 ? (true, holds.above) : (false, 0)
        }
        let (holdsOthers, below) = member.lock.withLock {
            let wasHeld = member.holds.holderCount > 0
            member.holds.holderCount += 1
            member.holds.above = max(wasHeld ? member.holds.above : 0, above + 1)
            return member.holds.heldCount > 0 ? (true, member.holds.below) : (false, 0)
        }
        lock.withLock { holds.below = max(holds.heldCount > 1 ? holds.below : 0, below + 1) }
        if member.isAttached || !member.isRemakeable { return true }
        if member === self || isHeld && holdsOthers { return false }
        return above + 1 + below <= Holds.chainMax
    }

    /// Notes that arrays of this object retain some members no more.
    func letGo(of members: [DetachedNode]) {
        lock.withLock { holds.heldCount -= members.count }
        members.forEach { $0.noteLetGo() }
    }

    /// Notes that one array less retains the object.
    func noteLetGo() { lock.withLock { holds.holderCount -= 1 } }
}

extension ModelType {
    /// Whether an object of the type can be made again around its state: its class is the type's, and has no stored
    /// property of its own.
    fileprivate func remakes(_ object: AnyObject) -> Bool {
        bareMetadata != nil && ObjectIdentifier(Swift.type(of: object)) == ObjectIdentifier(type)
    }
}
