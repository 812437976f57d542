internal import FaultlineLog
internal import FaultlineStore

// To-many relationships as arrays that are kept between accesses, and changed in place.

extension ContextCore {
    // MARK: Reading

    /// The members of a to-many slot: stored ones, with unsaved changes applied.
    ///
    /// - Complexity: O(members); O(1) from the third access on, while neither the members nor the context's state
    ///   changes.
    func members<T: PersistentModel>(of core: inout ModelCore, _ slot: Int, as type: T.Type) -> [T] {
        let owner = ObjectHandle(core: &core)
        guard let (key, relationship) = collection(owner, slot), holds(type, relationship.destination) else {
            return MemberReader(self).memberObjects(of: owner, slot).compactMap { $0 as? T }
        }
        guard reports.accounting == nil else {
            return MemberArray.typed(MemberReader(self).memberObjects(of: owner, slot))
        }
        renewMemberArrays()
        if let array = memberArrays.existing(key) { return MemberArray.typed(array.members) }
        let members = MemberReader(self).memberObjects(of: owner, slot)
        if keepsMemberArrays, !owner.core.pointee.has(.gone) { memberArrays.noteRead(members, key) }
        return MemberArray.typed(members)
    }

    /// Moves on if the context's snapshot was taken, so that no array is older than the state it reads.
    private func renewMemberArrays() {
        do throws(LogError) {
            try beginReading()
            endReading()
        } catch {
            // Collecting the members reports that the state cannot be read.
            memberArrays.removeAll()
        }
    }

    private func collection(_ owner: ObjectHandle, _ slot: Int) -> (MemberArrays.Key, ToManyStorage)? {
        guard let entity = owner.core.pointee.home.takeUnretainedValue().entity,
            case .toMany(let relationship) = entity.slots[slot]
        else { return nil }
        return (.init(entity: entity.ordinal, slot: slot, owner: owner.reference), relationship)
    }

    /// Whether the objects of an entity belong to a class.
    private func holds<T: PersistentModel>(_ type: T.Type, _ ordinal: Int) -> Bool {
        homes[ordinal].type.map { ObjectIdentifier($0.type) == ObjectIdentifier(type) } == true
    }

    /// Whether arrays may be kept: they keep their members alive, and so the context, until the user's context is gone.
    private var keepsMemberArrays: Bool { !owner.isAbandoned && userContext != nil }

    // MARK: Changing in place

    /// Lends the members of a to-many slot for a change in place.
    func lendMembers<T: PersistentModel>(of owner: ObjectHandle, _ slot: Int, as type: T.Type) -> [T] {
        guard let (key, relationship) = collection(owner, slot), holds(type, relationship.destination) else {
            return members(of: &owner.core.pointee, slot, as: type)
        }
        renewMemberArrays()
        if let array = memberArrays.existing(key) {
            memberArrays.noteChange(key)
            return MemberArray.typed(array.lend())
        }
        let array = MemberArray(MemberReader(self).memberObjects(of: owner, slot))
        if keepsMemberArrays, !owner.core.pointee.has(.gone) { memberArrays.enter(array, key) }
        return MemberArray.typed(array.lend())
    }

    /// Takes over the members of a to-many slot after a change in place.
    ///
    /// - Parameters:
    ///   - members: The array; empty afterwards, so that its memory has one owner.
    ///   - owner: The object.
    ///   - slot: The to-many slot.
    /// - Complexity: O(appended members) if the change appended; else O(members).
    func returnMembers<T: PersistentModel>(_ members: inout [T], to owner: ObjectHandle, _ slot: Int) {
        var returned = MemberArray.takeErased(&members)
        guard let (key, relationship) = collection(owner, slot),
            let entity = owner.core.pointee.home.takeUnretainedValue().entity
        else { return }
        let isOutermost = errors.refusals.begin(owner, slot)
        defer { errors.refusals.end(isOutermost) }
        func assign() {
            RelationshipEditor(self).setMembers(
                of: owner, slot,
                // Safe because the members come from an array of `T`.
                to: returned.map { ObjectHandle(unsafeDowncast($0, to: T.self)) })
        }
        guard let array = memberArrays.existing(key), array.isLent, !rules.keepsGivenOrder,
            !owner.core.pointee.has(.gone)
        else { return assign() }
        let collection = ChangedCollection(
            owner: owner, entity: entity, slot: slot, relationship: relationship, key: key)
        switch array.change(to: returned) {
        case .none:
            _ = array.takeBack(returned, hadCount: returned.count)
        case .cut(let count):
            cut(array, to: count, collection)
            if memberArrays.existing(key) === array { _ = array.takeBack(returned, hadCount: returned.count) }
        case .appended(let first):
            // Safe because the array was one of T.
            let tail = returned[first...].map { ObjectHandle(unsafeDowncast($0, to: T.self)) }
            if !append(tail, to: &returned, array, collection) { assign() }
        case .other: assign()
        }
    }

