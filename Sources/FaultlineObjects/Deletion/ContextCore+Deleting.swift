internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

// What a save does to delete objects. Objects that nobody holds are deleted and changed by their numbers, so that a
// cascade makes none; nothing in the context shows it before the save has succeeded, so that one that fails leaves the
// context as it was.

extension ContextCore {
    /// What the next save deletes; nil if that is nothing.
    ///
    /// Between `beginReading` and `endReading`.
    func walkDeletions() throws -> DeletionWalk? {
        guard hasDeletions else { return nil }
        let walk = DeletionWalk(self)
        try walk.run()
        return walk
    }

    /// Marks objects that are alive and go, for the time of the save.
    ///
    /// - Returns: What takes the marks back, after a save that failed.
    func markDoomed(_ walk: DeletionWalk) -> () -> Void {
        deletion = walk
        for (ordinal, numbers) in walk.doomed.enumerated() where homes[ordinal].identities.count > 0 {
            let home = homes[ordinal]
            numbers.forEach { number in
                guard let object = registeredObject(number, home), let handle = handle(of: object, home),
                    !handle.core.pointee.isDeleted
                else { return }
                walk.marked.append(handle)
            }
        }
        let count = deleted.count
        deleted += walk.marked
        walk.marked += walk.unsaved.filter { !$0.core.pointee.has(.deleted) }
        for handle in walk.marked { handle.core.pointee.insert(.deleted) }
        memberArrays.removeAll()
        return { [self] in
            memberArrays.removeAll()
            for handle in walk.marked { handle.core.pointee.remove(.deleted) }
            deleted.removeSubrange(count...)
        }
    }

    /// Deletes rows with their links, and clears references that delete rules say are to be cleared.
    func writeDeletions(
        _ walk: DeletionWalk, _ saving: inout SavingState, _ writer: inout RowWriter, _ transaction: inout Transaction
    ) throws {
        for (ordinal, numbers) in walk.doomed.enumerated() where !numbers.isEmpty {
            let entity = store.storage.entities[ordinal]
            try checkUnshared(entity.table, "an object of \(entity.name)", "deleted")
            try numbers.forEach { number in
                // Before the object goes: its own references say whose have to be cleared.
                for partner in walk.rules[ordinal].clearing {
                    try clear(partner, of: walk.subject(number, ordinal), walk, &saving, &writer, &transaction)
                }
                try history?.noteDelete(number, entity, writer, in: &transaction)
                try unlinkAll(number, entity, &writer, &transaction)
                let memberships = try writer.delete(id: number, entity, in: &transaction)
                if let history { try noteLeaving(memberships, entity, walk, history, &transaction) }
            }
        }
        clearDrafts(walk, &saving)
    }

    private func clear(
        _ partner: DeletionRules.Partner, of subject: DeletionWalk.Subject, _ walk: DeletionWalk,
        _ saving: inout SavingState, _ writer: inout RowWriter, _ transaction: inout Transaction
    ) throws {
        let home = homes[partner.destination]
        guard let destination = home.entity else { return }
        let owner = subject.reference.number
        let members: [RecordID]
        if partner.isToOne {
            let seen = try walk.targets(of: subject, [partner.slot]).filter { !$0.target.isTemporary }.map(
                \.target.number)
            // Others may have given it another partner meanwhile.
            let isStored = try !transaction.location(of: owner, in: subject.entity.table).isAbsent
            let stored =
                isStored ? try writer.targets(of: owner, subject.entity, [partner.slot], in: transaction) : []
            members = Array(Set(seen + stored).subtracting([0])).sorted()
        } else {
            guard case .toMany(let relationship) = subject.entity.slots[partner.slot] else { return }
            // Those that others have added meanwhile are among them.
            members = try storedMembers(of: owner, in: relationship.members.index, transaction).map(\.number)
        }
        for number in members where !walk.doomed[partner.destination].contains(number) {
            let living = registeredObject(number, home).flatMap { handle(of: $0, home) }
            // What an object's unsaved values say counts, where they say something of it: `clearDrafts`.
            if let living, living.core.pointee.hasChange(of: partner.inverse) { continue }
            guard partner.isOptional || defersRelationshipRules else {
                // Nobody referred to it when that was looked at: another save has come between.
                guard try writer.leads(partner.inverse, to: owner, id: number, destination, in: transaction) else {
                    continue
                }
                var findings = FindingList()
                findings.add(
                    missingObject(ObjectReference(number: number, isTemporary: false), destination, partner.inverse))
                throw SwiftDataError.refused(findings)
            }
            try checkUnshared(destination.table, "an object of \(destination.name)", "changed")
            guard try writer.clear(partner.inverse, leadingTo: owner, id: number, destination, in: &transaction) else {
                continue
            }
            try history?.noteUpdate(
                number, mask: SlotMask.bit(partner.inverse), destination, in: &transaction)
            saving.clearedCounts[partner.destination, default: 0] += 1
            if savedIdentifiers != nil { saving.clearedRows.append((number, destination)) }
            if let living { saving.cleared.append((living, partner.inverse)) }
        }
    }

