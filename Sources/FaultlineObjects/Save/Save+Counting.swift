internal import FaultlineLog
internal import FaultlineStore

extension Save {
    /// Checks the collections of new objects that may take a stored object's place: they keep its members.
    func checkMergedCounts(in transaction: borrowing Transaction) throws {
        guard store.storage.hasBounds else { return }
        var findings = FindingList()
        for (place, handle) in context.inserted.enumerated() where numbers[place] != 0 {
            guard let entity = handle.core.pointee.home.takeUnretainedValue().entity, !entity.uniqueIndexes.isEmpty
            else { continue }
            for slot in entity.boundedSlots {
                guard case .toMany(let relationship) = entity.slots[slot] else { continue }
                var count = context.memberObjects(of: handle, slot).count
                if upserts.contains(place) {
                    let added = context.memberObjects(of: handle, slot).compactMap {
                        context.handle(of: $0, context.homes[relationship.destination])?.reference
                    }
                    let kept = try context.storedMembers(
                        of: numbers[place], in: relationship.members.index, transaction)
                    var members = Set(added)
                    for member in kept {
                        let reference = ObjectReference(number: member.number, isTemporary: false)
                        if deletion?.isDoomed(reference, relationship.destination) != true { members.insert(reference) }
                    }
                    count = members.count
                }
                if let finding = context.finding(handle.reference, entity, slot, count) { findings.add(finding) }
            }
        }
        guard findings.isEmpty else { throw SwiftDataError.refused(findings) }
    }
}
