internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

/// Finds the conflicts of a context's changes with other saves, and resolves them by its merge policy.
///
/// A policy other than the default one is applied before the writer's turn, at the newest state: the save that follows is
/// an ordinary change of the stored rows. In the turn the save only checks whether another save came between; then the
/// policy is applied again.
struct ConflictResolver {
    let context: ContextCore

    init(_ context: ContextCore) { self.context = context }

    private var originals: OriginalKeeper { OriginalKeeper(context) }

    // MARK: Saving

    /// Queues a save, and resolves conflicts by the context's policy.
    ///
    /// - Returns: The save; nil if the policy has left nothing to save.
    /// - Throws: `MergeConflictError` under `.error`; the errors of `queue`.
    @inline(__always)
    func dealingWithConflicts(_ queue: () throws -> QueuedSave) throws -> QueuedSave? {
        guard let conflicts = context.conflicts else { return try queue() }
        return try dealWithConflicts(conflicts, queue)
    }

    @inline(never)
    private func dealWithConflicts(_ watch: ConflictWatch, _ queue: () throws -> QueuedSave) throws -> QueuedSave? {
        guard watch.policy != .mergeByPropertyObjectTrump, context.stage == nil else { return try queue() }
        while true {
            try carryOut(watch)
            guard context.hasChanges else {
                context.noteSaved()
                return nil
            }
            do { return try queue() } catch is ChangedMeanwhile { try waitForNewerState() }
        }
    }

    /// Deals with the conflicts that are found now, before a save over several stores.
    func settle() throws {
        guard let watch = context.conflicts, watch.policy != .mergeByPropertyObjectTrump, context.stage == nil else {
            return
        }
        try carryOut(watch)
    }

    /// Waits until the state can be read in which `checkConflicts` has found an object changed.
    func waitForNewerState() throws {
        // Writes nothing: that state was met in the writer's turn.
        _ = try context.store.log.write(author: nil) { _ in }
    }

    /// Makes a save restart if another save has changed one of its objects since conflicts were searched.
    func checkConflicts(in transaction: borrowing Transaction) throws {
        guard let conflicts = context.conflicts, conflicts.policy != .mergeByPropertyObjectTrump, context.stage == nil
        else { return }
        for key in conflicts.settled {
            guard let original = conflicts.originals[key] else { continue }
            let location = try transaction.location(
                of: key.number, in: context.store.storage.entities[key.entity].table)
            if location.isAbsent {
                // The save itself reports that the object is deleted.
                if conflicts.policy == .overwrite { continue }
            } else if ModelCore.base(location) == original.base {
                continue
            }
            throw ChangedMeanwhile()
        }
    }

    private func carryOut(_ watch: ConflictWatch) throws {
        try context.beginReading()
        defer { context.endReading() }
        try context.moveToNewest()
        let found = try findConflicts(watch)
        guard !found.isEmpty else { return }
        switch watch.policy {
        case .error:
            throw MergeConflictError(
                conflicts: found.prefix(MergeConflictError.keptCountMax).map { $0.described(by: context) },
                conflictCount: found.count)
        case .mergeByPropertyObjectTrump: return
        case .mergeByPropertyStoreTrump: try found.forEach { try letStoreWin($0, watch) }
        case .overwrite: found.forEach { overwrite($0, watch) }
        case .rollback: try found.forEach { try dropChanges($0, watch) }
        }
        context.observations.noteChangeOfAll()
    }

    // MARK: Finding

