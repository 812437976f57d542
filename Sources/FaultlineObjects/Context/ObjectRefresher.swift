internal import FaultlineLog
internal import FaultlineStore

/// Brings objects of a context to the newest state of the store, with or without their unsaved changes.
struct ObjectRefresher {
    let context: ContextCore

    init(_ context: ContextCore) { self.context = context }

    /// Moves the context and one object to the newest state.
    ///
    /// - Parameters:
    ///   - handle: The object; a new one is ignored, because it has no stored state.
    ///   - mergesChanges: Whether its unsaved changes stay, over the newest values of its other slots. If not they are
    ///     dropped, and it is a fault again.
    func refresh(_ handle: ObjectHandle, mergesChanges: Bool) {
        guard LifecycleCalls(context).mayRearrange("refresh") else { return }
        let handle = handle.core.pointee.extraIfPresent?.canonical ?? handle
        guard context.belongsHere(handle, "refreshed"), !handle.core.pointee.has(.temporary),
            !handle.core.pointee.has(.gone)
        else { return }
        do throws(LogError) { try context.beginReading() } catch { return context.report(error) }
        defer { context.endReading() }
        context.settleMembers()
        if !mergesChanges {
            context.errors.refusals.settle(handle.core, nil)
            dropChanges(of: handle)
        }
        context.moveOn()
        if mergesChanges {
            rebase(handle)
        } else if !handle.core.pointee.has(.changed) {
            handle.core.pointee.row = .none
            // A change that was refused because the object was marked is dropped too.
            handle.core.pointee.dropDraft()
            // A value that could not be read is read again.
            handle.core.pointee.remove(.damaged)
        }
        // Only now: an observer that reads the values at once computes them from the newest row.
        if !mergesChanges { handle.core.pointee.forgetEphemerals() }
        if context.conflicts != nil { OriginalKeeper(context).renewOriginals(of: handle) }
        noteIfSaved()
        context.observations.noteChangeOfAll()
    }

    /// Moves all objects to the newest state; unsaved changes stay.
    func refreshAll() {
        guard LifecycleCalls(context).mayRearrange("refreshAllObjects") else { return }
        do throws(LogError) { try context.beginReading() } catch { return context.report(error) }
        defer { context.endReading() }
        context.settleMembers()
        context.moveOn()
        context.forgetRows()
        rebaseChanges()
        if context.conflicts != nil { OriginalKeeper(context).renewOriginals() }
        context.observations.noteChangeOfAll()
    }

    /// Drops all unsaved changes and all loaded values.
    func reset() {
        guard LifecycleCalls(context).mayRearrange("reset") else { return }
        context.rollback()
        guard !context.rules.isSavedByStage else { return }
        context.errors.ofAccess = nil
        do throws(LogError) { try context.beginReading() } catch { return context.report(error) }
        defer { context.endReading() }
        context.moveOn()
        context.forgetRows()
        context.observations.noteChangeOfAll()
    }

    private func noteIfSaved() { if !context.hasChanges { context.noteSaved() } }

    // MARK: Keeping changes

    /// Applies all unsaved changes to the newest rows of their objects, once the context shows the newest state.
    func rebaseChanges() { context.pending.changed.forEach(rebase) }

    /// Applies an object's changes to its newest row.
    private func rebase(_ handle: ObjectHandle) {
        guard handle.core.pointee.has(.changed), let draft = handle.core.pointee.draft,
            let entity = handle.core.pointee.home.takeUnretainedValue().entity
        else { return }
        let number = handle.core.pointee.number
        do {
            let location = try context.snapshot.location(of: number, in: entity.table)
            // The save refuses and reports a deleted object.
            guard !location.isAbsent,
                UInt64(location.segment) << 32 | UInt64(location.offset) != handle.core.pointee.base
            else { return }
            context.tally.addRow()
            guard let row = RowCache(context).loadedRow(try RowCache(context).readRow(number, at: location, entity))
            else { return }
            let merged = draft.rebased(onto: RowArena.view(row), layout: entity.layout)
            handle.core.pointee.dropDraft()
            handle.core.pointee.draftPointer = merged.block
            handle.core.pointee.setBase(location)
        } catch {
            context.report(error)
        }
    }

    // MARK: Dropping changes

    /// Drops the unsaved changes of one stored object, including the inverse sides of its relationships.
    func dropChanges(of handle: ObjectHandle) {
        guard let entity = handle.core.pointee.home.takeUnretainedValue().entity else { return }
        context.memberArrays.removeAll()
        dropLinks(of: handle, entity)
        guard handle.core.pointee.has(.changed) else { return }
        var claimed: [Int] = []
        let slots = entity.toOneSlots.filter { handle.core.pointee.hasChange(of: $0) }
        do { claimed = try takeBackTargets(of: handle, entity, slots: slots) } catch {
            return context.refuseSave(error)
        }
        context.showStored(handle)
        handle.core.pointee.dropExtra()
        context.pending.changed.remove(handle)
        // A target that another object has claimed in the meantime stays there.
        for slot in claimed { _ = RelationshipEditor(context).write(handle, slot, ObjectReference(bits: 0)) }
    }

