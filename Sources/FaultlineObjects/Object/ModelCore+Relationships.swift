internal import FaultlineLog
internal import FaultlineStore

// The relationship overloads of the methods that the macro's accessors call.

extension ModelCore {
    // MARK: To one

    /// The target of a to-one slot, a fault if it is not loaded; nil for nil and for a deleted target.
    public mutating func value<V: PersistentModel>(_ slot: Int) -> V? { target(slot) as? V }

    /// The same for a class that is known only at run time.
    @inline(__always)
    mutating func target(_ slot: Int) -> AnyObject? {
        noteRead(slot)
        guard has(.attached) else { return detachedTarget(slot)?.object }
        guard let context else { return nil }
        context.settleMembers()
        return MemberReader(context).target(of: &self, slot)
    }

    /// The target of a required to-one slot.
    ///
    /// A missing target is reported to the context; the result is then a new object with placeholders.
    public mutating func value<V: PersistentModel>(_ slot: Int) -> V {
        if let found: V = value(slot) { return found }
        report(.missingTarget(slot: slot))
        // A required target that is missing: a new object in no context, with placeholders for values.
        return V._$modelType.makeFault() as? V ?? standInOrEnd(slot)
    }

    /// Sets the target of a to-one slot and updates its inverse; if one of both objects is in a context, the other one
    /// is inserted into it.
    public mutating func setValue<V: PersistentModel>(_ slot: Int, to value: V?) {
        // Not `map`, which is not specialised here and copies through witness tables.
        var target: ObjectHandle?
        if let value { target = ObjectHandle(value) }
        setTarget(slot, target)
    }

    /// The same for an object whose class is known only at run time.
    @inline(__always)
    mutating func setTarget(_ slot: Int, _ target: ObjectHandle?) {
        guard has(.attached), let context else {
            setDetachedTarget(slot, target)
            return
        }
        context.settleMembers()
        InsertSpilling(context).runIfDue()
        RelationshipEditor(context).setTarget(of: ObjectHandle(core: &self), slot, to: target)
    }

    /// Sets the target of a required to-one slot and updates its inverse.
    public mutating func setValue<V: PersistentModel>(_ slot: Int, to value: V) {
        setValue(slot, to: Optional(value))
    }

    /// Sets a new object's to-one property to its first target; a fault being made ignores it.
    ///
    /// A target in a context inserts the object into that context.
    public mutating func initialize<V: PersistentModel>(_ slot: Int, to value: V?) {
        guard _$beginInitialValue() else { return }
        var target: ObjectHandle?
        if let value { target = ObjectHandle(value) }
        if has(.attached), let context {
            RelationshipEditor(context).setTarget(of: ObjectHandle(core: &self), slot, to: target)
        } else {
            setDetachedTarget(slot, target, isInitial: true)
        }
    }

    /// Sets a new object's required to-one property to its first target; a fault being made ignores it.
    public mutating func initialize<V: PersistentModel>(_ slot: Int, to value: V) {
        initialize(slot, to: Optional(value))
    }

    // MARK: To many

    /// The members of a to-many slot, in their order if the relationship has one; members that are not loaded are
    /// faults.
    public mutating func value<C: RelationshipCollection>(_ slot: Int) -> C {
        noteRead(slot)
        guard has(.attached), let context else {
            settleDetached(slot)
            return C._$make(MemberArray.typed(extraIfPresent?.members[slot]?.objects(of: node) ?? []))
        }
        context.settleMembers()
        return C._$make(context.members(of: &self, slot, as: C.PersistentElement.self))
    }

    /// Sets the members of a to-many slot and updates their inverses; if one of the objects is in a context, the others
    /// are inserted into it.
    public mutating func setValue<C: RelationshipCollection>(_ slot: Int, to value: C) {
        setMembers(slot, value._$members.map { ObjectHandle($0) })
    }

    /// The same for objects whose class is known only at run time.
    mutating func setMembers(_ slot: Int, _ members: [ObjectHandle]) {
        guard has(.attached), let context else { return setDetachedMembers(slot, members) }
        context.settleMembers()
        InsertSpilling(context).runIfDue()
        RelationshipEditor(context).setMembers(of: ObjectHandle(core: &self), slot, to: members)
    }

    /// Sets a new object's to-many property to its first members; a fault being made ignores it.
    ///
    /// A member in a context inserts the object, and the other members, into that context.
    public mutating func initialize<C: RelationshipCollection>(_ slot: Int, to value: C) {
        guard _$beginInitialValue() else { return }
        let members = value._$members
        guard !members.isEmpty else { return }
        if has(.attached), let context {
            context.settleMembers()
            RelationshipEditor(context).setMembers(
                of: ObjectHandle(core: &self), slot, to: members.map { ObjectHandle($0) })
        } else {
            setDetachedMembers(slot, members.map { ObjectHandle($0) }, isInitial: true)
        }
    }

    /// Lends the members of a to-many slot for a change in place, until `endChangeInPlace`.
    ///
    /// During the change the property and the inverses show the members before it.
    public mutating func beginChangeInPlace<C: RelationshipCollection>(_ slot: Int) -> C {
        noteRead(slot)
        guard has(.attached), let context else { return C._$make(MemberArray.typed(lendDetached(slot))) }
        return C._$make(context.lendMembers(of: ObjectHandle(core: &self), slot, as: C.PersistentElement.self))
    }

    /// Ends a change in place of a to-many slot and updates the inverses; also called after a change that threw.
    ///
    /// - Complexity: O(appended members) if it only appended; else O(members).
    public mutating func endChangeInPlace<C: RelationshipCollection>(_ slot: Int, _ value: inout C) {
        var members = value._$members
        value = C._$make([])
        guard has(.attached), let context else { return returnDetached(&members, slot) }
        context.returnMembers(&members, to: ObjectHandle(core: &self), slot)
    }

    /// Reads an attribute that is an array, for a change in place.
    @_disfavoredOverload
    public mutating func beginChangeInPlace<V: Codable>(_ slot: Int) -> V { value(slot) }

    /// Sets an attribute that is an array, after a change in place.
    @_disfavoredOverload
    public mutating func endChangeInPlace<V: Codable>(_ slot: Int, _ value: inout V) { setValue(slot, to: value) }
}

extension ObjectHandle {
    /// The handle of an object; for an alias, the handle of its canonical object.
    init<T: PersistentModel>(_ model: T) {
        T._$modelType.learnCoreOffset(of: model)
        let core = model._$coreAddress()
        if core.pointee.has(.alias), let canonical = core.pointee.canonical {
            self = canonical
        } else {
            self.init(object: model, core: core)
        }
    }

    /// The handle of the object that a core belongs to; for an alias, the handle of its canonical object.
    init(core: inout ModelCore) {
        if core.has(.alias), let canonical = core.canonical {
            self = canonical
            return
        }
        let address = core.objectAddress
        // Safe because the core is in the object at that address, which is alive: one of its accessors is running.
        let pointer = UnsafeRawPointer(bitPattern: address).unsafelyUnwrapped
        self.init(
            object: Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue(),
            core: withUnsafeMutablePointer(to: &core) { $0 })
    }
}
