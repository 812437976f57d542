internal import FaultlineLog
internal import FaultlineStore

/// Inserts new objects into a context, with all objects that they reach.
struct ObjectInsertion {
    let context: ContextCore

    @inline(__always)
    init(_ context: ContextCore) { self.context = context }

    // MARK: Insert

    /// Inserts a detached object, and all objects it refers to, into the context.
    ///
    /// - Parameters:
    ///   - handle: The object.
    ///   - isInitial: Whether its initializer is still running, so that none of its code may be called.
    /// - Returns: False if it cannot be inserted.
    @discardableResult
    func insert(_ handle: ObjectHandle, isInitial: Bool = false) -> Bool {
        if !context.pending.unawakened.isEmpty { awakeArrived() }
        if handle.core.pointee.has(.attached) {
            guard context.belongsHere(handle, "inserted") else { return false }
            if handle.core.pointee.has(.deleted) {
                guard LifecycleCalls(context).mayRearrange("insert") else { return false }
                context.undelete(handle)
            }
            return !ObjectRegistry(context).refusesAbsent(handle)
        }
        guard let type = handle.classType, let home = context.home(of: type) else {
            context.refuseSave(
                SwiftDataError.unknownSchema.explained(
                    "\(handle.core.pointee.className) was inserted, but it is not among the models of this container."
                ))
            return false
        }
        attach(handle, home, isInitial: isInitial)
        return handle.core.pointee.has(.attached)
    }

    /// The same for an object whose class is known at compile time.
    @inline(__always)
    func insert<T: PersistentModel>(model: T) {
        InsertSpilling(context).runIfDue()
        let handle = ObjectHandle(model)
        guard !handle.core.pointee.has(.attached), let type = handle.classType, let home = context.home(of: type) else {
            insert(handle)
            return
        }
        attach(handle, home)
    }

    /// Makes an object and inserts it, without a call of its class's code: it gets the values of an object that was made
    /// before.
    ///
    /// - Parameters:
    ///   - home: Its home.
    ///   - place: The position of its class in a table with several.
    /// - Returns: Nil if it cannot be inserted.
    func insertAwake(_ home: EntityHome, ofClass place: Int) -> ObjectHandle? {
        guard let handle = make(home, ofClass: place) else { return nil }
        handle.core.pointee.insert(.awake)
        return insert(handle) ? handle : nil
    }

    /// Makes an object in no context, with its declared defaults, without a call of an initializer of its class.
    ///
    /// The parameters are those of `insertAwake`.
    func make(_ home: EntityHome, ofClass place: Int) -> ObjectHandle? {
        guard let type = home.type else { return nil }
        let object = type.classes[place].makeFault()
        _ = type.coreOffset(of: object)
        if type.family != nil { type.settle(object) }
        return home.handle(of: object)
    }

    /// Inserts a new object and all objects that it reaches: iteratively, because a chain may be longer than the stack
    /// is deep.
    private func attach(_ handle: ObjectHandle, _ home: EntityHome, isInitial: Bool = false) {
        guard !context.owner.isAbandoned, LifecycleCalls(context).mayRearrange("insert") else { return }
        enter(handle, home)
        if isInitial {
            handle.core.pointee.insert(.initializing)
            context.pending.forgetUnfinished = { ObjectInsertion($0).forgetUnfinished($1, $2, $3) }
            if context.homes.haveLifecycles { context.pending.unawakened.append(handle) }
        }
        if let type = home.type, type.family != nil {
            // The object may be saved before the initializer of a superclass ends.
            type.settle(handle.object)
        }
        guard handle.core.pointee.extraIfPresent != nil else {
            if context.homes.haveLifecycles, !isInitial { LifecycleCalls(context).awake(handle) }
            return
        }
        let isFirst = context.pending.arriving.isEmpty
        context.pending.arriving.append(handle)
        guard isFirst else { return }
        var place = 0
        while place < context.pending.arriving.count {
            settle(context.pending.arriving[place])
            place += 1
        }
        let arrived = context.homes.haveLifecycles ? context.pending.arriving : []
        context.pending.arriving.removeAll()
        for arrived in arrived where !isInitial || arrived.object !== handle.object {
            LifecycleCalls(context).awake(arrived)
        }
    }

