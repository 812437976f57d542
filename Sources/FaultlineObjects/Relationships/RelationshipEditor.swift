internal import FaultlineLog
internal import FaultlineStore

/// Changes the relationships of a context's objects, and keeps both sides of each.
struct RelationshipEditor {
    let context: ContextCore

    @inline(__always)
    init(_ context: ContextCore) { self.context = context }

    @inline(__always) private var members: MemberReader { MemberReader(context) }

    // MARK: To one

    /// Sets a to-one slot and keeps its inverse.
    func setTarget(of owner: ObjectHandle, _ slot: Int, to target: ObjectHandle?) {
        guard let home = owner.core.pointee.contextHome?.takeUnretainedValue(), let entity = home.entity,
            case .toOne(let relationship) = entity.slots[slot]
        else { return }
        let isOutermost = context.errors.refusals.begin(owner, slot)
        defer { context.errors.refusals.end(isOutermost) }
        context.errors.refusals.settle(owner.core, slot)
        guard beginChanging() else { return }
        defer { context.endReading() }
        if let target, !adopt(target) { return }
        let old = owner.reference(in: slot)
        if owner.core.pointee.refusesAsDeletedElsewhere() { return }
        let new = target?.reference ?? ObjectReference(bits: 0)
        guard old != new else { return }
        guard write(owner, slot, new) else { return }
        switch relationship.inverse {
        case .none:
            break
        case .toMany(let inverse):
            noteMember(owner, leaving: old, joining: new, relationship.destination, inverse)
        case .toOne(let inverse):
            if let partner = ObjectRegistry(context).partner(old, context.homes[relationship.destination]) {
                _ = write(partner, inverse, ObjectReference(bits: 0))
            }
            guard let target else { break }
            if let rival = ObjectRegistry(context).partner(target.reference(in: inverse), home) {
                _ = write(rival, slot, ObjectReference(bits: 0))
            }
            _ = write(target, inverse, owner.reference)
        }
    }

    /// Begins a change that reads stored values of other objects; false if they cannot be read: then nothing is
    /// changed, and the next save throws.
    private func beginChanging() -> Bool {
        do throws(LogError) {
            try context.beginReading()
            return true
        } catch {
            context.refuseSave(error)
            return false
        }
    }

    /// Records that a to-one slot's owner moves from one to-many collection to another.
    func noteMember(
        _ member: ObjectHandle, leaving old: ObjectReference, joining new: ObjectReference, _ entity: Int, _ slot: Int
    ) {
        if !old.isNil { leave(member, .init(entity: entity, slot: slot, owner: old)) }
        if !new.isNil { join(member, .init(entity: entity, slot: slot, owner: new)) }
    }

    private func join(_ member: ObjectHandle, _ key: PendingRelationships.Key) {
        changingDelta(key).add(member)
        context.memberArrays.join(member, key)
    }

    private func leave(_ member: ObjectHandle, _ key: PendingRelationships.Key) {
        changingDelta(key).remove(member.reference)
        context.memberArrays.leave(member, key)
    }

    /// Writes a to-one slot, and nothing else.
    ///
    /// Returns false without an error for an object on the other side that another save has deleted: its reference is
    /// gone with it.
    func write(_ handle: ObjectHandle, _ slot: Int, _ reference: ObjectReference) -> Bool {
        guard !handle.core.pointee.isFoundDeletedElsewhere() else { return false }
        guard handle.core.pointee._$beginChange(slot) else { return false }
        handle.core.pointee.write {
            $0.setToOne(slot, reference.bits)
            // The position in the old collection has no meaning in the new one.
            if $0.orderKey(slot) != nil { $0.setOrderKey(slot, nil) }
        }
        return true
    }

    /// Inserts an object into this context if it is in none; false if it is in another.
    func adopt(_ handle: ObjectHandle) -> Bool {
        if !handle.core.pointee.has(.attached) { return ObjectInsertion(context).insert(handle) }
        if handle.core.pointee.context === context { return !ObjectRegistry(context).refusesAbsent(handle) }
        context.refuseSave(
            SwiftDataError.modelValidationFailure.explained(
                "A relationship was set to an object of another context. Fetch the object in this context, by its persistentModelID."
            ))
        return false
    }

    // MARK: To many

