internal import FaultlineLog
internal import FaultlineStore

extension Save {
    /// The collections that this save takes members from, and that another save has added them to since the context has
    /// read them.
    func unseenLosers(in transaction: borrowing Transaction) throws -> Set<PendingRelationships.Key> {
        var losers: Set<PendingRelationships.Key> = []
        for handle in context.pending.changed where !handle.core.pointee.has(.deleted) {
            guard let entity = handle.core.pointee.home.takeUnretainedValue().entity,
                let draft = handle.core.pointee.draft
            else { continue }
            for index in entity.memberIndexes where draft.isChanged(index.slot) {
                guard case .toOne(let relationship) = entity.slots[index.slot],
                    case .toMany(let inverse) = relationship.inverse,
                    store.storage.entities[relationship.destination].boundedSlots.contains(inverse),
                    try !transaction.location(of: handle.core.pointee.number, in: entity.table).isAbsent
                else { continue }
                let owner = try writer.targets(
                    of: handle.core.pointee.number, entity, [index.slot], in: transaction)[0]
                let reference = ObjectReference(number: owner, isTemporary: false)
                let key = PendingRelationships.Key(
                    entity: relationship.destination, slot: inverse, owner: reference)
                guard owner != 0, owner != draft.toOne(index.slot),
                    context.pending.relationships.existing(key)?.removed.contains(handle.reference) != true
                else { continue }
                losers.insert(key)
            }
        }
        return losers
    }

    /// Checks the collections of new objects that may replace a stored object: they keep its members.
    mutating func checkMergedCounts(in transaction: borrowing Transaction) throws {
        for (place, handle) in context.pending.living.enumerated() where numbers[place] != 0 {
            guard let entity = handle.core.pointee.home.takeUnretainedValue().entity, !entity.uniqueIndexes.isEmpty
            else { continue }
            for slot in entity.boundedSlots where handle.core.pointee.has(slot, of: entity) {
                guard case .toMany(let relationship) = entity.slots[slot] else { continue }
                let destination = store.storage.entities[relationship.destination]
                // Others may have deleted some of them; and the entries of a collection without an inverse outlast their
                // objects.
                var stored = StoredTargets()
                var members: Set<ObjectReference> = []
                for member in MemberReader(context).memberObjects(of: handle, slot) {
                    guard let reference = context.homes[destination.ordinal].handle(of: member)?.reference,
                        try reference.isTemporary || stored.has(reference.number, destination, in: transaction)
                    else { continue }
                    members.insert(reference)
                }
                let kept =
                    upserts.contains(place)
                    ? try MemberReader(context).storedMembers(
                        of: numbers[place], in: relationship.members.index, transaction) : []
                for member in kept where try stored.has(member.number, destination, in: transaction) {
                    let reference = ObjectReference(number: member.number, isTemporary: false)
                    if deletion?.isDoomed(reference, relationship.destination) != true { members.insert(reference) }
                }
                if let finding = MemberCountCheck(context).finding(handle.reference, entity, slot, members.count) {
                    findings.add(finding)
                }
            }
        }
    }
}
