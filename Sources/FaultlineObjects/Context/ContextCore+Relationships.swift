internal import FaultlineLog
internal import FaultlineStore

extension ContextCore {
    // MARK: To one

    /// The target of a to-one slot.
    func target(of core: inout ModelCore, _ slot: Int) -> AnyObject? {
        let home = core.home.takeUnretainedValue()
        guard case .toOne(let relationship)? = home.entity?.slots[slot] else { return nil }
        let reference = ObjectReference(bits: core.read({ $0.toOne(slot) }, { $0.toOne(slot) }) ?? 0)
        if accounting != nil, !reference.isNil, !reference.isTemporary {
            noteReached(CollectionOfOne(reference.number), by: slot, of: core)
        }
        return object(reference, homes[relationship.destination])
    }

    /// The object that a reference leads to; nil for a nil reference, and for a deleted object.
    func object(_ reference: ObjectReference, _ home: EntityHome) -> AnyObject? {
        if reference.isNil { return nil }
        if reference.isTemporary {
            return insertedObject(reference.number).flatMap { $0.core.pointee.isDeleted ? nil : $0.object }
        }
        let found = registeredObject(reference.number, home)
        if let found {
            guard let handle = handle(of: found, home), !handle.core.pointee.isDeleted else { return nil }
            if !state.mayHaveDeletedFaults || !handle.core.pointee.isFault { return found }
        }
        // A reference to a missing row is nil: `docs/Faulting.md` says when references dangle.
        guard let entity = home.entity else { return nil }
        if let deletion = saving.deletion, deletion.isDoomed(reference, entity.ordinal) { return nil }
        do throws(LogError) {
            try beginReading()
            defer { endReading() }
            guard try !snapshot.location(of: reference.number, in: entity.table).isAbsent else { return nil }
        } catch {
            report(error)
            return nil
        }
        return found ?? anyObject(reference.number, home)
    }