    /// Clears references to deleted objects in unsaved values: those that were set, as the others are what others may
    /// have changed since.
    private func clearDrafts(_ walk: DeletionWalk, _ saving: inout SavingState) {
        for handle in inserted + changed where !handle.core.pointee.has(.deleted) {
            guard let entity = handle.core.pointee.home.takeUnretainedValue().entity,
                let draft = handle.core.pointee.draft
            else { continue }
            let isNew = handle.core.pointee.has(.inserted)
            for slot in entity.toOneSlots where isNew || handle.core.pointee.hasChange(of: slot) {
                let target = ObjectReference(bits: draft.toOne(slot))
                guard !target.isNil, case .toOne(let relationship) = entity.slots[slot],
                    walk.isDoomed(target, relationship.destination),
                    walk.rules[relationship.destination].clears(slot, of: entity.ordinal)
                else { continue }
                saving.clear(handle, slot)
            }
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

    /// Shows what a save has deleted and cleared; before the context forgets its changes.
    ///
    /// - Returns: How those who watch objects are to be told of what the rules have done.
    func finishDeletions(_ walk: DeletionWalk, _ saving: SavingState) -> () -> Void {
        for (handle, _) in saving.cleared { handle.core.pointee.row = .none }
        let watched = observations.isEmpty ? [] : walk.marked.compactMap { $0.core.pointee.extraIfPresent?.observation }
        walk.unsaved.forEach(sendAway)
        guard !observations.isEmpty else { return {} }
        let cleared = saving.cleared
        let concerned = walk.concernedByRules
        return { [self] in
            for observation in watched { observation.noteChangeOfAll() }
            for (handle, slot) in cleared { handle.core.pointee.noteChange(slot) }
            noteDeletions(ofEntities: concerned)
        }
    }

    // MARK: Before a save

    /// Carries delete rules out so that the context shows it; then lets go of unsaved objects that were deleted.
    ///
    /// - Throws: `modelValidationFailure` if a rule denies a delete; nothing is changed then.
    func propagateDeletes() throws {
        guard !deleted.isEmpty || hasDeletedInserts else { return }
        try beginReading()
        defer { endReading() }
        guard let walk = try walkDeletions() else { return }
        let findings = try walk.findings(isMigrating: defersRelationshipRules)
        guard findings.isEmpty else { throw SwiftDataError.refused(findings) }
        for (ordinal, numbers) in walk.doomed.enumerated() {
            let home = homes[ordinal]
            numbers.forEach { anyObject($0, home).flatMap { handle(of: $0, home) }.map(delete) }
        }
        walk.unsaved.forEach(delete)
        for handle in deleted + walk.unsaved { clearRelationships(of: handle) }
        hasDeletedInserts = false
        guard !walk.unsaved.isEmpty else { return }
        inserted.removeAll { $0.core.pointee.has(.deleted) }
        walk.unsaved.forEach(leavePartners)
        relationships.forget(Set(walk.unsaved.map(\.reference)))
        memberArrays.removeAll()
        walk.unsaved.forEach(sendAway)
    }

    /// Takes an unsaved object out of what its to-one relationships lead to.
    private func leavePartners(_ handle: ObjectHandle) {
        guard let entity = handle.core.pointee.home.takeUnretainedValue().entity else { return }
        for slot in entity.toOneSlots { setTarget(of: handle, slot, to: nil) }
    }

    /// Clears what points back to an object that is deleted, where its rules say so.
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
