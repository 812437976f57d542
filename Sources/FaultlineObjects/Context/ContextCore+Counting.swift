internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

// Least and greatest numbers of members, as a save checks them: `minimumModelCount`, `maximumModelCount`.

extension ContextCore {
    /// Says which collections that this save makes or changes have too few or too many members.
    ///
    /// What takes a stored object's place is left for `checkMergedCounts`.
    func miscountedCollections() throws -> [String] {
        guard store.storage.hasBounds else { return [] }
        var findings: [String] = []
        var seen: Set<PendingRelationships.Key> = []
        func check(_ owner: ObjectHandle, _ entity: EntityStorage, _ slot: Int) {
            guard !owner.core.pointee.isDeleted, !owner.core.pointee.has(.inserted) || entity.uniqueIndexes.isEmpty,
                seen.insert(.init(entity: entity.ordinal, slot: slot, owner: owner.reference)).inserted
            else { return }
            if let finding = finding(entity, slot, memberObjects(of: owner, slot).count) { findings.append(finding) }
        }
        func check(_ object: AnyObject?, ofEntity ordinal: Int, _ slot: Int) {
            guard let owner = object.flatMap({ handle(of: $0, homes[ordinal]) }) else { return }
            check(owner, store.storage.entities[ordinal], slot)
        }
        for handle in inserted {
            guard let entity = handle.core.pointee.home.takeUnretainedValue().entity else { continue }
            for slot in entity.boundedSlots { check(handle, entity, slot) }
        }
        for (key, _) in relationships.inOrder where store.storage.entities[key.entity].boundedSlots.contains(key.slot) {
            check(object(key.owner, homes[key.entity]), ofEntity: key.entity, key.slot)
        }
        for handle in deleted {
            guard let entity = handle.core.pointee.home.takeUnretainedValue().entity else { continue }
            // Collections that lose a member, which their own side does not show.
            for slot in entity.toOneSlots {
                guard case .toOne(let relationship) = entity.slots[slot],
                    case .toMany(let inverse) = relationship.inverse,
                    store.storage.entities[relationship.destination].boundedSlots.contains(inverse)
                else { continue }
                check(target(of: &handle.core.pointee, slot), ofEntity: relationship.destination, inverse)
            }
            for owner in store.storage.entities {
                for slot in owner.boundedSlots {
                    guard case .toMany(let relationship) = owner.slots[slot],
                        relationship.destination == entity.ordinal, case .link(let side, _) = relationship.members
                    else { continue }
                    for member in try storedMembers(of: handle.core.pointee.number, in: side.otherIndex, at: snapshot) {
                        let reference = ObjectReference(number: member.number, isTemporary: false)
                        check(object(reference, homes[owner.ordinal]), ofEntity: owner.ordinal, slot)
                    }
                }
            }
        }
        return findings
    }

    /// Checks the collections of new objects that may take a stored object's place: they keep its members.
    func checkMergedCounts(_ saving: SavingState, in transaction: borrowing Transaction) throws {
        guard store.storage.hasBounds else { return }
        for (place, handle) in inserted.enumerated() where saving.numbers[place] != 0 {
            guard let entity = handle.core.pointee.home.takeUnretainedValue().entity, !entity.uniqueIndexes.isEmpty
            else { continue }
            for slot in entity.boundedSlots {
                guard case .toMany(let relationship) = entity.slots[slot] else { continue }
                var count = memberObjects(of: handle, slot).count
                if saving.upserts.contains(place) {
                    let added = memberObjects(of: handle, slot).compactMap {
                        self.handle(of: $0, homes[relationship.destination])?.reference
                    }
                    let kept = try storedMembers(of: saving.numbers[place], in: relationship.members.index, transaction)
                    count = Set(added).union(kept.map { ObjectReference(number: $0.number, isTemporary: false) }).count
                }
                if let finding = finding(entity, slot, count) {
                    throw SwiftDataError.modelValidationFailure.explained("Nothing was saved. \(finding).")
                }
            }
        }
    }

    private func finding(_ entity: EntityStorage, _ slot: Int, _ count: Int) -> String? {
        guard case .toMany(let relationship) = entity.slots[slot], !relationship.bounds.allow(count) else { return nil }
        let property = store.storage.schema.entities[entity.ordinal].properties[slot].name
        let bounds = relationship.bounds
        let rule =
            count < bounds.least
            ? "minimumModelCount is \(bounds.least)" : "maximumModelCount is \(bounds.greatest)"
        return "\(entity.name).\(property) has \(count) objects, and its \(rule)"
    }
}