    /// A to-many relationship of one object, during a change of its members.
    private struct ChangedCollection {
        let owner: ObjectHandle
        let entity: EntityStorage
        let slot: Int
        let relationship: ToManyStorage
        let key: MemberArrays.Key
    }

    private func cut(_ array: MemberArray, to count: Int, _ collection: ChangedCollection) {
        let destination = homes[collection.relationship.destination]
        for object in array.settled[count...].reversed() {
            guard let member = destination.handle(of: object) else { continue }
            RelationshipEditor(self).unlink(
                collection.owner, collection.entity, collection.slot, collection.relationship, member)
        }
    }

    /// Adds the appended members of an array.
    ///
    /// - Returns: False if the members must be compared one by one.
    private func append(
        _ tail: [ObjectHandle], to returned: inout [AnyObject], _ array: MemberArray, _ collection: ChangedCollection
    ) -> Bool {
        let first = array.settled.count
        // Neither an alias nor a deleted object is a member itself.
        for (place, member) in tail.enumerated()
        where member.object !== returned[first + place] || member.core.pointee.isDeleted { return false }
        var repeated: [Int] = []
        for (place, member) in tail.enumerated() where isMember(member, array, collection) {
            repeated.append(first + place)
        }
        for member in tail {
            guard RelationshipEditor(self).adopt(member) else {
                // Refused as a whole, as an assignment is.
                memberArrays.drop(collection.key)
                return true
            }
        }
        for member in tail where !isMember(member, array, collection) {
            RelationshipEditor(self).link(
                collection.owner, collection.entity, collection.slot, collection.relationship, member)
        }
        // The new members may have removed others.
        guard memberArrays.existing(collection.key) === array else { return false }
        for place in repeated.reversed() { returned.remove(at: place) }
        guard array.endsAlike(returned, from: first) else {
            array.takeBackSettled()
            return true
        }
        if array.takeBack(returned, hadCount: first) { memberArrays.noteUncompared(collection.key) }
        return true
    }

    private func isMember(_ member: ObjectHandle, _ array: MemberArray, _ collection: ChangedCollection) -> Bool {
        guard member.core.pointee.has(.attached) else { return false }
        return switch collection.relationship.members {
        case .inverse(let inverse, _): member.reference(in: inverse) == collection.owner.reference
        case .link: array.contains(member.object)
        }
    }

    // MARK: Comparing

    /// Compares arrays that were changed in place: called before any state is read that they may change.
    @inline(__always)
    func settleMembers() { if memberArrays.hasUncompared { compareMembers() } }

    @inline(never)
    private func compareMembers() {
        for (key, array) in memberArrays.takeUncompared() where !array.compare() {
            let home = homes[key.entity]
            let owner =
                key.owner.isTemporary
                ? pending.insertedObject(key.owner.number)
                : ObjectRegistry(self).anyObject(key.owner.number, home).flatMap { home.handle(of: $0) }
            guard let owner, let (_, relationship) = collection(owner, key.slot) else { continue }
            let destination = homes[relationship.destination]
            RelationshipEditor(self).setMembers(
                of: owner, key.slot,
                to: array.members.compactMap { object in
                    destination.type.map { ObjectHandle(erased: $0.asModel(object)) }
                })
        }
    }

    /// Drops arrays with objects of an entity, because one of them is deleted, or no longer to be deleted.
    func forgetMemberArrays(of home: ObjectHome) {
        guard let ordinal = home.entity?.ordinal else { return }
        memberArrays.dropAll(of: ordinal) { key in
            guard case .toMany(let relationship) = store.storage.entities[key.entity].slots[key.slot] else {
                return nil
            }
            return relationship.destination
        }
    }
}

extension ObjectHandle {
    /// The handle of an object whose class is known only at run time; for an alias, the handle of its canonical object.
    init(erased model: any PersistentModel) {
        func open<T: PersistentModel>(_ model: T) -> ObjectHandle { ObjectHandle(model) }
        self = open(model)
    }
}
