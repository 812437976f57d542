internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

/// The position of a walk over the members of a collection.
struct MemberWalk {
    /// The members that the index named last.
    fileprivate var page = MemberPage()
    /// Members that the context holds already: the assigned array, or the members that joined.
    fileprivate var held: [ObjectHandle]?
    fileprivate var heldPlace = 0
    fileprivate var hasStored = true
}

/// Reads the relationships of a context's objects: stored members, with unsaved changes applied.
///
/// Reads one member at a time where it can: only the calls that return all members hold all of them.
struct MemberReader {
    let context: ContextCore

    @inline(__always)
    init(_ context: ContextCore) { self.context = context }

    func toMany(_ owner: ObjectHandle, _ slot: Int) -> (entity: EntityStorage, relationship: ToManyStorage)? {
        guard let entity = owner.core.pointee.home.takeUnretainedValue().entity,
            case .toMany(let relationship) = entity.slots[slot]
        else { return nil }
        return (entity, relationship)
    }

    private func existingDelta(
        _ owner: ObjectHandle, _ entity: EntityStorage, _ slot: Int
    ) -> PendingRelationships.Delta? {
        context.pending.members(.init(entity: entity.ordinal, slot: slot, owner: owner.reference))
    }

    // MARK: One member

    /// Whether an object is in a to-many slot.
    ///
    /// A member that names its owner is read itself; for links, the walk takes the object that has fewer.
    func hasMember(_ owner: ObjectHandle, _ slot: Int, _ member: ObjectHandle) throws -> Bool {
        guard member.core.pointee.context === context, !member.core.pointee.isDeleted,
            let (entity, relationship) = toMany(owner, slot),
            context.homes[relationship.destination] === member.core.pointee.home.takeUnretainedValue()
        else { return false }
        switch relationship.members {
        case .inverse(let inverse, _): return member.reference(in: inverse) == owner.reference
        case .link(let side, _):
            let key = MemberArrays.Key(entity: entity.ordinal, slot: slot, owner: owner.reference)
            try context.beginReading()
            defer { context.endReading() }
            if let array = context.memberArrays.existing(key) { return array.contains(member.object) }
            if let isThere = existingDelta(owner, entity, slot)?.isMember(member.reference) { return isThere }
            guard !owner.core.pointee.has(.temporary), !member.core.pointee.has(.temporary) else { return false }
            return try hasStoredLink(owner.core.pointee.number, member.core.pointee.number, side)
        }
    }

    private func hasStoredLink(_ owner: RecordID, _ member: RecordID, _ side: LinkSide) throws -> Bool {
        try context.beginReading()
        defer { context.endReading() }
        let ends = [(owner, member, side.index), (member, owner, side.otherIndex)]
        var limit = 64
        while true {
            for (one, other, index) in ends {
                var count = 0
                var isFound = false
                try MemberKey.withPrefix(owner: one) { prefix in
                    try context.snapshot.forEachEntry(in: index, prefix: prefix) { key, row in
                        count += 1
                        isFound = MemberKey.member(key, id: row) == other
                        return !isFound && count < limit
                    }
                }
                context.reports.walked.indexEntries += count
                if isFound { return true }
                if count < limit { return false }
            }
            limit *= 8
        }
    }

    // MARK: All members

    /// How many objects are in a to-many slot; makes no object.
    func memberCount(_ owner: ObjectHandle, _ slot: Int) throws -> Int {
        guard !owner.core.pointee.has(.gone), let (entity, relationship) = toMany(owner, slot) else { return 0 }
        let key = MemberArrays.Key(entity: entity.ordinal, slot: slot, owner: owner.reference)
        try context.beginReading()
        defer { context.endReading() }
        if let known = context.memberArrays.existing(key)?.settled.count ?? context.memberArrays.count(key) {
            return known
        }
        let count = try countMembers(owner, slot, entity, relationship)
        context.memberArrays.noteCount(count, key)
        return count
    }

