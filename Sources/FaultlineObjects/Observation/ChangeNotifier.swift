internal import FaultlineLog
internal import FaultlineStore

/// Notifies observers of a context's objects of changes that affect more than one property of one object.
struct ChangeNotifier {
    let context: ContextCore

    init(_ context: ContextCore) { self.context = context }

    /// Handles a change of a collection.
    func noteChange(of key: PendingRelationships.Key) {
        let home = context.homes[key.entity]
        let owner =
            key.owner.isTemporary
            ? context.pending.insertedObject(key.owner.number)
            : ObjectRegistry(context).registeredHandle(key.owner.number, home)
        owner?.core.pointee.noteChange(key.slot)
    }

    /// Handles a deletion or its undo: relationships of other objects that lead to the object's entity may show it.
    func noteDeletion(of handle: ObjectHandle) {
        guard !context.observations.isEmpty else { return }
        handle.core.pointee.extraIfPresent?.observation?.noteChangeOfAll()
        guard let entity = handle.core.pointee.home.takeUnretainedValue().entity else { return }
        noteChangeOfRelationships { $0 == entity.ordinal }
    }

    /// Handles a save that has deleted objects of some entities.
    func noteDeletions(ofEntities ordinals: Set<Int>) {
        if !ordinals.isEmpty { noteChangeOfRelationships(to: ordinals.contains) }
    }

    /// Notifies observers of relationships to some entities.
    private func noteChangeOfRelationships(to isWanted: (Int) -> Bool) {
        context.observations.forEach { observation in
            guard let slots = observation.entity?.slots else { return }
            for slot in observation.slots.sorted() {
                switch slots[slot] {
                case .attribute: continue
                case .toOne(let relationship): if !isWanted(relationship.destination) { continue }
                case .toMany(let relationship): if !isWanted(relationship.destination) { continue }
                }
                observation.noteChange(slot)
            }
        }
    }

    /// Collects the changes that a rollback will make; the result notifies the observers afterwards.
    func changesOfRollback() -> () -> Void {
        guard !context.observations.isEmpty, context.hasChanges else { return {} }
        let watched = (context.pending.living + context.pending.changed + context.pending.deleted).compactMap {
            $0.core.pointee.extraIfPresent?.observation
        }
        let hasRelationships =
            !context.pending.relationships.isEmpty || !context.pending.deleted.isEmpty
            || context.pending.hasInserts
        return { [self] in
            for observation in watched { observation.noteChangeOfAll() }
            if hasRelationships { noteChangeOfRelationships { _ in true } }
        }
    }
}
