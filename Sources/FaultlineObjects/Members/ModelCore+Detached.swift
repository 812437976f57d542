// Relationships between objects in no context: both sides retain each other.

extension ModelCore {
    // MARK: To one

    /// The target of an object in no context; nil for none.
    mutating func detachedTarget(_ slot: Int) -> ObjectHandle? {
        guard let target = extraIfPresent?.targets[slot] else { return nil }
        // If its members were changed in place, they decide whether it is still the target.
        guard let partner = target.core.pointee.extraIfPresent, partner.hasUncompared,
            let inverse = home._withUnsafeGuaranteedRef({ $0.type?.inverse(of: slot) }), !inverse.isToOne
        else { return target }
        target.core.pointee.settleDetached(inverse.slot)
        return extraIfPresent?.targets[slot]
    }

    /// Sets the target; a target in a context inserts the object into that context.
    mutating func setDetachedTarget(_ slot: Int, _ target: ObjectHandle?, isInitial: Bool = false) {
        if let target {
            if target.core.pointee.has(.attached), let own = join(target, isInitial: isInitial) {
                own.core.pointee.context.map { RelationshipEditor($0).setTarget(of: own, slot, to: target) }
                return
            }
            _ = _$beginInitialValue()
            guard target.core.pointee.has(.attached) || !hasExtra || target.object !== detachedTarget(slot)?.object
            else { return }
        }
        let old = detachedTarget(slot)
        if target == nil, old == nil { return }
        noteChange(slot)
        extra.targets[slot] = target
        guard old?.core.pointee.has(.attached) == false || target?.core.pointee.has(.attached) == false else { return }
        connectDetached(slot, leaving: old.map { [$0] } ?? [], joining: target.map { [$0] } ?? [])
    }

    // MARK: To many

    /// Sets the members; a duplicate counts once, and a member in a context inserts the object into that context.
    mutating func setDetachedMembers(_ slot: Int, _ given: [ObjectHandle], isInitial: Bool = false) {
        if let first = given.first(where: { $0.core.pointee.has(.attached) }) {
            // A change in place that lent the members is over.
            if let array = extraIfPresent?.members[slot], array.isLent { array.takeBackSettled() }
            if let own = join(first, isInitial: isInitial) {
                own.core.pointee.context.map { RelationshipEditor($0).setMembers(of: own, slot, to: given) }
                return
            }
        }
        _ = _$beginInitialValue()
        var new: Set<ObjectIdentifier> = []
        let members = given.filter { new.insert(ObjectIdentifier($0.object)).inserted }
        let old = extra.members[slot]?.settled ?? []
        noteChange(slot)
        extra.members[slot] = MemberArray(members.map(\.object))
        let known = Set(old.map { ObjectIdentifier($0) })
        let left = old.compactMap { new.contains(ObjectIdentifier($0)) ? nil : $0 as? any PersistentModel }
        connectDetached(
            slot, leaving: left.map { ObjectHandle(erased: $0) },
            joining: members.filter { !known.contains(ObjectIdentifier($0.object)) })
    }

    /// Adds a member at the end; false if it is a member already.
    mutating func appendDetached(_ slot: Int, _ member: ObjectHandle) -> Bool {
        settleDetached(slot)
        guard let array = extraIfPresent?.members[slot] else {
            setDetachedMembers(slot, [member])
            return true
        }
        guard !isDetachedMember(member, array, slot) else { return false }
        if member.core.pointee.has(.attached) {
            setDetachedMembers(slot, Self.handles(array.settled) + [member])
            return true
        }
        _ = _$beginInitialValue()
        noteChange(slot)
        array.append(member.object)
        connectDetached(slot, leaving: [], joining: [member])
        return true
    }

    /// Whether an object is a member: decided by its own side, if that is to-one.
    private func isDetachedMember(_ member: ObjectHandle, _ array: MemberArray, _ slot: Int) -> Bool {
        let inverse = home._withUnsafeGuaranteedRef { $0.type?.inverse(of: slot) }
        guard let inverse, inverse.isToOne, !member.core.pointee.has(.attached) else {
            return array.contains(member.object)
        }
        guard let target = member.core.pointee.extraIfPresent?.targets[inverse.slot] else { return false }
        return target.core.pointee.extraIfPresent?.members[slot] === array
    }

    /// Lends the members for a change in place.
    mutating func lendDetached(_ slot: Int) -> [AnyObject] {
        let array = extra.members[slot] ?? MemberArray([])
        extra.members[slot] = array
        return array.lend()
    }

