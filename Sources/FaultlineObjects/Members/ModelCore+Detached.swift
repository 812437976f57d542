// Relationships between objects in no context: both sides lead to each other by the nodes of their graph.

extension ModelCore {
    // MARK: To one

    /// The target of an object in no context; nil for none.
    mutating func detachedTarget(_ slot: Int) -> ObjectHandle? {
        guard let target = extraIfPresent?.targets[slot]?.object() else { return nil }
        // If its members were changed in place, they decide whether it is still the target.
        guard let partner = target.core.pointee.extraIfPresent, partner.hasUncompared,
            let inverse = inverse(of: slot), !inverse.isToOne
        else { return target }
        target.core.pointee.settleDetached(inverse.slot)
        return extraIfPresent?.targets[slot]?.object()
    }

    /// Sets the target; a target in a context inserts the object into that context.
    mutating func setDetachedTarget(_ slot: Int, _ target: ObjectHandle?, isInitial: Bool = false) {
        let type = modelType
        if let target, target.core.pointee.has(.attached), let own = join(target, isInitial: isInitial) {
            let slot = own.core.pointee.joinedSlot(slot, of: type)
            own.core.pointee.context.map { RelationshipEditor($0).setTarget(of: own, slot, to: target) }
            return
        }
        if target != nil { _ = _$beginInitialValue() } else if extraIfPresent?.targets[slot] == nil { return }
        ObjectHandle(core: &self).setDetachedTarget(slot, target)
    }

    // MARK: To many

    /// Sets the members; a duplicate counts once, and a member in a context inserts the object into that context.
    mutating func setDetachedMembers(_ slot: Int, _ given: [ObjectHandle], isInitial: Bool = false) {
        if let first = given.first(where: { $0.core.pointee.has(.attached) }) {
            // A change in place that lent the members is over.
            if let array = extraIfPresent?.members[slot]?.array, array.isLent { array.takeBackSettled() }
            let type = modelType
            if let own = join(first, isInitial: isInitial) {
                let slot = own.core.pointee.joinedSlot(slot, of: type)
                own.core.pointee.context.map { RelationshipEditor($0).setMembers(of: own, slot, to: given) }
                return
            }
        }
        _ = _$beginInitialValue()
        ObjectHandle(core: &self).setDetachedMembers(slot, given)
    }

    /// Adds a member at the end; false if it is a member already.
    mutating func appendDetached(_ slot: Int, _ member: ObjectHandle) -> Bool {
        settleDetached(slot)
        guard let members = extraIfPresent?.members[slot] else {
            setDetachedMembers(slot, [member])
            return true
        }
        guard !isDetachedMember(member, members, slot) else { return false }
        if member.core.pointee.has(.attached) {
            setDetachedMembers(slot, members.settled + [member])
            return true
        }
        _ = _$beginInitialValue()
        ObjectHandle(core: &self).appendDetached(slot, member, to: members)
        return true
    }

    /// Whether an object is a member: decided by its own side, if that is to-one.
    fileprivate func isDetachedMember(_ member: ObjectHandle, _ members: DetachedMembers, _ slot: Int) -> Bool {
        guard let inverse = inverse(of: slot), inverse.isToOne, !member.core.pointee.has(.attached) else {
            return members.contains(member, of: node)
        }
        guard let node, let target = member.core.pointee.extraIfPresent?.targets[inverse.slot] else { return false }
        return target === node
    }

    /// Lends the members for a change in place.
    mutating func lendDetached(_ slot: Int) -> [AnyObject] {
        let members = extra.members[slot] ?? DetachedMembers()
        extra.members[slot] = members
        return members.lend(of: node)
    }

