internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

// Operations on to-many relationships, one member at a time: none of them holds all members.

/// The position of a walk over the members of a collection.
struct MemberWalk {
    /// The last index entry that was read; nil before the first.
    fileprivate var last: (key: [UInt8], row: RecordID)?
    /// Members that the context holds already: the assigned array, or the members that joined.
    fileprivate var held: [ObjectHandle]?
    fileprivate var heldPlace = 0
    fileprivate var hasStored = true
}

extension ContextCore {
    private func toMany(_ owner: ObjectHandle, _ slot: Int) -> (entity: EntityStorage, relationship: ToManyStorage)? {
        guard let entity = owner.core.pointee.home.takeUnretainedValue().entity,
            case .toMany(let relationship) = entity.slots[slot]
        else { return nil }
        return (entity, relationship)
    }

    private func existingDelta(
        _ owner: ObjectHandle, _ entity: EntityStorage, _ slot: Int
    ) -> PendingRelationships.Delta? {
        pending.relationships.existing(.init(entity: entity.ordinal, slot: slot, owner: owner.reference))
    }

    // MARK: One member

    /// Whether an object is in a to-many slot.
    ///
    /// A member that names its owner is read itself; for links, the walk takes the object that has fewer.
    func hasMember(_ owner: ObjectHandle, _ slot: Int, _ member: ObjectHandle) throws -> Bool {
        guard member.core.pointee.context === self, !member.core.pointee.isDeleted,
            let (entity, relationship) = toMany(owner, slot),
            homes[relationship.destination] === member.core.pointee.home.takeUnretainedValue()
        else { return false }
        switch relationship.members {
        case .inverse(let inverse, _): return reference(of: member, inverse) == owner.reference
        case .link(let side, _):
            let key = MemberArrays.Key(entity: entity.ordinal, slot: slot, owner: owner.reference)
            try beginReading()
            defer { endReading() }
            if let array = memberArrays.existing(key) { return array.contains(member.object) }
            if let isThere = existingDelta(owner, entity, slot)?.isMember(member.reference) { return isThere }
            guard !owner.core.pointee.has(.temporary), !member.core.pointee.has(.temporary) else { return false }
            return try hasStoredLink(owner.core.pointee.number, member.core.pointee.number, side)
        }
    }

    private func hasStoredLink(_ owner: RecordID, _ member: RecordID, _ side: LinkSide) throws -> Bool {
        try beginReading()
        defer { endReading() }
        let ends = [(owner, member, side.index), (member, owner, side.otherIndex)]
        var limit = 64
        while true {
            for (one, other, index) in ends {
                var count = 0
                var isFound = false
                try MemberKey.withPrefix(owner: one) { prefix in
                    try snapshot.forEachEntry(in: index, prefix: prefix) { key, row in
                        count += 1
                        isFound = MemberKey.member(key, id: row) == other
                        return !isFound && count < limit
                    }
                }
                walked.indexEntries += count
                if isFound { return true }
                if count < limit { return false }
            }
            limit *= 8
        }
    }

    /// Whether an object is unsaved, or in the state of the store that the context reads.
    private func isThere(_ handle: ObjectHandle, _ entity: EntityStorage) throws -> Bool {
        if handle.core.pointee.has(.temporary) { return true }
        if handle.core.pointee.has(.gone) { return false }
        return try !snapshot.location(of: handle.core.pointee.number, in: entity.table).isAbsent
    }

    /// Adds an object at the end of a to-many slot; false if it is there already, or cannot be added.
    func addMember(_ member: ObjectHandle, to owner: ObjectHandle, _ slot: Int) throws -> Bool {
        guard let (entity, relationship) = toMany(owner, slot) else { return false }
        let isOutermost = errors.refusals.begin(owner, slot)
        defer { errors.refusals.end(isOutermost) }
        try beginReading()
        defer { endReading() }
        guard try isThere(owner, entity) else {
            refuseNextSave(
                SwiftDataError.modelValidationFailure.explained(
                    "A member was given to \(entity.name) \(owner.core.pointee.number), which is not in the store any more."
                ))
            return false
        }
        guard adopt(member), try !hasMember(owner, slot, member) else { return false }
        link(owner, entity, slot, relationship, member)
        return true
    }

    /// Removes an object from a to-many slot; false if it is not there.
    func removeMember(_ member: ObjectHandle, from owner: ObjectHandle, _ slot: Int) throws -> Bool {
        guard let (entity, relationship) = toMany(owner, slot) else { return false }
        try beginReading()
        defer { endReading() }
        guard try hasMember(owner, slot, member) else { return false }
        unlink(owner, entity, slot, relationship, member)
        return true
    }

    // MARK: All members