    /// Sets the members of a to-many slot and updates their inverses.
    func setMembers(of owner: ObjectHandle, _ slot: Int, to newMembers: [ObjectHandle]) {
        let home = owner.core.pointee.home.takeUnretainedValue()
        guard let entity = home.entity, case .toMany(let relationship) = entity.slots[slot] else { return }
        let isOutermost = context.errors.refusals.begin(owner, slot)
        defer { context.errors.refusals.end(isOutermost) }
        context.errors.refusals.settle(owner.core, slot)
        if ObjectRegistry(context).refusesAbsent(owner) || owner.core.pointee.refusesAsDeletedElsewhere() { return }
        guard !owner.core.pointee.has(.gone), beginChanging() else { return }
        defer { context.endReading() }
        var wanted: [ObjectHandle] = []
        var seen: Set<ObjectIdentifier> = []
        for member in newMembers where seen.insert(ObjectIdentifier(member.object)).inserted {
            guard adopt(member) else { return }
            wanted.append(member)
        }
        let destination = context.homes[relationship.destination]
        let key = PendingRelationships.Key(entity: entity.ordinal, slot: slot, owner: owner.reference)
        context.memberArrays.drop(key)
        let old = members.memberObjects(of: owner, slot)
        let oldSet = Set(old.map(ObjectIdentifier.init))
        for object in old where !seen.contains(ObjectIdentifier(object)) {
            guard let member = destination.handle(of: object) else { continue }
            unlink(owner, entity, slot, relationship, member)
        }
        for member in wanted where !oldSet.contains(ObjectIdentifier(member.object)) {
            link(owner, entity, slot, relationship, member)
        }
        changingDelta(key).assign(wanted)
        context.memberArrays.drop(key)
    }

    /// Adds an object that is not in a to-many slot, at its end.
    func link(
        _ owner: ObjectHandle, _ entity: EntityStorage, _ slot: Int, _ relationship: ToManyStorage,
        _ member: ObjectHandle
    ) {
        switch relationship.members {
        case .inverse(let inverse, _):
            setTarget(of: member, inverse, to: owner)
        case .link(let side, let inverse):
            setLink(owner, entity, slot, side, inverse, member, relationship.destination, isPresent: true)
        }
    }

    /// Removes a member from a to-many slot.
    func unlink(
        _ owner: ObjectHandle, _ entity: EntityStorage, _ slot: Int, _ relationship: ToManyStorage,
        _ member: ObjectHandle
    ) {
        switch relationship.members {
        case .inverse(let inverse, _):
            setTarget(of: member, inverse, to: nil)
        case .link(let side, let inverse):
            setLink(owner, entity, slot, side, inverse, member, relationship.destination, isPresent: false)
        }
    }

    private func setLink(
        _ owner: ObjectHandle, _ entity: EntityStorage, _ slot: Int, _ side: LinkSide, _ inverse: Int,
        _ member: ObjectHandle, _ destination: Int, isPresent: Bool
    ) {
        let left = side.isLeft ? owner.reference : member.reference
        let right = side.isLeft ? member.reference : owner.reference
        context.pending.relationships.setLink(.init(table: side.table, left: left, right: right), isPresent: isPresent)
        let own = PendingRelationships.Key(entity: entity.ordinal, slot: slot, owner: owner.reference)
        if isPresent { join(member, own) } else { leave(member, own) }
        guard inverse >= 0 else { return }
        let other = PendingRelationships.Key(entity: destination, slot: inverse, owner: member.reference)
        if isPresent { join(owner, other) } else { leave(owner, other) }
    }

    /// The delta of a collection that is about to change.
    func changingDelta(_ key: PendingRelationships.Key) -> PendingRelationships.Delta {
        if !context.observations.isEmpty { ChangeNotifier(context).noteChange(of: key) }
        context.noteUnsaved()
        return context.pending.relationships.delta(key)
    }

    // MARK: One member

    /// Adds an object at the end of a to-many slot; false if it is there already, or cannot be added.
    func addMember(_ member: ObjectHandle, to owner: ObjectHandle, _ slot: Int) throws -> Bool {
        guard let (entity, relationship) = members.toMany(owner, slot) else { return false }
        let isOutermost = context.errors.refusals.begin(owner, slot)
        defer { context.errors.refusals.end(isOutermost) }
        try context.beginReading()
        defer { context.endReading() }
        guard try isThere(owner, entity) else {
            context.refuseNextSave(
                SwiftDataError.modelValidationFailure.explained(
                    "A member was given to \(entity.name) \(owner.core.pointee.number), which is not in the store any more."
                ))
            return false
        }
        guard adopt(member), try !members.hasMember(owner, slot, member) else { return false }
        link(owner, entity, slot, relationship, member)
        return true
    }

    /// Removes an object from a to-many slot; false if it is not there.
    func removeMember(_ member: ObjectHandle, from owner: ObjectHandle, _ slot: Int) throws -> Bool {
        guard let (entity, relationship) = members.toMany(owner, slot) else { return false }
        try context.beginReading()
        defer { context.endReading() }
        guard try members.hasMember(owner, slot, member) else { return false }
        unlink(owner, entity, slot, relationship, member)
        return true
    }

    /// Whether an object is unsaved, or in the state of the store that the context reads.
    private func isThere(_ handle: ObjectHandle, _ entity: EntityStorage) throws -> Bool {
        if handle.core.pointee.has(.temporary) { return true }
        if handle.core.pointee.has(.gone) { return false }
        return try !context.snapshot.location(of: handle.core.pointee.number, in: entity.table).isAbsent
    }
}
