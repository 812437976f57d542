internal import FaultlineLog
internal import FaultlineStore

// New objects that a migration stage has let go.

extension PendingChanges {
    /// Whether the next save adds objects.
    @inline(__always) var hasInserts: Bool { !living.isEmpty || spilled != nil }

    /// All new objects, in the order of their insertion; those that were let go are made again.
    ///
    /// - Complexity: O(1), or O(*n*) for the objects that were let go.
    var inserted: [ObjectHandle] {
        mutating get {
            if spilled != nil { bringBack() }
            return living
        }
        _modify {
            if spilled != nil { bringBack() }
            yield &living
        }
    }

    /// How many new objects of an entity were let go.
    func spilledCount(_ home: EntityHome) -> Int {
        guard let spilled, let ordinal = home.entity?.ordinal else { return 0 }
        return spilled.counts[ordinal]
    }

    /// Makes all new objects again that were let go, if some of them are of an entity.
    @inline(__always)
    mutating func bringBack(of home: EntityHome) {
        if spilled != nil, spilledCount(home) > 0 { bringBack() }
    }

    /// Makes all new objects again that were let go.
    ///
    /// They may go again once there are twice as many: so the cost of calls that ask for them is that of the objects.
    @inline(never)
    mutating func bringBack() {
        guard let spilled else { return }
        self.spilled = nil
        let made = spilled.makeAll(spilled)
        var merged: [ObjectHandle] = []
        merged.reserveCapacity(made.count + living.count)
        for position in living.indices {
            let end = min(spilled.countBefore(position), made.count)
            let placed = merged.count - position
            if placed < end { merged += made[placed..<end] }
            merged.append(living[position])
        }
        merged += made[min(merged.count - living.count, made.count)...]
        lookup.forgetAll()
        living = merged
        if spilled.hasMembers { bringBackMembers(made) }
        spilled.noteAll(merged.count)
    }
}

extension PendingChanges {
    /// The difference of a collection, with all its members.
    @inline(__always)
    mutating func members(_ key: PendingRelationships.Key) -> PendingRelationships.Delta? {
        if spilled != nil { bringBackMembers() }
        return relationships.existing(key)
    }

    /// Makes new objects again that were let go, if collections have some of them as members.
    @inline(never)
    mutating func bringBackMembers() {
        if spilled?.hasMembers == true { bringBack() }
    }

    /// Puts new objects back into the collections that they had joined.
    private mutating func bringBackMembers(_ made: [ObjectHandle]) {
        var members: [ObjectIdentifier: (delta: PendingRelationships.Delta, handles: [ObjectHandle])] = [:]
        for handle in made {
            handle.core.pointee.home._withUnsafeGuaranteedRef { home in
                guard let entity = home.entity, let draft = handle.core.pointee.draft else { return }
                for slot in entity.toOneSlots {
                    let target = ObjectReference(bits: draft.toOne(slot))
                    guard !target.isNil, case .toOne(let relationship) = entity.slots[slot],
                        case .toMany(let inverse) = relationship.inverse,
                        let delta = relationships.existing(
                            .init(entity: relationship.destination, slot: inverse, owner: target)),
                        delta.added.spilledCount > 0
                    else { continue }
                    members[ObjectIdentifier(delta), default: (delta, [])].handles.append(handle)
                }
            }
        }
        for (delta, handles) in members.values { delta.bringBack(handles) }
    }
}

extension ContextCore {
    /// Makes new objects that were let go again if the next save must have all of them in memory: with deletions, whose
    /// rules follow the references of new objects; for code that is told of each object; and for collections whose
    /// members get other positions, or are counted.
    func bringBackForSave() {
        guard let spilled = pending.spilled else { return }
        if pending.hasDeletions || homes.haveLifecycles || conflicts != nil || saving.identifiers != nil
            || spilled.hasMembers
                && (store.storage.hasBounds || pending.relationships.inOrder.contains { $0.delta.needsSpilled })
        {
            pending.bringBack()
        }
    }
}