    private func findConflicts(_ watch: ConflictWatch) throws -> [FoundConflict] {
        var found: [FoundConflict] = []
        var seen: Set<ConflictWatch.Key> = []
        func look(_ key: ConflictWatch.Key, _ handle: ObjectHandle?, isDeletedHere: Bool = false) throws {
            guard seen.insert(key).inserted, let original = watch.originals[key] else { return }
            let entity = context.store.storage.entities[key.entity]
            let location = try context.snapshot.location(of: key.number, in: entity.table)
            if !location.isAbsent, ModelCore.base(location) == original.base { return }
            guard let (stored, place) = try originals.storedDraft(key) else {
                // Both sides have deleted it.
                if isDeletedHere { return watch.forget(key) }
                return found.append(FoundConflict(key, handle, entity, .deletedElsewhere, original))
            }
            let conflict = FoundConflict(
                key, handle, entity, isDeletedHere ? .deletedHere : .changedElsewhere, original, stored, place)
            if conflict.slots.isEmpty { watch.move(key, to: place) } else { found.append(conflict) }
        }
        for handle in context.pending.changed where !handle.core.pointee.has(.deleted) {
            guard let key = originals.watchKey(of: handle) else { continue }
            if watch.originals[key] == nil { originals.keepLateOriginal(of: handle, watch) }
            try look(key, handle)
        }
        for handle in context.pending.deleted {
            if let key = originals.watchKey(of: handle) { try look(key, handle, isDeletedHere: true) }
        }
        if watch.policy == .error { for key in watch.watched { try look(key, nil) } }
        watch.forgetAll(but: seen.union(watch.watched))
        watch.settled = seen
        return found
    }

    // MARK: Carrying out

    private func letStoreWin(_ conflict: FoundConflict, _ watch: ConflictWatch) throws {
        guard let handle = conflict.handle, let stored = conflict.stored, conflict.kind == .changedElsewhere,
            let draft = handle.core.pointee.draft
        else { return try dropChanges(conflict, watch) }
        let entity = conflict.entity
        let lost = Set(conflict.slots.filter { conflict.isChangedHere($0, draft) })
        let kept = entity.slots.indices.filter { !lost.contains($0) && conflict.isChangedHere($0, draft) }
        guard !kept.isEmpty else { return try dropChanges(conflict, watch) }
        let claimed = try ObjectRefresher(context).takeBackTargets(
            of: handle, entity, slots: entity.toOneSlots.filter(lost.contains), conflict.original.draft)
        var merged = stored.copy()
        merged.clearMarks()
        for slot in kept { merged.takeValue(of: draft, slot: slot, layout: entity.layout) }
        put(merged, in: handle, conflict, watch)
        for slot in claimed { _ = RelationshipEditor(context).write(handle, slot, ObjectReference(bits: 0)) }
    }

    private func overwrite(_ conflict: FoundConflict, _ watch: ConflictWatch) {
        // The save refuses a deleted object.
        guard let stored = conflict.stored else { return }
        guard let handle = conflict.handle, conflict.kind == .changedElsewhere, let draft = handle.core.pointee.draft
        else { return watch.renew(stored, base: conflict.base, of: conflict.key) }
        let entity = conflict.entity
        var merged = stored.copy()
        merged.clearMarks()
        var references: [(slot: Int, number: RecordID)] = []
        for slot in entity.slots.indices {
            if conflict.isChangedHere(slot, draft) {
                merged.takeValue(of: draft, slot: slot, layout: entity.layout)
            } else if conflict.slots.contains(slot) {
                if case .toOne = entity.slots[slot] {
                    references.append((slot, draft.toOne(slot)))
                } else if !entity.variableSlots.contains(slot) || draft.blobReference(slot) == nil {
                    merged.takeValue(of: draft, slot: slot, layout: entity.layout)
                }
            }
        }
        put(merged, in: handle, conflict, watch)
        // Set in the ordinary way, so that the inverse sides follow.
        for (slot, number) in references {
            guard case .toOne(let relationship) = entity.slots[slot] else { continue }
            let target = ObjectRegistry(context).partner(
                ObjectReference(bits: number), context.homes[relationship.destination])
            if number == 0 || target != nil { RelationshipEditor(context).setTarget(of: handle, slot, to: target) }
        }
    }

    private func dropChanges(_ conflict: FoundConflict, _ watch: ConflictWatch) throws {
        guard let handle = conflict.handle else { return }
        watch.forget(conflict.key)
        if conflict.kind == .deletedHere { context.undelete(handle) }
        ObjectRefresher(context).dropChanges(of: handle)
        handle.core.pointee.row = .none
    }

    /// Gives an object other unsaved values, over the stored row.
    private func put(
        _ draft: Draft, in handle: ObjectHandle, _ conflict: FoundConflict, _ watch: ConflictWatch
    ) {
        handle.core.pointee.dropDraft()
        handle.core.pointee.draftPointer = draft.block
        handle.core.pointee.row = RowReference(bits: conflict.base)
        if let stored = conflict.stored { watch.renew(stored, base: conflict.base, of: conflict.key) }
    }
}
