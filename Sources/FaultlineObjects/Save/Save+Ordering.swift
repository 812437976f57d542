internal import FaultlineLog
internal import FaultlineStore

// The order keys of collections.

extension Save {
    // MARK: Collections with a to-one inverse

    /// Assigns order keys to the members of collections that were changed.
    mutating func applyOrders(in transaction: borrowing Transaction) throws {
        for (key, delta) in context.pending.relationships.inOrder {
            guard case .toMany(let relationship) = store.storage.entities[key.entity].slots[key.slot],
                case .inverse(let slot, let index) = relationship.members,
                deletion?.isDoomed(key.owner, key.entity) != true
            else { continue }
            let table = store.storage.entities[relationship.destination].table
            let end = MemberKey.defaultOrder(of: transaction.nextID(in: table))
            if let assigned = delta.assigned {
                try arrange(assigned.handles, slot, below: end)
            } else if !context.rules.keepsGivenOrder {
                try arrangeJoined(delta, key, slot, index, transaction, below: end)
            }
        }
    }

    private mutating func arrange(_ members: [ObjectHandle], _ slot: Int, below end: UInt64) throws {
        let members = try members.filter { try !$0.core.pointee.isDeleted && isReadable($0) }
        let keys: [UInt64] = members.map { handle in
            let stored = handle.core.pointee.read({ $0.orderKey(slot) }, { $0.orderKey(slot) }) ?? nil
            return stored ?? MemberKey.defaultOrder(of: number(handle.reference))
        }
        for (place, key) in OrderKeys.rising(keys, below: end).enumerated() where key != keys[place] {
            try setOrder(members[place], slot, key)
        }
    }

    /// Whether a member's place is known; not that of one which others have deleted.
    ///
    /// - Throws: If the member cannot be read, so that the wanted order cannot be kept.
    private func isReadable(_ member: ObjectHandle) throws -> Bool {
        guard member.core.pointee.draft == nil, member.core.pointee.loadedRow() == nil else { return true }
        guard member.core.pointee.has(.gone) else { throw unreadable(member) }
        return false
    }

    private func unreadable(_ member: ObjectHandle) -> SwiftDataError {
        let name = member.core.pointee.home._withUnsafeGuaranteedRef { $0.entityName }
        return .modelValidationFailure.explained(
            "\(name) \(member.core.pointee.number) cannot be read, so its place in a collection cannot be set. Take it out of the collection, or roll back."
        )
    }

    /// Puts members that joined from their own side after the existing ones.
    ///
    /// New members get there by their numbers, if they joined in the order in which they were inserted.
    private mutating func arrangeJoined(
        _ delta: PendingRelationships.Delta, _ key: PendingRelationships.Key, _ slot: Int, _ index: IndexDefinition,
        _ transaction: borrowing Transaction, below end: UInt64
    ) throws {
        // Members that were inserted in another order have numbers in another order.
        if delta.added.isNewByNumber { return }
        let joined = delta.added.handles.filter { !$0.core.pointee.isDeleted }
        let owner = number(key.owner)
        let stored =
            key.owner.isTemporary ? [] : try MemberReader(context).storedMembers(of: owner, in: index, transaction)
        var last = stored.last?.order ?? 0
        for (place, handle) in joined.enumerated() {
            let usual = MemberKey.defaultOrder(of: number(handle.reference))
            if usual > last {
                last = usual
                continue
            }
            let room = end > last ? (end - last) / UInt64(joined.count - place + 1) : 0
            guard room > 0 else {
                // No keys are left after the last one: all members get new keys.
                let destination = home(ofDestination: key)
                let members = stored.compactMap { member in
                    ObjectRegistry(context).object(
                        ObjectReference(number: member.number, isTemporary: false), destination
                    ).flatMap {
                        destination.handle(of: $0)
                    }
                }.filter { $0.reference(in: slot).number == owner }
                try arrange(
                    members.filter { member in !joined.contains { $0.object === member.object } } + joined, slot,
                    below: end)
                return
            }
            last += min(256, room)
            try setOrder(handle, slot, last)
        }
    }

    private func home(ofDestination key: PendingRelationships.Key) -> EntityHome {
        guard case .toMany(let relationship) = store.storage.entities[key.entity].slots[key.slot] else {
            return context.homes[key.entity]
        }
        return context.homes[relationship.destination]
    }

    private mutating func setOrder(_ handle: ObjectHandle, _ slot: Int, _ order: UInt64) throws {
        // The object that it refers to may be deleted or left out.
        if let draft = handle.core.pointee.draft, draft.toOne(slot) == 0 { return }
        guard try isReadable(handle) else { return }
        guard !handle.core.pointee.has(.damaged), handle.core.pointee.makeChangeable(slot) else {
            throw unreadable(handle)
        }
        replaced.noteOrder(of: handle, slot)
        handle.core.pointee.write { $0.setOrderKey(slot, order) }
    }
}
