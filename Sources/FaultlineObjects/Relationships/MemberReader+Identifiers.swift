internal import FaultlineLog
internal import FaultlineStore

// Identifiers of related objects: no object is made.

extension MemberReader {
    /// Identifiers of the objects that a relationship leads to, in their order, without deleted ones.
    ///
    /// - Throws: The store's error if it cannot be read.
    func relatedIdentifiers(_ owner: ObjectHandle, _ slot: Int) throws -> [PersistentIdentifier] {
        guard let entity = owner.core.pointee.home.takeUnretainedValue().entity else { return [] }
        context.settleMembers()
        try context.beginReading()
        defer { context.endReading() }
        switch entity.slots[slot] {
        case .attribute: return []
        case .toOne(let relationship):
            let reference = owner.reference(in: slot)
            guard try !reference.isNil && isThere(reference, context.homes[relationship.destination]) else { return [] }
            return [context.identifier(of: reference, context.store.storage.entities[relationship.destination])]
        case .toMany(let relationship):
            guard !owner.core.pointee.has(.gone) else { return [] }
            let key = PendingRelationships.Key(entity: entity.ordinal, slot: slot, owner: owner.reference)
            return try memberReferences(of: owner, relationship, context.pending.members(key)).map {
                context.identifier(of: $0, context.store.storage.entities[relationship.destination])
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
            let destination = context.homes[relationship.destination]
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
        context.settleMembers()
        let key = PendingRelationships.Key(entity: entity.ordinal, slot: slot, owner: owner.reference)
        return context.pending.relationships.existing(key)?.assigned != nil
    }

    /// Whether a reference leads to an object that is not deleted here.
    private func isThere(_ reference: ObjectReference, _ home: EntityHome) throws -> Bool {
        if reference.isTemporary {
            return context.pending.insertedObject(reference.number).map { !$0.core.pointee.isDeleted } ?? false
        }
        if let found = ObjectRegistry(context).registeredHandle(reference.number, home),
            found.core.pointee.isDeleted
        {
            return false
        }
        guard let table = home.entity?.table else { return false }
        return try !context.snapshot.location(of: reference.number, in: table).isAbsent
    }
}
