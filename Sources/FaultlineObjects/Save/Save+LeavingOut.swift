internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

// Handles new objects that do not replace the object with their unique values.

extension Save {
    /// Applies a policy to a new object whose unique values other objects have; false if there are none.
    mutating func meetsConflict(
        _ position: Int, _ entity: EntityStorage, _ policy: UniquenessPolicy, in transaction: inout Transaction
    ) throws -> Bool {
        guard let draft = context.pending.living[position].core.pointee.draft else { return false }
        let coming = policy == .ignore ? try comingKeys(entity, in: transaction) : [:]
        let conflicts = try writer.holders(of: draft, entity, coming: coming, in: transaction)
        guard !conflicts.isEmpty else { return false }
        let loser = LosingInserts.Loser(position: position, conflicts: conflicts, isLeftOut: policy == .ignore)
        losing.add(loser, entity)
        if loser.isLeftOut { try leaveOut(loser, entity, in: &transaction) }
        return true
    }

    /// The unique keys that stored objects of an entity have once their unsaved changes are written.
    private mutating func comingKeys(
        _ entity: EntityStorage, in transaction: borrowing Transaction
    ) throws -> [UniqueKey: RecordID] {
        guard !context.pending.changed.isEmpty else { return [:] }
        if let known = losing.comingKeys[entity.ordinal] { return known }
        var keys: [UniqueKey: RecordID] = [:]
        try context.pending.changed.forEachKept { _, core, changed in
            guard changed === entity, let draft = core.pointee.draft else { return }
            let number = core.pointee.number
            for key in try writer.updatedKeys(of: draft, id: number, entity, in: transaction) { keys[key] = number }
        }
        losing.comingKeys[entity.ordinal] = keys
        return keys
    }

    /// Notes the new objects that are refused because others have their unique values.
    mutating func noteRefusedInserts() {
        guard !losing.isEmpty else { return }
        for loser in losing.inOrder where !loser.isLeftOut {
            guard let entity = entity(ofInsert: loser.position) else { continue }
            let core = context.pending.living[loser.position].core
            for conflict in loser.conflicts { noteDuplicate(conflict, core, entity) }
        }
    }

    // MARK: Leaving out

    /// Leaves a new object out of the save, with the new objects that its delete rules delete.
    private mutating func leaveOut(
        _ loser: LosingInserts.Loser, _ entity: EntityStorage, in transaction: inout Transaction
    ) throws {
        if deletion == nil { take(DeletionWalk(context)) }
        guard let walk = deletion else { return }
        losing.begin(walk)
        for handle in mark(loser, entity, walk) {
            if let position = numbers.position(handle.reference, context.pending.living), numbers[position] != 0 {
                try withdraw(position, walk, in: &transaction)
            }
        }
    }

    /// Marks an object that is left out, and those that go with it.
    private mutating func mark(
        _ loser: LosingInserts.Loser, _ entity: EntityStorage, _ walk: DeletionWalk
    ) -> [ObjectHandle] {
        let holders = Set(loser.conflicts.map(\.holder))
        let left = walk.leaveOut(context.pending.living[loser.position]) { reference in
            guard let position = numbers.position(reference, context.pending.living) else { return true }
            // A follower that took a stored object's place already is an update of that one; and an object does not
            // take along the one that it has lost to.
            return upserts.contains(position)
                || holders.contains(numbers[position]) && self.entity(ofInsert: position) === entity
        }
        context.memberArrays.removeAll()
        for handle in left { handle.core.pointee.insert(.deleted) }
        walk.marked += left
        return left
    }

    /// Takes number and unique keys back from a new object that is left out although it had them.
    ///
    /// New objects that had lost to it, or have taken its place, are looked at again.
    private mutating func withdraw(
        _ position: Int, _ walk: DeletionWalk, in transaction: inout Transaction
    ) throws {
        guard let entity = entity(ofInsert: position) else { return }
        let owner = KeyOwner(entity: entity.ordinal, number: numbers[position])
        let holder = keyHolders.removeValue(forKey: owner) ?? KeyHolder(position: position)
        if let draft = context.pending.living[holder.position].core.pointee.draft {
            try draft.withTargets(holder.kept) {
                try writer.removeKeys($0, id: owner.number, entity, in: &transaction)
            }
        }
        numbers[position] = 0
        for joined in upserts where numbers[joined] == owner.number && self.entity(ofInsert: joined) === entity {
            numbers[joined] = 0
            upserts.remove(joined)
            losing.again.insert(joined)
        }
        let losers = losing.takeLosers(to: owner)
        losing.again.formUnion(losers.map(\.position))
        if losers.contains(where: \.isLeftOut) { bringBack(walk) }
    }

    /// Lets the walk have the objects again that are left out still; the others are looked at again.
    private mutating func bringBack(_ walk: DeletionWalk) {
        let before = losing.takeMarksBack(walk)
        for loser in losing.inOrder where loser.isLeftOut {
            if let entity = entity(ofInsert: loser.position) { _ = mark(loser, entity, walk) }
        }
        for handle in before where !handle.core.pointee.has(.deleted) {
            if let position = numbers.position(handle.reference, context.pending.living) {
                losing.again.insert(position)
            }
        }
    }

    private func entity(ofInsert position: Int) -> EntityStorage? {
        context.pending.living[position].core.pointee.home.takeUnretainedValue().entity
    }
}

extension ContextCore {
    /// The policy of a new object, by its temporary number.
    @inline(__always)
    func uniquenessPolicy(of number: UInt64) -> UniquenessPolicy {
        if stage != nil { return .update }
        if pending.policies.ofInserts.isEmpty { return pending.policies.uniqueness }
        return pending.policies.ofInserts[number] ?? pending.policies.uniqueness
    }
}
