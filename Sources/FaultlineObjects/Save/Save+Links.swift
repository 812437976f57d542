internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

// The rows of links: relationships that are to-many on both sides, or have no inverse.

extension Save {
    /// Removes the links of an object that is deleted.
    mutating func unlinkAll(
        _ number: RecordID, _ entity: EntityStorage, in transaction: inout Transaction
    ) throws {
        for case .toMany(let relationship) in entity.slots {
            guard case .link(let side, let inverseSlot) = relationship.members else { continue }
            let other = store.storage.entities[relationship.destination]
            for member in try MemberReader(context).storedMembers(of: number, in: side.index, transaction) {
                try context.rules.checkUnshared(side.table, "a relationship", "changed")
                if let history, inverseSlot >= 0 {
                    try history.noteUpdate(
                        member.number, mask: SlotMask.bit(inverseSlot), other, in: &transaction)
                }
                try writer.unlink(member.row, side, in: &transaction)
            }
        }
    }

    /// Removes, makes and moves links, one link table after the other.
    mutating func writeLinks(in transaction: inout Transaction) throws {
        guard store.storage.hasLinks, !context.pending.relationships.isEmpty else { return }
        var tables: [TableID: LinkChanges] = [:]
        for entity in store.storage.entities {
            for case .toMany(let relationship) in entity.slots {
                guard case .link(let side, _) = relationship.members else { continue }
                tables[side.table] = LinkChanges(side, entity.ordinal, relationship.destination)
            }
        }
        for (_, table) in tables.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            var changes = table
            try collectLinks(&changes, in: &transaction)
            let first =
                changes.made.isEmpty ? 0 : try transaction.allocateIDs(changes.made.count, in: changes.side.table)
            changes.begin(at: first)
            try orderLinks(&changes, in: transaction)
            try write(changes, in: &transaction)
        }
    }

    /// Collects the links to make, and removes the links to remove.
    private mutating func collectLinks(_ changes: inout LinkChanges, in transaction: inout Transaction) throws {
        try collectWishes(&changes, in: transaction)
        let side = changes.side
        var targets = (left: StoredTargets(), right: StoredTargets())
        var search = LinkSearch(changes)
        var searchedEnd = 0
        var madeCount = 0
        // In a fixed order, so that the same changes give the same bytes.
        for place in changes.made.indices {
            if place == searchedEnd {
                search = LinkSearch(changes)
                searchedEnd = changes.search(from: place, &search)
                try search.run(MemberReader(context), transaction)
            }
            let wish = changes.made[place]
            let existing = search.rows[wish.pair]
            if wish.isPresent != (existing != nil) {
                try context.rules.checkUnshared(side.table, "a relationship", "changed")
            }
            if wish.isPresent, existing == nil {
                guard try isLinkable(wish.pair, changes, &targets, in: transaction) else { continue }
                changes.keep(wish, at: madeCount)
                madeCount += 1
            } else if !wish.isPresent, let existing {
                changes.remove(wish.pair)
                try writer.unlink(existing, side, in: &transaction)
            }
        }
        changes.cut(to: madeCount)
    }

    /// Collects the links of one table that the unsaved changes make and remove, in the order of their objects.
    private mutating func collectWishes(_ changes: inout LinkChanges, in transaction: borrowing Transaction) throws {
        var unlinked = UnlinkedObjects()
        changes.reserve(context.pending.relationships.linkCount(in: changes.side.table))
        for (link, isPresent) in context.pending.relationships.links where link.table == changes.side.table {
            let pair = LinkChanges.Pair(left: number(link.left), right: number(link.right))
            guard pair.left != 0, pair.right != 0 else { continue }
            if let deletion, deletion.isDoomed(link.left, changes.left) || deletion.isDoomed(link.right, changes.right)
            {
                // The links of an object are deleted with it.
                guard !isPresent else { continue }
            }
            let isNew =
                try isUnlinked(link.left, pair.left, changes.leftIndex, &unlinked.left, in: transaction)
                || isUnlinked(link.right, pair.right, changes.rightIndex, &unlinked.right, in: transaction)
            // Two new objects that replace one stored object have one link.
            changes.add(LinkChanges.Wish(pair, isPresent: isPresent, isSearched: !isNew))
        }
        changes.sortWishes()
    }

    /// Objects with chosen numbers: whether each has no stored links.
    private struct UnlinkedObjects {
        var left: [RecordID: Bool] = [:]
        var right: [RecordID: Bool] = [:]
    }

    /// Whether an object is added by this save, and no stored link leads to its number.
    ///
    /// An object that replaces a stored one has its links; links to a chosen number may have been saved before it.
    private mutating func isUnlinked(
        _ reference: ObjectReference, _ number: RecordID, _ index: IndexDefinition, _ known: inout [RecordID: Bool],
        in transaction: borrowing Transaction
    ) throws -> Bool {
        guard let position = numbers.position(reference, context.pending.living) else {
            return reference.isTemporary && numbers.spilled.isInsert(reference.number)
        }
        guard !upserts.contains(position) else { return false }
        guard context.rules.chosenNumbers[reference.number] != nil else { return true }
        if let known = known[number] { return known }
        let isUnlinked = try MemberReader(context).storedMembers(of: number, in: index, limit: 1, transaction).isEmpty
        known[number] = isUnlinked
        return isUnlinked
    }

    /// Whether both objects of a link will be stored; if not, the policy is applied.
    private mutating func isLinkable(
        _ pair: LinkChanges.Pair, _ changes: LinkChanges,
        _ targets: inout (left: StoredTargets, right: StoredTargets), in transaction: borrowing Transaction
    ) throws -> Bool {
        guard context.stage == nil else { return true }
        let entities = store.storage.entities
        let (left, right) = (entities[changes.left], entities[changes.right])
        // New rows are written before links.
        let hasLeft = try targets.left.has(pair.left, left, in: transaction)
        let hasRight = try targets.right.has(pair.right, right, in: transaction)
        if hasLeft, hasRight { return true }
        guard context.pending.policies.danglingReferences == .refuse else { return false }
        func noteGone(
            _ owner: RecordID, _ entity: EntityStorage, _ target: RecordID, _ destination: EntityStorage
        ) -> Bool {
            let slot = entity.slots.firstIndex { storage in
                guard case .toMany(let relationship) = storage, case .link(let side, _) = relationship.members else {
                    return false
                }
                return side.table == changes.side.table
            }
            guard let slot else { return false }
            let owner = reference(ofSaved: owner, entity)
            findings.add(
                goneTarget(owner, entity, slot, ObjectReference(number: target, isTemporary: false), destination))
            return true
        }
        // The object whose collection still has a missing one; for a one-way collection its owner.
        if !hasRight, noteGone(pair.left, left, pair.right, right) { return false }
        if noteGone(pair.right, right, pair.left, left) { return false }
        _ = noteGone(pair.left, left, pair.right, right)
        return false
    }

    /// Assigns order keys to links in collections with an order.
    private mutating func orderLinks(_ changes: inout LinkChanges, in transaction: borrowing Transaction) throws {
        let end = MemberKey.defaultOrder(of: transaction.nextID(in: changes.side.table))
        for (key, delta) in context.pending.relationships.inOrder {
            guard case .toMany(let relationship) = store.storage.entities[key.entity].slots[key.slot],
                case .link(let own, _) = relationship.members, own.table == changes.side.table
            else { continue }
            let owner = number(key.owner)
            guard owner != 0, deletion?.isDoomed(key.owner, key.entity) != true else { continue }
            func pair(_ member: RecordID) -> LinkChanges.Pair { .init(owner, member, isLeft: own.isLeft) }
            var wanted: [RecordID] = []
            (delta.assigned ?? delta.added).forEach { handle in
                if !handle.core.pointee.isDeleted { wanted.append(number(handle.reference)) }
            }
            // New members get keys in their order, after all earlier keys.
            var next = changes.first
            func fresh() -> UInt64 {
                defer { next += 1 }
                return MemberKey.defaultOrder(of: next)
            }
            if delta.assigned == nil, wanted.allSatisfy({ changes.place(of: pair($0)) != nil }) {
                for member in wanted {
                    if let place = changes.place(of: pair(member)) {
                        changes.setOrder(at: place, fresh(), isLeft: own.isLeft)
                    }
                }
                continue
            }
            let joined = delta.assigned == nil ? Set(wanted) : []
            let stored =
                try key.owner.isTemporary
                ? [] : MemberReader(context).storedMembers(of: owner, in: own.index, transaction)
            let known = Dictionary(stored.map { ($0.number, $0) }) { first, _ in first }
            if delta.assigned == nil {
                wanted =
                    stored.map(\.number).filter { !joined.contains($0) && !changes.removed.contains(pair($0)) } + wanted
            }
            // A member that left and came back has lost its position.
            let keys: [UInt64?] = wanted.map { member in
                if changes.place(of: pair(member)) != nil { return fresh() }
                return joined.contains(member) ? nil : known[member]?.order
            }
            for (position, order) in OrderKeys.rising(keys, below: end).enumerated() {
                let member = wanted[position]
                let pair = pair(member)
                if let place = changes.place(of: pair) {
                    changes.setOrder(at: place, order, isLeft: own.isLeft)
                } else if let link = known[member], order != link.order, !changes.removed.contains(pair) {
                    changes.move(pair, row: link.row, to: order, isLeft: own.isLeft)
                }
            }
        }
    }

    private mutating func write(_ changes: LinkChanges, in transaction: inout Transaction) throws {
        let side = changes.side
        try changes.forEachMade { pair, row, leftOrder, rightOrder in
            try writer.link(
                row, left: pair.left, right: pair.right, leftOrder: leftOrder, rightOrder: rightOrder, side,
                in: &transaction)
        }
        for (_, move) in changes.moved.sorted(by: { $0.value.row < $1.value.row }) {
            try context.rules.checkUnshared(side.table, "a relationship", "changed")
            try writer.move(
                move.row, leftOrder: move.leftOrder, rightOrder: move.rightOrder, side, in: &transaction)
        }
    }
}
