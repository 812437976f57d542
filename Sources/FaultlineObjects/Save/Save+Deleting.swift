internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

// Deletions. Objects that are not alive are deleted and changed by their numbers, so that a cascade makes none.

extension Save {
    /// Deletes rows with their links, and clears references by the delete rules.
    mutating func writeDeletions(in transaction: inout Transaction) throws {
        guard let walk = deletion else { return }
        for (ordinal, numbers) in walk.doomed.enumerated() where !numbers.isEmpty {
            let entity = store.storage.entities[ordinal]
            try context.rules.checkUnshared(entity.table, "an object of \(entity.name)", "deleted")
            try numbers.forEach { number in
                // Before the object is deleted: its own references lead to the objects whose references must be
                // cleared.
                for partner in walk.rules[ordinal].clearing {
                    try clear(partner, of: walk.subject(number, ordinal), walk, in: &transaction)
                }
                try history?.noteDelete(number, entity, writer, in: &transaction)
                try unlinkAll(number, entity, in: &transaction)
                let memberships = try writer.delete(id: number, entity, in: &transaction)
                if let history { try noteLeaving(memberships, entity, walk, history, in: &transaction) }
            }
        }
        clearDrafts(walk)
    }

    private mutating func clear(
        _ partner: DeletionRules.Partner, of subject: DeletionWalk.Subject, _ walk: DeletionWalk,
        in transaction: inout Transaction
    ) throws {
        let home = context.homes[partner.destination]
        guard let destination = home.entity else { return }
        let owner = subject.reference.number
        let members: [RecordID]
        if partner.isToOne {
            let seen = try walk.targets(of: subject, [partner.slot], in: transaction).filter { !$0.target.isTemporary }
                .map(
                    \.target.number)
            // Another save may have set another partner since.
            let isStored = try !transaction.location(of: owner, in: subject.entity.table).isAbsent
            let stored =
                isStored ? try writer.targets(of: owner, subject.entity, [partner.slot], in: transaction) : []
            members = Array(Set(seen + stored).subtracting([0])).sorted()
        } else {
            guard case .toMany(let relationship) = subject.entity.slots[partner.slot] else { return }
            // Members that another save has added since are included.
            members = try MemberReader(context).storedMembers(of: owner, in: relationship.members.index, transaction)
                .map(\.number)
        }
        for number in members where !walk.doomed[partner.destination].contains(number) {
            let living = ObjectRegistry(context).registeredHandle(number, home)
            // Unsaved values of the slot take precedence: `clearDrafts`.
            if let living, living.core.pointee.hasChange(of: partner.inverse) { continue }
            // A required reference is among the findings.
            guard partner.isOptional || context.rules.defersRelationshipRules else { continue }
            try context.rules.checkUnshared(destination.table, "an object of \(destination.name)", "changed")
            guard try writer.clear(partner.inverse, leadingTo: owner, id: number, destination, in: &transaction) else {
                continue
            }
            try history?.noteUpdate(
                number, mask: SlotMask.bit(partner.inverse), destination, in: &transaction)
            cleared.counts[partner.destination, default: 0] += 1
            if context.saving.collectsObjects { cleared.rows.append((number, destination)) }
            if let living { cleared.living.append((living, partner.inverse)) }
        }
    }

    /// Clears references to deleted objects in unsaved values: only those that were set, because another save may have
    /// changed the others since.
    private mutating func clearDrafts(_ walk: DeletionWalk) {
        for handle in context.pending.living + context.pending.changed where !handle.core.pointee.has(.deleted) {
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
                replaced.clear(handle, slot)
            }
        }
    }

    /// Shows the deletions and cleared references of the save; called before the context forgets its changes.
    ///
    /// - Returns: A closure that notifies the observers of the objects.
    func finishDeletions(_ walk: DeletionWalk) -> () -> Void {
        for (handle, _) in cleared.living { handle.core.pointee.row = .none }
        let watched =
            context.observations.isEmpty ? [] : walk.marked.compactMap { $0.core.pointee.extraIfPresent?.observation }
        walk.unsaved.forEach(context.sendAway)
        guard !context.observations.isEmpty else { return {} }
        let living = cleared.living
        let concerned = walk.concernedByRules
        return { [context] in
            for observation in watched { observation.noteChangeOfAll() }
            for (handle, slot) in living { handle.core.pointee.noteChange(slot) }
            ChangeNotifier(context).noteDeletions(ofEntities: concerned)
        }
    }
}
