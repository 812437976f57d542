internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

// Handles new objects that do not replace the object with their unique values.

extension Save {
    /// Applies a policy to a new object whose unique values other objects have; false if there are none.
    mutating func meetsConflict(
        _ position: Int, _ entity: EntityStorage, _ policy: UniquenessPolicy, in transaction: inout Transaction
    ) throws -> Bool {
        let core = context.inserted[position].core
        guard let draft = core.pointee.draft else { return false }
        let conflicts = try writer.holders(of: draft, entity, in: transaction)
        guard !conflicts.isEmpty else { return false }
        if policy == .ignore {
            try leaveOut(context.inserted[position], in: &transaction)
        } else {
            for conflict in conflicts { noteDuplicate(conflict, core, entity) }
        }
        return true
    }

    /// Leaves a new object out of the save, with the new objects that its delete rules delete.
    private mutating func leaveOut(_ handle: ObjectHandle, in transaction: inout Transaction) throws {
        if deletion == nil { take(DeletionWalk(context)) }
        guard let walk = deletion else { return }
        let positions = Dictionary(
            context.inserted.indices.map { (context.inserted[$0].reference, $0) },
            uniquingKeysWith: { first, _ in first })
        // A follower that has already replaced a stored object is an update of it.
        let left = walk.leaveOut(handle) { positions[$0].map(upserts.contains) ?? true }
        context.memberArrays.removeAll()
        for handle in left {
            handle.core.pointee.insert(.deleted)
            walk.marked.append(handle)
            guard let position = positions[handle.reference], numbers[position] != 0,
                let entity = handle.core.pointee.home.takeUnretainedValue().entity,
                let draft = handle.core.pointee.draft
            else { continue }
            try writer.removeKeys(draft, id: numbers[position], entity, in: &transaction)
            keyHolders[KeyOwner(entity: entity.ordinal, number: numbers[position])] = nil
            numbers[position] = 0
        }
    }
}

extension ContextCore {
    /// The policy of a new object, by its temporary number.
    @inline(__always)
    func uniquenessPolicy(of number: UInt64) -> UniquenessPolicy {
        if stage != nil { return .update }
        if policies.ofInserts.isEmpty { return policies.uniqueness }
        return policies.ofInserts[number] ?? policies.uniqueness
    }
}
