internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

/// Checks minimum and maximum numbers of members, as a save does: `minimumModelCount`, `maximumModelCount`.
struct MemberCountCheck {
    let context: ContextCore

    init(_ context: ContextCore) { self.context = context }

    /// Finds the collections changed by this save that have too few or too many members.
    ///
    /// A new object that may replace a stored one is left to `checkMergedCounts`.
    ///
    /// - Parameters:
    ///   - walk: The objects that are deleted.
    ///   - losing: Collections that lose members to the deletion.
    ///   - unseen: Collections that the save takes members from, and that do not list them in this context.
    ///   - state: The state to count in.
    /// - Returns: A finding for each collection.
    /// - Throws: The store's error if it cannot be read.
    func miscountedCollections(
        _ walk: DeletionWalk, _ losing: [(owner: DeletionWalk.Subject, slot: Int)],
        _ unseen: Set<PendingRelationships.Key>, in state: borrowing some StoredState & ~Copyable
    ) throws -> FindingList {
        var findings = FindingList()
        var seen: Set<PendingRelationships.Key> = []
        func check(_ owner: DeletionWalk.Subject, _ slot: Int) throws {
            let key = PendingRelationships.Key(entity: owner.entity.ordinal, slot: slot, owner: owner.reference)
            guard !walk.isDoomed(owner.reference, owner.entity.ordinal), seen.insert(key).inserted,
                !owner.reference.isTemporary || owner.entity.uniqueIndexes.isEmpty
            else { return }
            let count = try walk.remainingCount(of: owner, slot, in: state)
            if let finding = finding(owner.reference, owner.entity, slot, count) { findings.add(finding) }
        }
        for handle in context.pending.living {
            guard let subject = walk.subject(handle) else { continue }
            for slot in subject.entity.boundedSlots where handle.core.pointee.has(slot, of: subject.entity) {
                try check(subject, slot)
            }
        }
        for (key, _) in context.pending.relationships.inOrder
        where context.store.storage.entities[key.entity].boundedSlots.contains(key.slot) {
            // New owners were among the inserted objects.
            guard !key.owner.isTemporary, try walk.isThere(key.owner, key.entity, in: state) else { continue }
            try check(walk.subject(key.owner.number, key.entity), key.slot)
        }
        for (owner, slot) in losing { try check(owner, slot) }
        for key in unseen { try check(walk.subject(key.owner.number, key.entity), key.slot) }
        return findings
    }

    func finding(
        _ owner: ObjectReference, _ entity: EntityStorage, _ slot: Int, _ count: Int
    ) -> ValidationFinding? {
        guard case .toMany(let relationship) = entity.slots[slot], !relationship.bounds.allow(count) else { return nil }
        let property = context.propertyName(slot, of: entity)
        let bounds = relationship.bounds
        let isTooFew = count < bounds.least
        if isTooFew, context.rules.defersLeastCounts { return nil }
        let rule =
            isTooFew ? "minimumModelCount is \(bounds.least)" : "maximumModelCount is \(bounds.greatest)"
        return ValidationFinding(
            context.identifier(of: owner, entity), property, isTooFew ? .minimumModelCount : .maximumModelCount,
            "\(entity.name).\(property) has \(count) objects, and its \(rule)")
    }
}
