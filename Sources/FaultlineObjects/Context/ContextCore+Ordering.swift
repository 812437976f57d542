internal import FaultlineLog
internal import FaultlineStore

// Memberships as a save writes them: places in collections, and the rows of links.

extension ContextCore {
    /// A member as the index of a relationship has it.
    struct StoredMember: Equatable {
        let number: RecordID
        let order: UInt64
        /// The number of the index's row: the member's, or the link's.
        let row: RecordID
    }

    /// The members that an owner has in one state of the store.
    func storedMembers(
        of owner: RecordID, in index: IndexDefinition, at snapshot: Snapshot
    ) throws -> [StoredMember] {
        try storedMembers(of: owner) { try snapshot.forEachEntry(in: index, prefix: $0, $1) }
    }

    /// The members that an owner has when a transaction begins: also those of saves that are queued before it, which no
    /// snapshot shows yet.
    func storedMembers(
        of owner: RecordID, in index: IndexDefinition, _ transaction: borrowing Transaction
    ) throws -> [StoredMember] {
        try storedMembers(of: owner) { try transaction.forEachEntry(in: index, prefix: $0, $1) }
    }

    private func storedMembers(
        of owner: RecordID,
        _ walk: (UnsafeRawBufferPointer, (UnsafeRawBufferPointer, RecordID) throws -> Bool) throws -> Void
    ) throws -> [StoredMember] {
        var members: [StoredMember] = []
        try MemberKey.withPrefix(owner: owner) { prefix in
            try walk(prefix) { key, row in
                if let number = MemberKey.member(key, id: row), let order = MemberKey.order(key) {
                    members.append(StoredMember(number: number, order: order, row: row))
                }
                return true
            }
        }
        membersWalked += members.count
        return members
    }

    // MARK: Collections with an inverse to one

    /// Gives the members of collections that were changed the keys that keep their order.
    func applyOrders(_ saving: inout SavingState, in transaction: borrowing Transaction) throws {
        for (key, delta) in relationships.inOrder {
            guard case .toMany(let relationship) = store.storage.entities[key.entity].slots[key.slot],
                case .inverse(let slot, let index) = relationship.members,
                deletion?.isDoomed(key.owner, key.entity) != true
            else { continue }
            let table = store.storage.entities[relationship.destination].table
            let end = MemberKey.defaultOrder(of: transaction.nextID(in: table))
            if let assigned = delta.assigned {
                arrange(assigned.handles, slot, below: end, &saving)
            } else if !keepsGivenOrder {
                try arrangeJoined(delta, key, slot, index, transaction, below: end, &saving)
            }
        }
    }

    private func arrange(_ members: [ObjectHandle], _ slot: Int, below end: UInt64, _ saving: inout SavingState) {
        let members = members.filter { !$0.core.pointee.isDeleted }
        let keys: [UInt64] = members.map { handle in
            let stored = handle.core.pointee.read({ $0.orderKey(slot) }, { $0.orderKey(slot) }) ?? nil
            return stored ?? MemberKey.defaultOrder(of: saving.number(handle.reference, inserted))
        }
        for (place, key) in OrderKeys.rising(keys, below: end).enumerated() where key != keys[place] {
            setOrder(members[place], slot, key, &saving)
        }
    }

    /// Puts members that joined from their own side behind those that were there.
    ///
    /// New ones are there by their numbers, where they joined in the order in which they were inserted.
    private func arrangeJoined(
        _ delta: PendingRelationships.Delta, _ key: PendingRelationships.Key, _ slot: Int, _ index: IndexDefinition,
        _ transaction: borrowing Transaction, below end: UInt64, _ saving: inout SavingState
    ) throws {
        // Those that were inserted in another order have numbers in another order.
        if delta.added.isNewByNumber { return }
        let joined = delta.added.handles.filter { !$0.core.pointee.isDeleted }
        let owner = saving.number(key.owner, inserted)
        let stored = key.owner.isTemporary ? [] : try storedMembers(of: owner, in: index, transaction)
        var last = stored.last?.order ?? 0
        for (place, handle) in joined.enumerated() {
            let usual = MemberKey.defaultOrder(of: saving.number(handle.reference, inserted))
            if usual > last {
                last = usual
                continue
            }
            let room = end > last ? (end - last) / UInt64(joined.count - place + 1) : 0
            guard room > 0 else {
                // No keys are left behind the last one: all of them move.
                let destination = home(ofDestination: key)
                let members = stored.compactMap { member in
                    object(ObjectReference(number: member.number, isTemporary: false), destination).flatMap {
                        self.handle(of: $0, destination)
                    }
                }.filter { reference(of: $0, slot).number == owner }
                arrange(
                    members.filter { member in !joined.contains { $0.object === member.object } } + joined, slot,
                    below: end, &saving)
                return
            }
            last += min(256, room)
            setOrder(handle, slot, last, &saving)
        }
    }

