internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

// The part of a save that deletes objects. Objects that are not alive are deleted and changed by their numbers, so that
// a cascade makes none. The context shows no effect before the save has succeeded, so that a failed save leaves it
// unchanged.

extension ContextCore {
    /// Collects the objects that the next save deletes; nil if there are none.
    ///
    /// Between `beginReading` and `endReading`.
    func walkDeletions(in state: borrowing some StoredState & ~Copyable) throws -> DeletionWalk? {
        guard hasDeletions else { return nil }
        let walk = DeletionWalk(self)
        try walk.run(in: state)
        return walk
    }

    /// Marks living objects that are deleted, for the time of the save.
    ///
    /// - Returns: A call that removes the marks, after a failed save.
    func markDoomed(_ walk: DeletionWalk) -> () -> Void {
        saving.deletion = walk
        for (ordinal, numbers) in walk.doomed.enumerated() where homes[ordinal].identities.count > 0 {
            let home = homes[ordinal]
            numbers.forEach { number in
                guard let object = registeredObject(number, home), let handle = handle(of: object, home),
                    !handle.core.pointee.isDeleted
                else { return }
                walk.marked.append(handle)
            }
        }
        let count = pending.deleted.count
        pending.deleted += walk.marked
        walk.marked += walk.unsaved.filter { !$0.core.pointee.has(.deleted) }
        for handle in walk.marked { handle.core.pointee.insert(.deleted) }
        memberArrays.removeAll()
        return { [self] in
            memberArrays.removeAll()
            for handle in walk.marked { handle.core.pointee.remove(.deleted) }
            pending.deleted.removeSubrange(count...)
        }
    }

    /// Objects that a save deletes, by entity.
    func deletedCounts(_ walk: DeletionWalk) -> [String: Int] {
        var counts: [String: Int] = [:]
        for (ordinal, numbers) in walk.doomed.enumerated() where !numbers.isEmpty {
            counts[store.storage.entities[ordinal].name] = numbers.count
        }
        return counts
    }

    // MARK: Before a save

    /// Applies delete rules so that the context shows their effects; then releases unsaved objects that were deleted.
    ///
    /// - Throws: `modelValidationFailure` if a rule denies a delete; nothing is changed then.
    func propagateDeletes() throws {
        guard !pending.deleted.isEmpty || pending.hasDeletedInserts else { return }
        try beginReading()
        defer { endReading() }
        guard let walk = try walkDeletions(in: snapshot) else { return }
        let findings = try walk.findings(isMigrating: rules.defersRelationshipRules, in: snapshot)
        guard findings.isEmpty else { throw SwiftDataError.refused(findings) }
        for (ordinal, numbers) in walk.doomed.enumerated() {
            let home = homes[ordinal]
            numbers.forEach { anyObject($0, home).flatMap { handle(of: $0, home) }.map(delete) }
        }
        walk.unsaved.forEach(delete)
        for handle in pending.deleted + walk.unsaved { clearRelationships(of: handle) }
        pending.hasDeletedInserts = false
        guard !walk.unsaved.isEmpty else { return }
        pending.inserted.removeAll { $0.core.pointee.has(.deleted) }
        walk.unsaved.forEach(leavePartners)
        pending.relationships.forget(Set(walk.unsaved.map(\.reference)))
        memberArrays.removeAll()
        walk.unsaved.forEach(sendAway)
    }

    /// Clears an unsaved object's to-one relationships, and so removes it from their inverse sides.
    private func leavePartners(_ handle: ObjectHandle) {
        guard let entity = handle.core.pointee.home.takeUnretainedValue().entity else { return }
        for slot in entity.toOneSlots { setTarget(of: handle, slot, to: nil) }
    }

    /// Clears references to a deleted object, if its rules say so.
    private func clearRelationships(of handle: ObjectHandle) {
        guard let entity = handle.core.pointee.home.takeUnretainedValue().entity else { return }
        for (slot, storage) in entity.slots.enumerated() {
            switch storage {
            case .attribute: continue
            case .toOne(let relationship):
                guard relationship.deleteRule == .nullify, case .toOne(let inverse) = relationship.inverse,
                    let target = target(of: &handle.core.pointee, slot)
                else { continue }
                clear(inverse, of: [target], relationship.destination)
            case .toMany(let relationship):
                switch (relationship.members, relationship.deleteRule) {
                case (.link, .nullify), (.link, .cascade): setMembers(of: handle, slot, to: [])
                case (.inverse(let inverse, _), .nullify):
                    clear(inverse, of: memberObjects(of: handle, slot), relationship.destination)
                default: continue
                }
            }
        }
    }

    private func clear(_ slot: Int, of objects: [AnyObject], _ ordinal: Int) {
        for object in objects {
            if let member = handle(of: object, homes[ordinal]) { setTarget(of: member, slot, to: nil) }
        }
    }
}