    /// How many objects are in a to-many slot; makes no object.
    func memberCount(_ owner: ObjectHandle, _ slot: Int) throws -> Int {
        guard !owner.core.pointee.has(.gone), let (entity, relationship) = toMany(owner, slot) else { return 0 }
        let key = MemberArrays.Key(entity: entity.ordinal, slot: slot, owner: owner.reference)
        try beginReading()
        defer { endReading() }
        if let known = memberArrays.existing(key)?.settled.count ?? memberArrays.count(key) { return known }
        let count = try countMembers(owner, slot, entity, relationship)
        memberArrays.noteCount(count, key)
        return count
    }

    private func countMembers(
        _ owner: ObjectHandle, _ slot: Int, _ entity: EntityStorage, _ relationship: ToManyStorage
    ) throws -> Int {
        let delta = existingDelta(owner, entity, slot)
        let held = (delta?.added.handles ?? []).filter { !$0.core.pointee.isDeleted }
        guard !owner.core.pointee.has(.temporary) else { return held.count }
        let destination = homes[relationship.destination]
        let gone = pending.deleted.filter { $0.core.pointee.home.takeUnretainedValue() === destination }
        let targets = ReferenceTargets(
            in: store.storage.entities[relationship.destination].table, of: snapshot,
            without: Set(gone.map { $0.core.pointee.number }))
        let added = Set(held.map(\.reference))
        var count = held.count
        try MemberKey.withPrefix(owner: owner.core.pointee.number) { prefix in
            try snapshot.forEachEntry(in: relationship.members.index, prefix: prefix) { key, row in
                walked.indexEntries += 1
                guard let number = MemberKey.member(key, id: row) else { return true }
                let reference = ObjectReference(number: number, isTemporary: false)
                if let delta, delta.removed.contains(reference) || added.contains(reference) { return true }
                if targets?.isGone(number) != true { count += 1 }
                return true
            }
        }
        try targets?.check()
        return count
    }

    /// The next members of a to-many slot, in their order; none at the end.
    ///
    /// - Parameters:
    ///   - walk: The position; moved past the returned members.
    ///   - owner: The object.
    ///   - slot: The to-many slot.
    ///   - limit: The most index entries to read at once.
    /// - Returns: At least one, unless there are no more.
    /// - Throws: The store's error if it cannot be read.
    func nextMembers(
        _ walk: inout MemberWalk, of owner: ObjectHandle, _ slot: Int, limit: Int
    ) throws -> [AnyObject] {
        guard !owner.core.pointee.has(.gone), let (entity, relationship) = toMany(owner, slot) else { return [] }
        try beginReading()
        defer { endReading() }
        let delta = existingDelta(owner, entity, slot)
        if walk.last == nil, walk.held == nil, let assigned = delta?.assigned {
            walk.held = assigned.handles
            walk.hasStored = false
        }
        let destination = homes[relationship.destination]
        while walk.hasStored {
            let numbers = try storedNumbers(&walk, of: owner, relationship.members.index, limit)
            if accounting != nil { noteReached(numbers, by: slot, of: owner.core.pointee) }
            let objects = numbers.compactMap { number -> AnyObject? in
                let reference = ObjectReference(number: number, isTemporary: false)
                // Members that left, and members that returned, which are at the end.
                if let delta, delta.isMember(reference) != nil { return nil }
                return object(reference, destination)
            }
            if !objects.isEmpty { return objects }
        }
        if walk.held == nil { walk.held = delta?.added.handles ?? [] }
        guard let held = walk.held else { return [] }
        while walk.heldPlace < held.count {
            let page = held[walk.heldPlace..<min(walk.heldPlace + limit, held.count)]
            walk.heldPlace = page.endIndex
            let objects = page.filter { !$0.core.pointee.isDeleted }.map(\.object)
            if !objects.isEmpty { return objects }
        }
        return []
    }

    private func storedNumbers(
        _ walk: inout MemberWalk, of owner: ObjectHandle, _ index: IndexDefinition, _ limit: Int
    ) throws -> [RecordID] {
        guard !owner.core.pointee.has(.temporary) else {
            walk.hasStored = false
            return []
        }
        var numbers: [RecordID] = []
        let last = walk.last
        var next = last
        func take(_ key: UnsafeRawBufferPointer, _ row: RecordID) -> Bool {
            if let last, row <= last.row, key.elementsEqual(last.key) { return true }
            guard let number = MemberKey.member(key, id: row) else { return true }
            numbers.append(number)
            next = (Array(key), row)
            return numbers.count < limit
        }
        try MemberKey.withPrefix(owner: owner.core.pointee.number) { prefix in
            guard let last else { return try snapshot.forEachEntry(in: index, prefix: prefix, take) }
            try last.key.withUnsafeBytes { try snapshot.forEachEntry(in: index, prefix: prefix, from: $0, take) }
        }
        walked.indexEntries += numbers.count
        walk.last = next
        walk.hasStored = numbers.count == limit
        return numbers
    }
}