    private func home(ofDestination key: PendingRelationships.Key) -> EntityHome {
        guard case .toMany(let relationship) = store.storage.entities[key.entity].slots[key.slot] else {
            return homes[key.entity]
        }
        return homes[relationship.destination]
    }

    private func setOrder(_ handle: ObjectHandle, _ slot: Int, _ order: UInt64, _ saving: inout SavingState) {
        guard handle.core.pointee.makeChangeable(slot) else { return }
        saving.noteOrder(of: handle, slot)
        handle.core.pointee.write { $0.setOrderKey(slot, order) }
    }

    // MARK: Links

    /// Removes the links of an object that is deleted.
    func unlinkAll(
        _ number: RecordID, _ entity: EntityStorage, _ writer: inout RowWriter, _ transaction: inout Transaction
    ) throws {
        for case .toMany(let relationship) in entity.slots {
            guard case .link(let side, let inverseSlot) = relationship.members else { continue }
            let other = store.storage.entities[relationship.destination]
            for member in try storedMembers(of: number, in: side.index, transaction) {
                try checkUnshared(side.table, "a relationship", "changed")
                if let history, inverseSlot >= 0 {
                    try history.noteUpdate(
                        member.number, mask: SlotMask.bit(inverseSlot), other, in: &transaction)
                }
                try writer.unlink(member.row, side, in: &transaction)
            }
        }
    }

    /// A link by the numbers of its two objects.
    private struct Pair: Hashable {
        let left: RecordID
        let right: RecordID
    }