    /// Takes over the members after a change in place.
    mutating func returnDetached<T: PersistentModel>(_ members: inout [T], _ slot: Int) {
        var returned = MemberArray.takeErased(&members)
        func handle(_ object: AnyObject) -> ObjectHandle {
            // Safe because the array was one of T.
            ObjectHandle(unsafeDowncast(object, to: T.self))
        }
        guard let members = extraIfPresent?.members[slot], let array = members.array, array.isLent else {
            return setDetachedMembers(slot, returned.map(handle))
        }
        switch array.change(to: returned) {
        case .none: _ = array.takeBack(returned, hadCount: returned.count)
        case .appended(let first) where !returned[first...].contains { handle($0).core.pointee.has(.attached) }:
            _ = _$beginInitialValue()
            let appended = returned[first...].map(handle)
            ObjectHandle(core: &self).takeAppended(slot, members, array, &returned, from: first, appended)
        case .cut, .appended, .other: setDetachedMembers(slot, returned.map(handle))
        }
    }

    /// Compares members that were changed in place, if that was deferred.
    @inline(__always)
    mutating func settleDetached(_ slot: Int) {
        if hasExtra, extraIfPresent?.hasUncompared == true { compareDetached(slot) }
    }

    /// Compares the members of all slots, before the object is inserted into a context.
    mutating func settleAllDetached() {
        guard hasExtra, let extra = extraIfPresent, extra.hasUncompared else { return }
        for slot in extra.members.keys.sorted() { compareDetached(slot) }
    }

    @inline(never)
    private mutating func compareDetached(_ slot: Int) {
        guard let array = extraIfPresent?.members[slot]?.array, !array.isLent, !array.compare() else { return }
        let members = array.members.compactMap { ($0 as? any PersistentModel).map(ObjectHandle.init(erased:)) }
        setDetachedMembers(slot, members)
    }

    fileprivate func inverse(of slot: Int) -> ModelType.Inverse? {
        home._withUnsafeGuaranteedRef { $0.type?.inverse(of: slot) }
    }

    // MARK: Joining a context

    /// Inserts the object into the context of an object that it is being related to.
    ///
    /// - Parameters:
    ///   - partner: An object in a context.
    ///   - isInitial: Whether the object's initializer is still running.
    /// - Returns: The object; nil if it cannot be in that context, so that the next save throws, or if the context is
    ///   gone.
    private mutating func join(_ partner: ObjectHandle, isInitial: Bool) -> ObjectHandle? {
        guard !partner.core.pointee.has(.gone), let context = partner.core.pointee.context,
            ObjectInsertion(context).takesRelatedObjects
        else { return nil }
        _ = _$beginInitialValue()
        context.settleMembers()
        InsertSpilling(context).runIfDue()
        // Read through the handle from here on: the context changes the core through its address.
        let own = ObjectHandle(core: &self)
        ObjectInsertion(context).insert(own, isInitial: isInitial)
        return own.core.pointee.has(.attached) ? own : nil
    }

    /// Members that were compared since they were last assigned.
    package func comparedMembers(_ slot: Int) -> Int { extraIfPresent?.members[slot]?.array?.comparedCount ?? 0 }
}

// Changes that put an object into a graph, or another graph: by its handle, because they change its core by its address.
extension ObjectHandle {
    private var isDetached: Bool { !core.pointee.has(.attached) }

    fileprivate func setDetachedTarget(_ slot: Int, _ target: ObjectHandle?) {
        let old = core.pointee.detachedTarget(slot)
        if target?.isDetached != false, target?.object === old?.object { return }
        core.pointee.noteChange(slot)
        // An object in a context leads to no detached one, so a reference to it needs no graph.
        core.pointee.extra.setTarget(
            slot, target.map { $0.isDetached ? DetachedGraph.node(of: $0, besides: self) : DetachedNode(attached: $0) })
        connect(slot, leaving: old.map { [$0] } ?? [], joining: target.map { [$0] } ?? [])
    }

