internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

/// Applies delete rules to a context before a save, so that the context shows their effects.
struct DeletePropagation {
    let context: ContextCore

    init(_ context: ContextCore) { self.context = context }

    // MARK: Before a save

    /// Applies delete rules so that the context shows their effects; then releases unsaved objects that were deleted.
    ///
    /// - Throws: `modelValidationFailure` if a rule denies a delete; nothing is changed then.
    func propagateDeletes() throws {
        guard !context.pending.deleted.isEmpty || context.pending.hasDeletedInserts else { return }
        try context.beginReading()
        defer { context.endReading() }
        guard let walk = try DeletionWalk.ofNextSave(context, in: context.snapshot) else { return }
        let findings = try walk.findings(isMigrating: context.rules.defersRelationshipRules, in: context.snapshot)
        guard findings.isEmpty else { throw SwiftDataError.refused(findings) }
        for (ordinal, numbers) in walk.doomed.enumerated() {
            let home = context.homes[ordinal]
            numbers.forEach {
                ObjectRegistry(context).anyObject($0, home).flatMap { home.handle(of: $0) }.map(context.delete)
            }
        }
        walk.unsaved.forEach(context.delete)
        for handle in context.pending.deleted + walk.unsaved { clearRelationships(of: handle) }
        context.pending.deletedInsertCount = 0
        guard !walk.unsaved.isEmpty else { return }
        context.pending.inserted.removeAll { $0.core.pointee.has(.deleted) }
        walk.unsaved.forEach(leavePartners)
        context.pending.relationships.forget(Set(walk.unsaved.map(\.reference)))
        context.memberArrays.removeAll()
        walk.unsaved.forEach(context.sendAway)
    }

    /// Clears an unsaved object's to-one relationships, and so removes it from their inverse sides.
    private func leavePartners(_ handle: ObjectHandle) {
        guard let entity = handle.core.pointee.home.takeUnretainedValue().entity else { return }
        for slot in entity.toOneSlots { RelationshipEditor(context).setTarget(of: handle, slot, to: nil) }
    }

    /// Clears references to a deleted object, if its rules say so.
    private func clearRelationships(of handle: ObjectHandle) {
        guard let entity = handle.core.pointee.home.takeUnretainedValue().entity else { return }
        for (slot, storage) in entity.slots.enumerated() {
            switch storage {
            case .attribute: continue
            case .toOne(let relationship):
                guard relationship.deleteRule == .nullify, case .toOne(let inverse) = relationship.inverse,
                    let target = MemberReader(context).target(of: &handle.core.pointee, slot)
                else { continue }
                clear(inverse, of: [target], relationship.destination)
            case .toMany(let relationship):
                switch (relationship.members, relationship.deleteRule) {
                case (.link, .nullify), (.link, .cascade):
                    RelationshipEditor(context).setMembers(of: handle, slot, to: [])
                case (.inverse(let inverse, _), .nullify):
                    clear(inverse, of: MemberReader(context).memberObjects(of: handle, slot), relationship.destination)
                default: continue
                }
            }
        }
    }

    private func clear(_ slot: Int, of objects: [AnyObject], _ ordinal: Int) {
        for object in objects {
            if let member = context.homes[ordinal].handle(of: object) {
                RelationshipEditor(context).setTarget(of: member, slot, to: nil)
            }
        }
    }
}
