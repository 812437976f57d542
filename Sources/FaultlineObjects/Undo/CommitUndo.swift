internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

/// Takes back the changes of one save in a context: plans all of them, then makes them as unsaved changes.
///
/// A change is taken back where the context still has the value that the save made: a three-way comparison of the state
/// before the save, the state after it, and the context with its unsaved changes. Collections are merged: members that
/// the save added leave, members that it removed return.
struct CommitUndo {
    /// A value to be set again.
    struct Edit {
        let key: StoredKey
        let slot: Int
        let old: UndoState.Value
        let new: UndoState.Value
        /// Whether the context's value is that of the save.
        let isUntouched: Bool
    }

    let context: ContextCore
    /// Reads the state before the save.
    let before: ContextCore
    /// Reads the state after it.
    let after: ContextCore

    private(set) var summary = CommitUndoSummary()
    /// Objects that the save had inserted.
    private(set) var deletions: [StoredKey] = []
    /// Objects that the save had deleted, with their values before it.
    private(set) var revivals: [(key: StoredKey, state: UndoState)] = []
    private(set) var edits: [Edit] = []
    /// The slots with later values.
    private var conflicts: [StoredKey: Set<Int>] = [:]
    /// The objects that are made for `revivals`.
    var revived: [StoredKey: ObjectHandle] = [:]

    init(_ context: ContextCore, before: ContextCore, after: ContextCore) {
        self.context = context
        self.before = before
        self.after = after
    }

    /// Plans, and makes the changes if the policy allows it.
    ///
    /// - Parameters:
    ///   - changed: The objects that the save has changed.
    ///   - policy: Whether conflicts are refused.
    /// - Returns: Counts of the changes, and the conflicts.
    /// - Throws: `CommitUndoError` where the policy refuses conflicts; the store's error if one of the states cannot be
    ///   read. Nothing was changed then.
    mutating func run(_ changed: [ChangedObject], _ policy: CommitUndoPolicy) throws -> CommitUndoSummary {
        for object in changed { try plan(object) }
        dropEditsWithoutTarget()
        dropEditsOfPartnersInConflict()
        if policy == .refuse, summary.conflictCount > 0 {
            throw CommitUndoError(conflicts: summary.conflicts, conflictCount: summary.conflictCount)
        }
        try make()
        return summary
    }

    // MARK: Planning

    private mutating func plan(_ object: ChangedObject) throws {
        let old = try UndoState.read(object.key, object.slots, in: before)
        // All of an inserted object.
        let new = try UndoState.read(object.key, old == nil ? nil : object.slots, in: after)
        switch (old, new) {
        case (nil, nil): break
        case (nil, let new?): try planDeletion(object.key, new)
        case (let old?, nil):
            // Another undo may have restored it.
            guard try UndoState.read(object.key, [], in: context) == nil else { return }
            // All of a deleted object, also where the history names some slots of it.
            revivals.append((object.key, try UndoState.read(object.key, nil, in: before) ?? old))
        case (let old?, let new?): try planEdits(object, old, new)
        }
    }

    private mutating func planDeletion(_ key: StoredKey, _ new: UndoState) throws {
        guard let now = try UndoState.read(key, nil, in: context) else { return }
        if let slot = new.slotsThatDiffer(from: now).first { return note(key, slot, .changedSince) }
        deletions.append(key)
    }

    private mutating func planEdits(_ object: ChangedObject, _ old: UndoState, _ new: UndoState) throws {
        let slots = old.slotsThatDiffer(from: new)
        guard !slots.isEmpty else { return }
        guard let now = try UndoState.read(object.key, Set(slots), in: context) else {
            return note(object.key, nil, .deletedSince)
        }
        for slot in slots {
            guard let old = old[slot], let new = new[slot], let now = now[slot], now != old else { continue }
            var isCollection: Bool { if case .members = new { true } else { false } }
            guard now == new || isCollection else {
                note(object.key, slot, .changedSince)
                continue
            }
            edits.append(Edit(key: object.key, slot: slot, old: old, new: new, isUntouched: now == new))
        }
    }