    /// Removes, makes and moves links, one link table after the other.
    func writeLinks(
        _ saving: inout SavingState, _ writer: inout RowWriter, _ transaction: inout Transaction
    ) throws {
        guard !relationships.isEmpty else { return }
        var sides: [TableID: LinkedEntities] = [:]
        for entity in store.storage.entities {
            for case .toMany(let relationship) in entity.slots {
                guard case .link(let side, _) = relationship.members else { continue }
                let ordinals = (entity.ordinal, relationship.destination)
                sides[side.table] = LinkedEntities(
                    side: side, left: side.isLeft ? ordinals.0 : ordinals.1,
                    right: side.isLeft ? ordinals.1 : ordinals.0)
            }
        }
        for (_, linked) in sides.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            try writeLinks(of: linked, &saving, &writer, &transaction)
        }
    }

    /// A link table, and the entities that its links lead to, by their ordinals.
    private struct LinkedEntities {
        let side: LinkSide
        let left: Int
        let right: Int
    }

    private func writeLinks(
        of linked: LinkedEntities, _ saving: inout SavingState, _ writer: inout RowWriter,
        _ transaction: inout Transaction
    ) throws {
        let side = linked.side
        let leftIndex = side.isLeft ? side.index : side.otherIndex
        var made: [Pair] = []
        var removed: Set<Pair> = []
        var links: [Pair: Bool] = [:]
        for (link, isPresent) in relationships.links where link.table == side.table {
            let pair = Pair(left: saving.number(link.left, inserted), right: saving.number(link.right, inserted))
            guard pair.left != 0, pair.right != 0 else { continue }
            if let deletion, deletion.isDoomed(link.left, linked.left) || deletion.isDoomed(link.right, linked.right) {
                // What an object had goes with it.
                guard !isPresent else { continue }
            }
            // Two new objects that take one stored object's place have one link.
            links[pair, default: false] = links[pair] ?? false || isPresent
        }
        // In a fixed order, so that the same changes give the same bytes; and the links of one object are looked up at
        // once.
        var left: RecordID = 0
        var rowsOfLeft: [RecordID: RecordID] = [:]
        for (pair, isPresent) in links.sorted(by: { ($0.key.left, $0.key.right) < ($1.key.left, $1.key.right) }) {
            if pair.left != left {
                left = pair.left
                rowsOfLeft = Dictionary(
                    try storedMembers(of: left, in: leftIndex, transaction).map { ($0.number, $0.row) }
                ) { first, _ in first }
            }
            let existing = rowsOfLeft[pair.right]
            if isPresent != (existing != nil) { try checkUnshared(side.table, "a relationship", "changed") }
            if isPresent, existing == nil {
                made.append(pair)
            } else if !isPresent, let existing {
                removed.insert(pair)
                try writer.unlink(existing, side, in: &transaction)
            }
        }
        let first = made.isEmpty ? 0 : try transaction.allocateIDs(made.count, in: side.table)
        let end = MemberKey.defaultOrder(of: transaction.nextID(in: side.table))
        var rows: [Pair: RecordID] = [:]
        for (place, pair) in made.enumerated() { rows[pair] = first + RecordID(place) }
        var leftOrders: [Pair: UInt64] = [:]
        var rightOrders: [Pair: UInt64] = [:]
        var moved: [Pair: RecordID] = [:]
        for (key, delta) in relationships.inOrder {
            guard case .toMany(let relationship) = store.storage.entities[key.entity].slots[key.slot],
                case .link(let own, _) = relationship.members, own.table == side.table
            else { continue }
            let owner = saving.number(key.owner, inserted)
            guard owner != 0, deletion?.isDoomed(key.owner, key.entity) != true else { continue }
            func pair(_ member: RecordID) -> Pair {
                own.isLeft ? Pair(left: owner, right: member) : Pair(left: member, right: owner)
            }
            func setOrder(_ pair: Pair, _ order: UInt64) {
                if own.isLeft { leftOrders[pair] = order } else { rightOrders[pair] = order }
            }
            var wanted = (delta.assigned ?? delta.added).handles.filter { !$0.core.pointee.isDeleted }
                .map { saving.number($0.reference, inserted) }
            let joined = delta.assigned == nil ? Set(wanted) : []
            // New members get keys in their order, behind all that were given before.
            var next = first
            func fresh() -> UInt64 {
                defer { next += 1 }
                return MemberKey.defaultOrder(of: next)
            }
            if joined.allSatisfy({ rows[pair($0)] != nil }), delta.assigned == nil {
                for member in wanted { setOrder(pair(member), fresh()) }
                continue
            }
            let stored = try key.owner.isTemporary ? [] : storedMembers(of: owner, in: own.index, transaction)
            let known = Dictionary(stored.map { ($0.number, $0) }) { first, _ in first }
            if delta.assigned == nil {
                wanted = stored.map(\.number).filter { !joined.contains($0) && !removed.contains(pair($0)) } + wanted
            }
            // One that left and came back has lost its place.
            let keys: [UInt64?] = wanted.map { member in
                if rows[pair(member)] != nil { return fresh() }
                return joined.contains(member) ? nil : known[member]?.order
            }
            for (place, order) in OrderKeys.rising(keys, below: end).enumerated() {
                let pair = pair(wanted[place])
                if rows[pair] != nil {
                    setOrder(pair, order)
                } else if let link = known[wanted[place]], order != link.order, !removed.contains(pair) {
                    setOrder(pair, order)
                    moved[pair] = link.row
                }
            }
        }
        for pair in made {
            guard let row = rows[pair] else { continue }
            let usual = MemberKey.defaultOrder(of: row)
            try writer.link(
                row, left: pair.left, right: pair.right, leftOrder: leftOrders[pair] ?? usual,
                rightOrder: rightOrders[pair] ?? usual, side, in: &transaction)
        }
        for (pair, row) in moved.sorted(by: { $0.value < $1.value }) {
            try checkUnshared(side.table, "a relationship", "changed")
            try writer.move(row, leftOrder: leftOrders[pair], rightOrder: rightOrders[pair], side, in: &transaction)
        }
    }
}
