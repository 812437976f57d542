internal import FaultlineLog
internal import FaultlineStore

// Identifiers of related objects: no object is made.

extension ContextCore {
    /// Identifiers of the objects that a relationship leads to, in their order, without deleted ones.
    ///
    /// - Throws: The store's error if it cannot be read.
    func relatedIdentifiers(_ owner: ObjectHandle, _ slot: Int) throws -> [PersistentIdentifier] {
        guard let entity = owner.core.pointee.home.takeUnretainedValue().entity else { return [] }
        settleMembers()
        try beginReading()
        defer { endReading() }
        switch entity.slots[slot] {
        case .attribute: return []
        case .toOne(let relationship):
            let reference = reference(of: owner, slot)
            guard try !reference.isNil && isThere(reference, homes[relationship.destination]) else { return [] }
            return [identifier(of: reference, store.storage.entities[relationship.destination])]
        case .toMany(let relationship):
            guard !owner.core.pointee.has(.gone) else { return [] }
            let key = PendingRelationships.Key(entity: entity.ordinal, slot: slot, owner: owner.reference)
            return try memberReferences(of: owner, relationship, pending.relationships.existing(key)).map {
                identifier(of: $0, store.storage.entities[relationship.destination])
            }
        }
    }

    private func memberReferences(
        of owner: ObjectHandle, _ relationship: ToManyStorage, _ delta: PendingRelationships.Delta?
    ) throws -> [ObjectReference] {
        if let assigned = delta?.assigned {
            return assigned.handles.filter { !$0.core.pointee.isDeleted }.map(\.reference)
        }
        var references: [ObjectReference] = []
        if !owner.core.pointee.has(.temporary) {
            let destination = homes[relationship.destination]
            for number in try storedMembers(of: owner.core.pointee.number, relationship) {
                let reference = ObjectReference(number: number, isTemporary: false)
                // Members that left, and members that joined here and have also been added elsewhere.
                if let delta, delta.isMember(reference) != nil { continue }
                if try isThere(reference, destination) { references.append(reference) }
            }
        }
        let added = delta?.added.handles ?? []
        return references + added.filter { !$0.core.pointee.isDeleted }.map(\.reference)
    }

    /// Whether all members of a collection are known without the store, because the user has assigned them.
    func hasAllMembers(_ owner: ObjectHandle, _ slot: Int) -> Bool {
        guard let entity = owner.core.pointee.home.takeUnretainedValue().entity else { return true }
        settleMembers()
        let key = PendingRelationships.Key(entity: entity.ordinal, slot: slot, owner: owner.reference)
        return pending.relationships.existing(key)?.assigned != nil
    }

    /// Whether a reference leads to an object that is not deleted here.
    private func isThere(_ reference: ObjectReference, _ home: EntityHome) throws -> Bool {
        if reference.isTemporary {
            return insertedObject(reference.number).map { !$0.core.pointee.isDeleted } ?? false
        }
        if let found = registeredObject(reference.number, home).flatMap({ handle(of: $0, home) }) {
            if found.core.pointee.isDeleted { return false }
        }
        guard let table = home.entity?.table else { return false }
        return try !snapshot.location(of: reference.number, in: table).isAbsent
    }
}