    /// Takes over the members after a change in place.
    mutating func returnDetached<T: PersistentModel>(_ members: inout [T], _ slot: Int) {
        var returned = MemberArray.takeErased(&members)
        func handle(_ object: AnyObject) -> ObjectHandle {
            // Safe because the array was one of T.
            ObjectHandle(unsafeDowncast(object, to: T.self))
        }
        guard let array = extraIfPresent?.members[slot], array.isLent else {
            return setDetachedMembers(slot, returned.map(handle))
        }
        switch array.change(to: returned) {
        case .none: _ = array.takeBack(returned, hadCount: returned.count)
        case .cut, .other: setDetachedMembers(slot, returned.map(handle))
        case .appended(let first) where returned[first...].contains { handle($0).core.pointee.has(.attached) }:
            setDetachedMembers(slot, returned.map(handle))
        case .appended(let first):
            _ = _$beginInitialValue()
            var repeated: [Int] = []
            for (place, member) in zip(first..., returned[first...].map(handle)) {
                if isDetachedMember(member, array, slot) {
                    repeated.append(place)
                    continue
                }
                noteChange(slot)
                array.append(member.object)
                connectDetached(slot, leaving: [], joining: [member])
            }
            for place in repeated.reversed() { returned.remove(at: place) }
            guard extraIfPresent?.members[slot] === array, array.endsAlike(returned, from: first) else {
                return array.takeBackSettled()
            }
            if array.takeBack(returned, hadCount: first) { extra.hasUncompared = true }
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
        guard let array = extraIfPresent?.members[slot], !array.isLent, !array.compare() else { return }
        setDetachedMembers(slot, Self.handles(array.members))
    }

    private static func handles(_ objects: [AnyObject]) -> [ObjectHandle] {
        objects.compactMap { ($0 as? any PersistentModel).map(ObjectHandle.init(erased:)) }
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
        // Read through the handle from here on: the context changes the core through its address.
        let own = ObjectHandle(core: &self)
        ObjectInsertion(context).insert(own, isInitial: isInitial)
        return own.core.pointee.has(.attached) ? own : nil
    }

    /// Members that were compared since they were last assigned.
    package func comparedMembers(_ slot: Int) -> Int { extraIfPresent?.members[slot]?.comparedCount ?? 0 }

    // MARK: Inverses

    /// Updates the inverse of a relationship, if both objects are in no context; for others the insertion does so.
    private mutating func connectDetached(_ slot: Int, leaving left: [ObjectHandle], joining joined: [ObjectHandle]) {
        func isDetached(_ partner: ObjectHandle) -> Bool { !partner.core.pointee.has(.attached) }
        guard left.contains(where: isDetached) || joined.contains(where: isDetached) else { return }
        let own = ObjectHandle(core: &self)
        extra.connected = UInt(bitPattern: Unmanaged.passUnretained(own.object).toOpaque())
        guard let inverse = home._withUnsafeGuaranteedRef({ $0.type?.inverse(of: slot) }) else {
            for partner in left { partner.core.pointee.extraIfPresent?.removeReferrer(own) }
            for partner in joined where isDetached(partner) {
                partner.core.pointee.extra.referrers.append(Referrer(own))
            }
            return
        }
        for partner in left where isDetached(partner) {
            partner.core.pointee.settleDetached(inverse.slot)
            partner.core.pointee.noteChange(inverse.slot)
            partner.core.pointee.extraIfPresent?.disconnect(inverse.slot, own)
        }
        for partner in joined where isDetached(partner) {
            let extra = partner.core.pointee.extra
            partner.core.pointee.noteChange(inverse.slot)
            if inverse.isToOne {
                // Removed from its previous owner.
                if let rival = extra.targets[inverse.slot], rival.object !== own.object {
                    rival.core.pointee.settleDetached(slot)
                    rival.core.pointee.noteChange(slot)
                    rival.core.pointee.extraIfPresent?.disconnect(slot, partner)
                }
                extra.targets[inverse.slot] = own
            } else {
                partner.core.pointee.settleDetached(inverse.slot)
                if let array = extra.members[inverse.slot] {
                    array.append(own.object)
                } else {
                    extra.members[inverse.slot] = MemberArray([own.object])
                }
            }
        }
    }
}

extension ObjectExtra {
    /// Removes a partner from a to-one or to-many slot.
    fileprivate func disconnect(_ slot: Int, _ partner: ObjectHandle) {
        if targets[slot]?.object === partner.object { targets[slot] = nil }
        guard let array = members[slot], !array.removeLast(partner.object) else { return }
        array.remove { $0 === partner.object }
    }
}
