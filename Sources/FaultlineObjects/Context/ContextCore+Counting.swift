internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

// Least and greatest numbers of members, as a save checks them: `minimumModelCount`, `maximumModelCount`.

extension ContextCore {
    /// Says which collections that this save makes or changes have too few or too many members.
    ///
    /// What takes a stored object's place is left for `checkMergedCounts`.
    func miscountedCollections(_ walk: DeletionWalk) throws -> FindingList {
        var findings = FindingList()
        var seen: Set<PendingRelationships.Key> = []
        func check(_ owner: DeletionWalk.Subject, _ slot: Int) throws {
            let key = PendingRelationships.Key(entity: owner.entity.ordinal, slot: slot, owner: owner.reference)
            guard !walk.isDoomed(owner.reference, owner.entity.ordinal), seen.insert(key).inserted,
                !owner.reference.isTemporary || owner.entity.uniqueIndexes.isEmpty
            else { return }
            let count = try walk.remainingCount(of: owner, slot)
            if let finding = finding(owner.reference, owner.entity, slot, count) { findings.add(finding) }
        }
        for handle in inserted {
            guard let subject = walk.subject(handle) else { continue }
            for slot in subject.entity.boundedSlots { try check(subject, slot) }
        }
        for (key, _) in relationships.inOrder where store.storage.entities[key.entity].boundedSlots.contains(key.slot) {
            // New ones were among the inserted objects.
            guard !key.owner.isTemporary, try walk.isThere(key.owner, key.entity) else { continue }
            try check(walk.subject(key.owner.number, key.entity), key.slot)
        }
        try walk.forEachCountedOwner(check)
        return findings
    }

    func finding(
        _ owner: ObjectReference, _ entity: EntityStorage, _ slot: Int, _ count: Int
    ) -> ValidationFinding? {
        guard case .toMany(let relationship) = entity.slots[slot], !relationship.bounds.allow(count) else { return nil }
        let property = propertyName(slot, of: entity)
        let bounds = relationship.bounds
        let isTooFew = count < bounds.least
        if isTooFew, defersLeastCounts { return nil }
        let rule =
            isTooFew ? "minimumModelCount is \(bounds.least)" : "maximumModelCount is \(bounds.greatest)"
        return ValidationFinding(
            identifier(of: owner, entity), property, isTooFew ? .minimumModelCount : .maximumModelCount,
            "\(entity.name).\(property) has \(count) objects, and its \(rule)")
    }
}
