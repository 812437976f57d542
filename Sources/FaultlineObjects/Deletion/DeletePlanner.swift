internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

/// Finds the objects that a deletion would delete and change; changes nothing.
struct DeletePlanner {
    let context: ContextCore

    init(_ context: ContextCore) { self.context = context }

    /// The objects that the next save would delete if some objects were deleted too.
    ///
    /// - Throws: The store's error if it cannot be read; `missingModelContext` for an object that is not in this
    ///   context.
    func deletePlan(
        adding handles: [ObjectHandle] = [], _ identifiers: [PersistentIdentifier] = []
    ) throws -> DeletePlan {
        try context.beginReading()
        defer { context.endReading() }
        let walk = DeletionWalk(context, countsBytes: true)
        for handle in handles {
            guard handle.core.pointee.context === context, !handle.core.pointee.has(.gone) else {
                throw SwiftDataError.missingModelContext.explained(
                    "A plan was asked for the deletion of an object that is not in this context.")
            }
            walk.add(handle)
        }
        for identifier in identifiers {
            if let number = identifier.unsavedNumber {
                if let handle = context.pending.insertedObject(number) { walk.add(handle) }
            } else if let entity = context.homes.reference(of: identifier)?.takeUnretainedValue().entity,
                let number = ObjectRegistry(context).storedNumber(of: identifier)
            {
                walk.add(number, entity.ordinal)
            }
        }
        try walk.run(in: context.snapshot)
        var refusals = try walk.findings(in: context.snapshot)
        try walk.forEachCountedOwner(in: context.snapshot) { owner, slot in
            let count = try walk.remainingCount(of: owner, slot, in: context.snapshot)
            if let finding = MemberCountCheck(context).finding(owner.reference, owner.entity, slot, count) {
                refusals.add(finding)
            }
        }
        return DeletePlan(
            deleted: deletedObjects(walk), cleared: try references(walk, \.clearing),
            leftDangling: try references(walk, \.leaving), refusals: refusals.kept)
    }

    private func deletedObjects(_ walk: DeletionWalk) -> [DeletePlan.Deleted] {
        var counts = walk.doomed.map(\.count)
        for handle in walk.unsaved {
            if let entity = handle.core.pointee.home.takeUnretainedValue().entity { counts[entity.ordinal] += 1 }
        }
        return counts.indices.filter { counts[$0] > 0 }.map { ordinal in
            DeletePlan.Deleted(
                entityName: context.store.storage.entities[ordinal].name, objectCount: counts[ordinal],
                blobByteCount: walk.blobByteCounts?[ordinal] ?? 0)
        }
    }

    /// References of remaining objects to deleted ones, by entity and property.
    private func references(
        _ walk: DeletionWalk, _ partners: (DeletionRules) -> [DeletionRules.Partner]
    ) throws -> [DeletePlan.Reference] {
        var counts: [Int: [Int: Int]] = [:]
        try walk.forEachDoomed { subject in
            for partner in partners(walk.rules[subject.entity.ordinal]) {
                try walk.forEachRemaining(of: subject, partner, in: context.snapshot) { _ in
                    counts[partner.destination, default: [:]][partner.inverse, default: 0] += 1
                }
            }
        }
        return counts.sorted { $0.key < $1.key }.flatMap { ordinal, slots in
            slots.sorted { $0.key < $1.key }.map { slot, count in
                let entity = context.store.storage.entities[ordinal]
                return DeletePlan.Reference(
                    entityName: entity.name, propertyName: context.propertyName(slot, of: entity), objectCount: count)
            }
        }
    }
}