    /// Whether an object that is related to one of this context is inserted too: not if a migration stage names each
    /// new object, and may drop it.
    var takesRelatedObjects: Bool {
        !context.owner.isAbandoned && !context.rules.refusesUpserts && !context.rules.isSavedByStage
    }

    /// Calls the lifecycle code of objects that were inserted while their initializers ran.
    func awakeArrived() {
        let handles = context.pending.unawakened
        context.pending.unawakened.removeAll()
        handles.forEach(LifecycleCalls(context).awake)
    }

    /// Forgets an object whose initializer failed after it had been related to an object of the context.
    ///
    /// - Parameters:
    ///   - number: Its temporary number.
    ///   - draft: Its values.
    ///   - home: Its home.
    func forgetUnfinished(_ number: UInt64, _ draft: Draft, _ home: EntityHome) {
        // The places of those that were let go count the objects of the list.
        context.pending.bringBack()
        let reference = ObjectReference(number: number, isTemporary: true)
        for slot in home.entity?.toOneSlots ?? [] {
            guard case .toOne(let relationship)? = home.entity?.slots[slot],
                case .toOne(let inverse) = relationship.inverse,
                let partner = ObjectRegistry(context).partner(
                    ObjectReference(bits: draft.toOne(slot)), context.homes[relationship.destination]),
                partner.reference(in: inverse) == reference
            else { continue }
            _ = RelationshipEditor(context).write(partner, inverse, ObjectReference(bits: 0))
        }
        context.pending.relationships.forget([reference])
        context.pending.unawakened.removeAll { $0.reference == reference }
        context.pending.living.removeAll { $0.reference == reference }
        context.memberArrays.removeAll()
        if !context.hasChanges { context.noteSaved() }
    }

    private func enter(_ handle: ObjectHandle, _ home: EntityHome) {
        handle.core.pointee.settleAllDetached()
        if let family = home.type?.family, let type = handle.classType {
            handle.core.pointee.enterFamily(family, type, home.layout)
        }
        _ = Unmanaged.passUnretained(context).retain()
        let number = handle.core.pointee.number
        handle.core.pointee.attach(
            to: Unmanaged.passUnretained(home), number: number == 0 ? TemporaryNumber.next() : number)
        if handle.core.pointee.draftPointer == nil {
            handle.core.pointee.draftPointer = Draft.create(layout: home.type?.layout ?? home.layout).block
        }
        if handle.core.pointee.hasExtra { handle.core.pointee.enterObservation() }
        if context.rules.spillsLargeValues { handle.core.pointee.spillLargeValues() }
        context.pending.living.append(handle)
        context.noteUnsaved()
    }

    /// Makes the relationships that an object was given before it was in a context.
    private func settle(_ handle: ObjectHandle) {
        guard handle.core.pointee.hasExtra, let extra = handle.core.pointee.extraIfPresent else { return }
        handle.core.pointee.remove(.changed)
        if let refusal = extra.refusal {
            extra.refusal = nil
            if let slot = refusal.slot {
                context.refuseSave(refusal.error, handle, slot)
            } else {
                context.refuseSave(refusal.error)
            }
        }
        handle.core.pointee.settleBlobs()
        for referrer in extra.takeReferrers() { referrer.object().map { _ = insert($0) } }
        extra.targets.forEach { slot, node in
            if let target = node.object() { RelationshipEditor(context).setTarget(of: handle, slot, to: target) }
        }
        for (slot, members) in extra.members.sorted(by: { $0.key < $1.key }) {
            // Members that joined from their own side stay.
            let wanted = (members.objects(of: nil) + MemberReader(context).memberObjects(of: handle, slot)).compactMap {
                ($0 as? any PersistentModel).map(ObjectHandle.init(erased:))
            }
            RelationshipEditor(context).setMembers(of: handle, slot, to: wanted)
        }
        extra.leaveNodes()
        extra.graph = nil
        if extra.givenValues.isEmpty { handle.core.pointee.dropExtra() }
    }
}
