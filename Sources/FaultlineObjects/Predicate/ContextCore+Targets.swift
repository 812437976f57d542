internal import FaultlineStore

extension ContextCore {
    /// The objects that a to-one slot may lead to; nil if it cannot lead to a missing one.
    func targets(of entity: EntityStorage, _ slot: Int, includingPendingChanges: Bool) -> ReferenceTargets? {
        guard case .toOne(let relationship) = entity.slots[slot] else { return nil }
        let destination = homes[relationship.destination]
        return destination.entity.flatMap {
            ReferenceTargets(
                in: $0.table, of: snapshot,
                without: includingPendingChanges ? pending.deletedReferences(destination) : [])
        }
    }
}
