internal import FaultlineLog
internal import FaultlineStore

// What changes in more than one property of one object, for those who watch objects of the context.

extension ContextCore {
    /// Objects of this context of which a property was read while somebody tracked it; some of them may be gone.
    package var observedCount: Int { observations.count }

    /// The members of a collection that are about to change.
    func changingDelta(_ key: PendingRelationships.Key) -> PendingRelationships.Delta {
        if !observations.isEmpty { noteChange(of: key) }
        noteUnsaved()
        return relationships.delta(key)
    }

    private func noteChange(of key: PendingRelationships.Key) {
        let home = homes[key.entity]
        let owner =
            key.owner.isTemporary
            ? insertedObject(key.owner.number)
            : registeredObject(key.owner.number, home).flatMap { handle(of: $0, home) }
        owner?.core.pointee.noteChange(key.slot)
    }

    /// An object is deleted, or not to be deleted any more: of others, relationships that lead to its entity may show
    /// it.
    func noteDeletion(of handle: ObjectHandle) {
        guard !observations.isEmpty else { return }
        handle.core.pointee.extraIfPresent?.observation?.noteChangeOfAll()
        guard let entity = handle.core.pointee.home.takeUnretainedValue().entity else { return }
        noteChangeOfRelationships { $0 == entity.ordinal }
    }

    /// A save has deleted objects of some entities.
    func noteDeletions(ofEntities ordinals: Set<Int>) {
        if !ordinals.isEmpty { noteChangeOfRelationships(to: ordinals.contains) }
    }

    /// Watched relationships to some entities change.
    private func noteChangeOfRelationships(to isWanted: (Int) -> Bool) {
        observations.forEach { observation in
            guard let slots = observation.home?.entity?.slots else { return }
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

    /// What a rollback will change, to be told when it has.
    func changesOfRollback() -> () -> Void {
        guard !observations.isEmpty, hasChanges else { return {} }
        let watched = (inserted + changed + deleted).compactMap { $0.core.pointee.extraIfPresent?.observation }
        let hasRelationships = !relationships.isEmpty || !deleted.isEmpty || !inserted.isEmpty
        return { [self] in
            for observation in watched { observation.noteChangeOfAll() }
            if hasRelationships { noteChangeOfRelationships { _ in true } }
        }
    }

    /// The context has moved on from a state that is not known any more.
    func noteMoveFromUnknown() { observations.forEach { $0.noteChangeOfAll() } }

    /// The context has moved on to a state that others have saved.
    func noteMove(from old: Snapshot) {
        guard !observations.isEmpty, old.sequence != snapshot.sequence else { return }
        observations.forEach { observation in
            guard observation.number != 0, let entity = observation.home?.entity else { return }
            let place = try? old.location(of: observation.number, in: entity.table)
            let isRowTheSame = try? snapshot.location(of: observation.number, in: entity.table) == place
            for slot in observation.slots.sorted() {
                if case .toMany(let relationship) = entity.slots[slot] {
                    let index = relationship.members.index
                    let members = try? storedMembers(of: observation.number, in: index, at: old)
                    if let members, members == (try? storedMembers(of: observation.number, in: index, at: snapshot)) {
                        continue
                    }
                } else if isRowTheSame == true {
                    continue
                }
                observation.noteChange(slot)
            }
        }
    }
}
