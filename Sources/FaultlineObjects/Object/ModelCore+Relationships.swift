internal import FaultlineLog
internal import FaultlineStore

// The relationship overloads of what the macro's accessors call.

extension ModelCore {
    // MARK: To one

    /// The target of a to-one slot, a fault if it was not loaded yet; nil for nil and for a target that was deleted.
    public mutating func value<V: PersistentModel>(_ slot: Int) -> V? {
        noteRead(slot)
        guard has(.attached) else { return extraIfPresent?.targets[slot]?.object as? V }
        guard let context, let found = context.target(of: &self, slot) else { return nil }
        return found as? V
    }

    /// The target of a required to-one slot.
    ///
    /// One that is not there is reported to the context; the answer is then an object of its own, with stand-ins for
    /// values.
    public mutating func value<V: PersistentModel>(_ slot: Int) -> V {
        if let found: V = value(slot) { return found }
        report(.missingTarget(slot: slot))
        // A required target that is not there: an object of its own, in no context, with stand-ins for values.
        return V._$modelType.makeFault() as? V ?? standInOrEnd(slot)
    }

    /// Sets the target of a to-one slot and keeps its inverse; an object in a context takes its target into it.
    public mutating func setValue<V: PersistentModel>(_ slot: Int, to value: V?) {
        // Not `map`, which is not specialised here and copies through witness tables.
        var target: ObjectHandle?
        if let value { target = ObjectHandle(value) }
        guard has(.attached), let context else {
            setDetachedTarget(slot, target)
            return
        }
        context.setTarget(of: ObjectHandle(core: &self), slot, to: target)
    }

    /// Sets the target of a required to-one slot and keeps its inverse.
    public mutating func setValue<V: PersistentModel>(_ slot: Int, to value: V) {
        setValue(slot, to: Optional(value))
    }

    /// Gives a new object's to-one property its first target; a fault being made ignores it.
    ///
    /// The inverse follows when the object is inserted.
    public mutating func initialize<V: PersistentModel>(_ slot: Int, to value: V?) {
        guard _$beginInitialValue() else { return }
        if let value { setDetachedTarget(slot, ObjectHandle(value)) } else { setDetachedTarget(slot, nil) }
    }

    /// Gives a new object's required to-one property its first target; a fault being made ignores it.
    public mutating func initialize<V: PersistentModel>(_ slot: Int, to value: V) {
        initialize(slot, to: Optional(value))
    }

    private mutating func setDetachedTarget(_ slot: Int, _ target: ObjectHandle?) {
        if let target {
            _ = _$beginInitialValue()
            guard target.core.pointee.has(.attached) || !hasExtra || target.object !== extra.targets[slot]?.object
            else { return }
        }
        let old = hasExtra ? extra.targets[slot] : nil
        if target == nil, old == nil { return }
        noteChange(slot)
        extra.targets[slot] = target
        guard old?.core.pointee.has(.attached) == false || target?.core.pointee.has(.attached) == false else { return }
        connectDetached(slot, leaving: old.map { [$0] } ?? [], joining: target.map { [$0] } ?? [])
    }

    // MARK: To many

    /// The members of a to-many slot, in their order where the relationship has one; those not loaded yet are faults.
    public mutating func value<C: RelationshipCollection>(_ slot: Int) -> C {
        noteRead(slot)
        guard has(.attached), let context else {
            let members = extraIfPresent?.members[slot] ?? []
            return C._$make(members.compactMap { $0 as? C.PersistentElement })
        }
        return C._$make(context.members(of: &self, slot, as: C.PersistentElement.self))
    }

    /// Sets the members of a to-many slot and keeps their inverses; an object in a context takes its members into it.
    public mutating func setValue<C: RelationshipCollection>(_ slot: Int, to value: C) {
        guard has(.attached), let context else {
            setDetachedMembers(slot, value._$members)
            return
        }
        context.setMembers(of: ObjectHandle(core: &self), slot, to: value._$members.map { ObjectHandle($0) })
    }