    fileprivate func setDetachedMembers(_ slot: Int, _ given: [ObjectHandle]) {
        var new: Set<ObjectIdentifier> = []
        let members = given.filter { new.insert(ObjectIdentifier($0.object)).inserted }
        let old = core.pointee.extraIfPresent?.members[slot]?.settled ?? []
        core.pointee.noteChange(slot)
        let made = DetachedMembers()
        for member in members { made.append(member, besides: self) }
        core.pointee.extra.setMembers(slot, made, of: core.pointee.node)
        let known = Set(old.map { ObjectIdentifier($0.object) })
        connect(
            slot, leaving: old.filter { !new.contains(ObjectIdentifier($0.object)) },
            joining: members.filter { !known.contains(ObjectIdentifier($0.object)) })
    }

    fileprivate func appendDetached(_ slot: Int, _ member: ObjectHandle, to members: DetachedMembers) {
        core.pointee.noteChange(slot)
        members.append(member, besides: self)
        connect(slot, leaving: [], joining: [member])
    }

    /// Ends a change in place that has appended members.
    fileprivate func takeAppended(
        _ slot: Int, _ members: DetachedMembers, _ array: MemberArray, _ returned: inout [AnyObject],
        from first: Int, _ appended: [ObjectHandle]
    ) {
        var repeated: [Int] = []
        for (place, member) in zip(first..., appended) {
            if core.pointee.isDetachedMember(member, members, slot) {
                repeated.append(place)
            } else {
                appendDetached(slot, member, to: members)
            }
        }
        for place in repeated.reversed() { returned.remove(at: place) }
        if core.pointee.extraIfPresent?.members[slot] !== members || !array.endsAlike(returned, from: first) {
            array.takeBackSettled()
        } else if array.takeBack(returned, hadCount: first) {
            core.pointee.extra.hasUncompared = true
        }
        members.settleArray(of: core.pointee.node)
    }

    /// Updates the inverse of a relationship, if both objects are in no context; for others the insertion does so.
    private func connect(_ slot: Int, leaving left: [ObjectHandle], joining joined: [ObjectHandle]) {
        guard let inverse = core.pointee.inverse(of: slot) else {
            guard let node = core.pointee.node else { return }
            for partner in left { partner.core.pointee.extraIfPresent?.removeReferrer(node) }
            for partner in joined where partner.isDetached { partner.core.pointee.extra.addReferrer(node) }
            return
        }
        for partner in left where partner.isDetached {
            partner.core.pointee.settleDetached(inverse.slot)
            partner.disconnect(inverse.slot, self)
        }
        for partner in joined where partner.isDetached {
            if inverse.isToOne { partner.leaveRival(inverse.slot, slot, for: self) }
            partner.core.pointee.settleDetached(inverse.slot)
            partner.core.pointee.noteChange(inverse.slot)
            let extra = partner.core.pointee.extra
            if inverse.isToOne {
                extra.setTarget(inverse.slot, DetachedGraph.node(of: self, besides: partner))
            } else {
                let members = extra.members[inverse.slot] ?? DetachedMembers()
                extra.members[inverse.slot] = members
                members.append(self, besides: partner)
            }
        }
    }

    /// Removes the object from its previous owner, which another one succeeds.
    private func leaveRival(_ slot: Int, _ inverse: Int, for successor: ObjectHandle) {
        guard let rival = core.pointee.extraIfPresent?.targets[slot]?.object(), rival.object !== successor.object else {
            return
        }
        rival.core.pointee.settleDetached(inverse)
        rival.disconnect(inverse, self)
    }

    /// Removes a partner from a to-one or to-many slot.
    private func disconnect(_ slot: Int, _ partner: ObjectHandle) {
        core.pointee.noteChange(slot)
        guard let extra = core.pointee.extraIfPresent else { return }
        if extra.targets[slot]?.leads(to: partner) == true { extra.setTarget(slot, nil) }
        extra.members[slot]?.remove(from: core.pointee.node) { $0.leads(to: partner) }
    }
}

extension DetachedMembers {
    /// Adds a member at the end, which is in one graph with the owner from now on.
    fileprivate func append(_ member: ObjectHandle, besides owner: ObjectHandle) {
        let node = DetachedGraph.node(of: member, besides: owner)
        if let owner = owner.core.pointee.node { append(member, node, to: owner) }
    }
}