    /// Leaves out to-one relationships whose old target is there no more.
    private mutating func dropEditsWithoutTarget() {
        let returning = Set(revivals.map(\.key))
        var kept: [Edit] = []
        for edit in edits {
            if case .target(let bits) = edit.old, bits != 0, !isThere(bits, edit.key, edit.slot, returning) {
                note(edit.key, edit.slot, .targetDeleted)
            } else {
                kept.append(edit)
            }
        }
        edits = kept
        for (key, state) in revivals {
            for (slot, value) in state.inOrder {
                guard case .target(let bits) = value, bits != 0, !isThere(bits, key, slot, returning) else {
                    continue
                }
                // A reference to an object that was deleted before is nil.
                guard wasThere(bits, key, slot) else { continue }
                note(key, slot, .targetDeleted)
            }
        }
    }

    /// Leaves out to-one relationships whose other side is in conflict: setting one side sets the other.
    private mutating func dropEditsOfPartnersInConflict() {
        edits = edits.filter { !isOtherSideInConflict($0.old, $0.key, $0.slot) }
        for place in revivals.indices {
            let (key, state) = revivals[place]
            for (slot, value) in state.inOrder where isOtherSideInConflict(value, key, slot) {
                revivals[place].state.leaveOut(slot)
            }
        }
    }

    private func isOtherSideInConflict(_ value: UndoState.Value, _ key: StoredKey, _ slot: Int) -> Bool {
        guard case .target(let bits) = value, bits != 0,
            case .toOne(let relationship)? = context.homes[key.ordinal].entity?.slots[slot],
            case .toOne(let inverse) = relationship.inverse
        else { return false }
        return conflicts[StoredKey(ordinal: relationship.destination, number: bits)]?.contains(inverse) == true
    }

    private func isThere(_ bits: UInt64, _ key: StoredKey, _ slot: Int, _ returning: Set<StoredKey>) -> Bool {
        guard case .toOne(let relationship)? = context.homes[key.ordinal].entity?.slots[slot] else { return false }
        let target = StoredKey(ordinal: relationship.destination, number: bits)
        return returning.contains(target) || context.has(target)
    }

    private func wasThere(_ bits: UInt64, _ key: StoredKey, _ slot: Int) -> Bool {
        guard case .toOne(let relationship)? = context.homes[key.ordinal].entity?.slots[slot] else { return false }
        return before.has(StoredKey(ordinal: relationship.destination, number: bits))
    }

    private mutating func note(_ key: StoredKey, _ slot: Int?, _ reason: CommitUndoConflict.Reason) {
        if let slot { conflicts[key, default: []].insert(slot) }
        guard let entity = context.homes[key.ordinal].entity else { return }
        let properties = context.store.storage.schema.entities[entity.ordinal].properties
        summary.add(
            CommitUndoConflict(
                object: PersistentIdentifier(
                    storeID: context.store.log.storeID, entityName: entity.name, number: key.number),
                property: slot.map { properties[$0].name }, reason: reason))
    }

    /// The attributes that objects get back, by object.
    var attributes: [StoredKey: [Int]] {
        var slots: [StoredKey: [Int]] = [:]
        for (key, state) in revivals { slots[key] = state.inOrder.filter { $0.value.isAttribute }.map(\.slot) }
        for edit in edits where edit.old.isAttribute { slots[edit.key, default: []].append(edit.slot) }
        return slots
    }

    mutating func noteCounts() {
        summary.restoredCount = revived.count
        summary.changedCount = Set(edits.map(\.key)).count
        summary.deletedCount = deletions.count
    }
}

extension ContextCore {
    /// Whether an object is there: stored, and not to be deleted.
    fileprivate func has(_ key: StoredKey) -> Bool {
        ObjectRegistry(self).object(ObjectReference(number: key.number, isTemporary: false), homes[key.ordinal]) != nil
    }
}