    /// Restores the inverse sides of changed to-one relationships to their state without the change.
    ///
    /// - Parameters:
    ///   - handle: The object.
    ///   - entity: Its entity.
    ///   - slots: Changed slots.
    ///   - original: The values that were read, if another save may have changed the object since.
    /// - Returns: Slots whose stored partner another object has claimed, so that they stay nil.
    /// - Throws: The store's error if the row cannot be read.
    func takeBackTargets(
        of handle: ObjectHandle, _ entity: EntityStorage, slots: [Int], _ original: Draft? = nil
    ) throws -> [Int] {
        guard !slots.isEmpty else { return [] }
        context.memberArrays.removeAll()
        var buffer = RecordBuffer()
        let record = try context.snapshot.read(handle.core.pointee.number, in: entity.table, into: &buffer)
        // A deleted object is in no collection.
        let view = try record.map { try context.store.view($0, of: entity) }
        let stored = slots.map { ObjectReference(bits: view?.toOne($0) ?? 0) }
        var claimed: [Int] = []
        for (slot, old) in zip(slots, stored) {
            guard case .toOne(let relationship) = entity.slots[slot] else { continue }
            let new = handle.reference(in: slot)
            switch relationship.inverse {
            case .none: break
            case .toMany(let inverse):
                func change(_ owner: ObjectReference, _ body: (PendingRelationships.Delta) -> Void) {
                    let key = PendingRelationships.Key(entity: relationship.destination, slot: inverse, owner: owner)
                    guard !owner.isNil, let delta = context.pending.members(key) else { return }
                    body(delta)
                    if delta.isEmpty { context.pending.relationships.drop(key) }
                }
                if new != old { change(new) { $0.remove(handle.reference) } }
                change(old) { $0.takeBack(handle) }
                if let original, original.toOne(slot) != old.bits {
                    change(ObjectReference(bits: original.toOne(slot))) { $0.forgetRemoval(of: handle.reference) }
                }
            case .toOne(let inverse):
                guard new != old else { continue }
                let destination = context.homes[relationship.destination]
                if let partner = ObjectRegistry(context).partner(new, destination),
                    partner.reference(in: inverse) == handle.reference
                {
                    _ = RelationshipEditor(context).write(partner, inverse, ObjectReference(bits: 0))
                }
                guard let partner = ObjectRegistry(context).partner(old, destination) else { continue }
                let rival = partner.reference(in: inverse)
                if rival.isNil { _ = RelationshipEditor(context).write(partner, inverse, handle.reference) }
                if !rival.isNil, rival != handle.reference { claimed.append(slot) }
            }
        }
        return claimed
    }

    /// Undoes unsaved links, and unsaved orders, of an object's collections.
    ///
    /// Members that name the object themselves undo their own change.
    private func dropLinks(of handle: ObjectHandle, _ entity: EntityStorage) {
        guard !context.pending.relationships.isEmpty else { return }
        for (slot, storage) in entity.slots.enumerated() {
            guard case .toMany(let relationship) = storage else { continue }
            let key = PendingRelationships.Key(entity: entity.ordinal, slot: slot, owner: handle.reference)
            guard let delta = context.pending.members(key) else { continue }
            if case .link(let side, let inverse) = relationship.members {
                dropLinks(of: handle, delta, side, relationship.destination, inverse)
                context.pending.relationships.drop(key)
            } else {
                delta.forgetOrder()
                if delta.isEmpty { context.pending.relationships.drop(key) }
            }
        }
    }

    private func dropLinks(
        of handle: ObjectHandle, _ delta: PendingRelationships.Delta, _ side: LinkSide, _ destination: Int,
        _ inverse: Int
    ) {
        func set(_ member: ObjectReference, isPresent: Bool) {
            let left = side.isLeft ? handle.reference : member
            let right = side.isLeft ? member : handle.reference
            context.pending.relationships.setLink(
                .init(table: side.table, left: left, right: right), isPresent: isPresent)
        }
        func change(_ member: ObjectReference, _ body: (PendingRelationships.Delta) -> Void) {
            let key = PendingRelationships.Key(entity: destination, slot: inverse, owner: member)
            guard inverse >= 0, let other = context.pending.members(key) else { return }
            body(other)
            if other.isEmpty { context.pending.relationships.drop(key) }
        }
        for member in delta.added.handles where !delta.removed.contains(member.reference) {
            set(member.reference, isPresent: false)
            change(member.reference) { $0.remove(handle.reference) }
        }
        let added = Set(delta.added.handles.map(\.reference))
        for member in delta.removed {
            if !added.contains(member) { set(member, isPresent: true) }
            change(member) { $0.takeBack(handle) }
        }
    }
}