    /// Gives a new object's to-many property its first members; a fault being made ignores it.
    ///
    /// The inverses follow when the object is inserted.
    public mutating func initialize<C: RelationshipCollection>(_ slot: Int, to value: C) {
        guard _$beginInitialValue() else { return }
        let members = value._$members
        if !members.isEmpty { setDetachedMembers(slot, members) }
    }

    private mutating func setDetachedMembers<T: PersistentModel>(_ slot: Int, _ members: [T]) {
        _ = _$beginInitialValue()
        let old = extra.members[slot] ?? []
        noteChange(slot)
        extra.members[slot] = members
        let new = Set(members.map { ObjectIdentifier($0) })
        var known = Set(old.map { ObjectIdentifier($0) })
        let left = old.compactMap { $0 as? T }.filter { !new.contains(ObjectIdentifier($0)) }
        let joined = members.filter { known.insert(ObjectIdentifier($0)).inserted }
        connectDetached(slot, leaving: left.map { ObjectHandle($0) }, joining: joined.map { ObjectHandle($0) })
    }

    // MARK: Inverses outside of contexts

    /// Makes the inverse of a relationship say the same, where both objects are in no context; the insertion makes it
    /// for the others.
    private mutating func connectDetached(_ slot: Int, leaving left: [ObjectHandle], joining joined: [ObjectHandle]) {
        let partners = left + joined
        guard partners.contains(where: { !$0.core.pointee.has(.attached) }),
            let inverse = home._withUnsafeGuaranteedRef({ $0.type?.inverse(of: slot) })
        else { return }
        let own = ObjectHandle(core: &self)
        extra.connected = UInt(bitPattern: Unmanaged.passUnretained(own.object).toOpaque())
        for partner in left where !partner.core.pointee.has(.attached) {
            partner.core.pointee.noteChange(inverse.slot)
            partner.core.pointee.extraIfPresent?.disconnect(inverse.slot, own)
        }
        for partner in joined where !partner.core.pointee.has(.attached) {
            let extra = partner.core.pointee.extra
            partner.core.pointee.noteChange(inverse.slot)
            if inverse.isToOne {
                // Taken away from the one that had it.
                if let rival = extra.targets[inverse.slot], rival.object !== own.object {
                    rival.core.pointee.noteChange(slot)
                    rival.core.pointee.extraIfPresent?.disconnect(slot, partner)
                }
                extra.targets[inverse.slot] = own
            } else {
                extra.members[inverse.slot, default: []].append(own.object)
            }
        }
    }
}

extension ObjectExtra {
    /// Takes a partner out of a slot, to one or to many.
    fileprivate func disconnect(_ slot: Int, _ partner: ObjectHandle) {
        if targets[slot]?.object === partner.object { targets[slot] = nil }
        members[slot]?.removeAll { $0 === partner.object }
    }
}

extension ObjectHandle {
    /// The handle of an object; of an alias, that of the object it stands for.
    init<T: PersistentModel>(_ model: T) {
        T._$modelType.learnCoreOffset(of: model)
        let core = model._$coreAddress()
        if core.pointee.has(.alias), let canonical = core.pointee.extraIfPresent?.canonical {
            self = canonical
        } else {
            self.init(object: model, core: core)
        }
    }

    /// The handle of the object that a core belongs to; of an alias, that of the object it stands for.
    init(core: inout ModelCore) {
        if core.has(.alias), let canonical = core.extraIfPresent?.canonical {
            self = canonical
            return
        }
        let address = core.objectAddress
        // Safe because the core lies in the object at that address, which is alive: one of its accessors is running.
        let pointer = UnsafeRawPointer(bitPattern: address).unsafelyUnwrapped
        self.init(
            object: Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue(),
            core: withUnsafeMutablePointer(to: &core) { $0 })
    }
}