    func handle(of object: AnyObject, _ home: EntityHome) -> ObjectHandle? {
        guard let type = home.type else { return nil }
        let start = UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())
        return UnsafeMutablePointer<ModelCore>(bitPattern: start + UInt(type.coreOffset(of: object))).map {
            ObjectHandle(object: object, core: $0)
        }
    }

    /// Sets a to-one slot and keeps its inverse.
    func setTarget(of owner: ObjectHandle, _ slot: Int, to target: ObjectHandle?) {
        let home = owner.core.pointee.home.takeUnretainedValue()
        guard let entity = home.entity, case .toOne(let relationship) = entity.slots[slot] else { return }
        let isOutermost = errors.refusals.begin(owner, slot)
        defer { errors.refusals.end(isOutermost) }
        errors.refusals.settle(owner.core, slot)
        guard beginChanging() else { return }
        defer { endReading() }
        if let target, !adopt(target) { return }
        let old = reference(of: owner, slot)
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
            if let partner = partner(old, homes[relationship.destination]) {
                _ = write(partner, inverse, ObjectReference(bits: 0))
            }
            guard let target else { break }
            if let rival = partner(reference(of: target, inverse), home) {
                _ = write(rival, slot, ObjectReference(bits: 0))
            }
            _ = write(target, inverse, owner.reference)
        }
    }

    /// The object that a reference leads to, including one that is to be deleted: delete rules use its references at
    /// that time.
    func partner(_ reference: ObjectReference, _ home: EntityHome) -> ObjectHandle? {
        if reference.isTemporary { return insertedObject(reference.number) }
        if !reference.isNil, let found = registeredObject(reference.number, home).flatMap({ handle(of: $0, home) }) {
            return found.core.pointee.has(.gone) ? nil : found
        }
        return object(reference, home).flatMap { handle(of: $0, home) }
    }

    /// Begins a change that reads stored values of other objects; false if they cannot be read: then nothing is
    /// changed, and the next save throws.
    private func beginChanging() -> Bool {
        do throws(LogError) {
            try beginReading()
            return true
        } catch {
            refuseSave(error)
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
        memberArrays.join(member, key)
    }

    private func leave(_ member: ObjectHandle, _ key: PendingRelationships.Key) {
        changingDelta(key).remove(member.reference)
        memberArrays.leave(member, key)
    }

    /// The current reference in a to-one slot.
    func reference(of handle: ObjectHandle, _ slot: Int) -> ObjectReference {
        ObjectReference(bits: handle.core.pointee.read({ $0.toOne(slot) }, { $0.toOne(slot) }) ?? 0)
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
        if !handle.core.pointee.has(.attached) { return insert(handle) }
        if handle.core.pointee.context === self { return !refusesAbsent(handle) }
        refuseSave(
            SwiftDataError.modelValidationFailure.explained(
                "A relationship was set to an object of another context. Fetch the object in this context, by its persistentModelID."
            ))
        return false
    }

    // MARK: To many

    /// Collects the members of a to-many slot: stored ones, with unsaved changes applied.
    func memberObjects(of owner: ObjectHandle, _ slot: Int) -> [AnyObject] {
        let home = owner.core.pointee.home.takeUnretainedValue()
        guard let entity = home.entity, case .toMany(let relationship) = entity.slots[slot] else { return [] }
        // Objects that still name a deleted object are no members.
        guard !owner.core.pointee.has(.gone) else {
            if owner.core.pointee.has(.absent) { reportAbsence(of: owner.core.pointee.number, home.entityName) }
            return []
        }
        let key = PendingRelationships.Key(entity: entity.ordinal, slot: slot, owner: owner.reference)
        let delta = pending.relationships.existing(key)
        let destination = homes[relationship.destination]
        if let assigned = delta?.assigned {
            let members = assigned.handles.filter { !$0.core.pointee.isDeleted }.map(\.object)
            walked.collectedMembers += members.count
            return members
        }
        var members: [AnyObject] = []
        defer { walked.collectedMembers += members.count }
        if !owner.core.pointee.has(.temporary) {
            do {
                let numbers = try storedMembers(of: owner.core.pointee.number, relationship)
                if accounting != nil { noteReached(numbers, by: slot, of: owner.core.pointee) }
                for number in numbers {
                    let reference = ObjectReference(number: number, isTemporary: false)
                    // Members that left, and members that were also added elsewhere, which are at the end.
                    if let delta, delta.isMember(reference) != nil { continue }
                    if let object = object(reference, destination) { members.append(object) }
                }
            } catch {
                noteUnreadable(&owner.core.pointee, error)
            }
        }
        if let delta {
            members.append(contentsOf: delta.added.handles.lazy.filter { !$0.core.pointee.isDeleted }.map(\.object))
        }
        return members
    }

    /// Numbers of the members that the index of a to-many relationship has for an owner, in their order.
    func storedMembers(of owner: RecordID, _ relationship: ToManyStorage) throws -> [RecordID] {
        try beginReading()
        defer { endReading() }
        let numbers = try snapshot.members(of: owner, in: relationship.members.index)
        walked.indexEntries += numbers.count
        return numbers
    }

    /// Sets the members of a to-many slot and updates their inverses.
    func setMembers(of owner: ObjectHandle, _ slot: Int, to newMembers: [ObjectHandle]) {
        let home = owner.core.pointee.home.takeUnretainedValue()
        guard let entity = home.entity, case .toMany(let relationship) = entity.slots[slot] else { return }
        let isOutermost = errors.refusals.begin(owner, slot)
        defer { errors.refusals.end(isOutermost) }
        errors.refusals.settle(owner.core, slot)
        if refusesAbsent(owner) || owner.core.pointee.refusesAsDeletedElsewhere() { return }
        guard !owner.core.pointee.has(.gone), beginChanging() else { return }
        defer { endReading() }
        var wanted: [ObjectHandle] = []
        var seen: Set<ObjectIdentifier> = []
        for member in newMembers where seen.insert(ObjectIdentifier(member.object)).inserted {
            guard adopt(member) else { return }
            wanted.append(member)
        }
        let destination = homes[relationship.destination]
        let key = PendingRelationships.Key(entity: entity.ordinal, slot: slot, owner: owner.reference)
        memberArrays.drop(key)
        let old = memberObjects(of: owner, slot)
        let oldSet = Set(old.map(ObjectIdentifier.init))
        for object in old where !seen.contains(ObjectIdentifier(object)) {
            guard let member = handle(of: object, destination) else { continue }
            unlink(owner, entity, slot, relationship, member)
        }
        for member in wanted where !oldSet.contains(ObjectIdentifier(member.object)) {
            link(owner, entity, slot, relationship, member)
        }
        changingDelta(key).assign(wanted)
        memberArrays.drop(key)
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
        pending.relationships.setLink(.init(table: side.table, left: left, right: right), isPresent: isPresent)
        let own = PendingRelationships.Key(entity: entity.ordinal, slot: slot, owner: owner.reference)
        if isPresent { join(member, own) } else { leave(member, own) }
        guard inverse >= 0 else { return }
        let other = PendingRelationships.Key(entity: destination, slot: inverse, owner: member.reference)
        if isPresent { join(owner, other) } else { leave(owner, other) }
    }
}