    private func countMembers(
        _ owner: ObjectHandle, _ slot: Int, _ entity: EntityStorage, _ relationship: ToManyStorage
    ) throws -> Int {
        let delta = existingDelta(owner, entity, slot)
        let held = (delta?.added.handles ?? []).filter { !$0.core.pointee.isDeleted }
        guard !owner.core.pointee.has(.temporary) else { return held.count }
        let destination = context.homes[relationship.destination]
        let gone = context.pending.deleted.filter { $0.core.pointee.home.takeUnretainedValue() === destination }
        let targets = ReferenceTargets(
            in: context.store.storage.entities[relationship.destination].table, of: context.snapshot,
            without: Set(gone.map { $0.core.pointee.number }))
        let added = Set(held.map(\.reference))
        var count = held.count
        try MemberKey.withPrefix(owner: owner.core.pointee.number) { prefix in
            try context.snapshot.forEachEntry(in: relationship.members.index, prefix: prefix) { key, row in
                context.reports.walked.indexEntries += 1
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
        try context.beginReading()
        defer { context.endReading() }
        let delta = existingDelta(owner, entity, slot)
        if walk.page.isNew, walk.held == nil, let assigned = delta?.assigned {
            walk.held = assigned.handles
            walk.hasStored = false
        }
        let destination = context.homes[relationship.destination]
        while walk.hasStored {
            let numbers = try nextNumbers(&walk, of: owner, relationship.members.index, limit)
            if context.reports.accounting != nil { context.noteReached(numbers, by: slot, of: owner.core.pointee) }
            let objects = numbers.compactMap { number -> AnyObject? in
                let reference = ObjectReference(number: number, isTemporary: false)
                // Members that left, and members that returned, which are at the end.
                if let delta, delta.isMember(reference) != nil { return nil }
                return ObjectRegistry(context).object(reference, destination)
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

    private func nextNumbers(
        _ walk: inout MemberWalk, of owner: ObjectHandle, _ index: IndexDefinition, _ limit: Int
    ) throws -> [RecordID] {
        guard !owner.core.pointee.has(.temporary) else {
            walk.hasStored = false
            return []
        }
        try context.snapshot.readMembers(of: owner.core.pointee.number, in: index, next: limit, &walk.page)
        let numbers = walk.page.numbers
        context.reports.walked.indexEntries += numbers.count
        walk.hasStored = !walk.page.isLast
        return numbers
    }

    // MARK: Objects

    /// The target of a to-one slot.
    func target(of core: inout ModelCore, _ slot: Int) -> AnyObject? {
        let destination = core.home._withUnsafeGuaranteedRef { $0.entity?.toOneDestinations[slot] ?? -1 }
        guard destination >= 0 else { return nil }
        let reference = ObjectReference(bits: core.read({ $0.toOne(slot) }, { $0.toOne(slot) }) ?? 0)
        if context.reports.accounting != nil, !reference.isNil, !reference.isTemporary {
            context.noteReached(CollectionOfOne(reference.number), by: slot, of: core)
        }
        return context.homes.reference(destination)._withUnsafeGuaranteedRef {
            ObjectRegistry(context).object(reference, $0)
        }
    }

    /// Collects the members of a to-many slot: stored ones, with unsaved changes applied.
    func memberObjects(of owner: ObjectHandle, _ slot: Int) -> [AnyObject] {
        let home = owner.core.pointee.home.takeUnretainedValue()
        guard let entity = home.entity, case .toMany(let relationship) = entity.slots[slot] else { return [] }
        // Objects that still name a deleted object are no members.
        guard !owner.core.pointee.has(.gone) else {
            if owner.core.pointee.has(.absent) {
                ObjectRegistry(context).reportAbsence(of: owner.core.pointee.number, home.entityName)
            }
            return []
        }
        let key = PendingRelationships.Key(entity: entity.ordinal, slot: slot, owner: owner.reference)
        let delta = context.pending.members(key)
        let destination = context.homes[relationship.destination]
        if let assigned = delta?.assigned {
            let members = assigned.handles.filter { !$0.core.pointee.isDeleted }.map(\.object)
            context.reports.walked.collectedMembers += members.count
            return members
        }
        var members: [AnyObject] = []
        defer { context.reports.walked.collectedMembers += members.count }
        if !owner.core.pointee.has(.temporary) {
            do {
                let numbers = try storedMembers(of: owner.core.pointee.number, relationship)
                if context.reports.accounting != nil { context.noteReached(numbers, by: slot, of: owner.core.pointee) }
                for number in numbers {
                    let reference = ObjectReference(number: number, isTemporary: false)
                    // Members that left, and members that were also added elsewhere, which are at the end.
                    if let delta, delta.isMember(reference) != nil { continue }
                    if let object = ObjectRegistry(context).object(reference, destination) { members.append(object) }
                }
            } catch {
                context.noteUnreadable(&owner.core.pointee, error)
            }
        }
        if let delta {
            members.append(contentsOf: delta.added.handles.lazy.filter { !$0.core.pointee.isDeleted }.map(\.object))
        }
        return members
    }

    /// Numbers of the members that the index of a to-many relationship has for an owner, in their order.
    func storedMembers(of owner: RecordID, _ relationship: ToManyStorage) throws -> [RecordID] {
        try context.beginReading()
        defer { context.endReading() }
        let numbers = try context.snapshot.members(of: owner, in: relationship.members.index)
        context.reports.walked.indexEntries += numbers.count
        return numbers
    }
}
