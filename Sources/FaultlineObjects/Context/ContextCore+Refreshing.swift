internal import FaultlineLog
internal import FaultlineStore

// Objects that are brought to the newest state of the store, with their unsaved changes or without them.

extension ContextCore {
    /// Brings the context to the newest state, and one object with it.
    ///
    /// - Parameters:
    ///   - handle: The object; a new one is left alone, having no stored state.
    ///   - mergesChanges: Whether its unsaved changes stay, over the newest values of what was not changed. If not they
    ///     are dropped, and it is a fault again.
    func refresh(_ handle: ObjectHandle, mergesChanges: Bool) {
        guard mayRearrange("refresh") else { return }
        let handle = handle.core.pointee.extraIfPresent?.canonical ?? handle
        guard belongsHere(handle, "refreshed"), !handle.core.pointee.has(.temporary),
            !handle.core.pointee.has(.gone)
        else { return }
        do throws(LogError) { try beginReading() } catch { return report(error) }
        defer { endReading() }
        settleMembers()
        if !mergesChanges {
            dropChanges(of: handle)
            handle.core.pointee.forgetEphemerals()
        }
        moveToNewest()
        if mergesChanges {
            rebase(handle)
        } else if !handle.core.pointee.has(.changed) {
            handle.core.pointee.row = .none
            // So is a change that was refused because the object was marked.
            handle.core.pointee.dropDraft()
            // A value that could not be read is read again.
            handle.core.pointee.remove(.damaged)
        }
        if conflicts != nil { renewOriginals(of: handle) }
        noteIfSaved()
        noteMoveFromUnknown()
    }

    /// Brings all objects to the newest state; unsaved changes stay.
    func refreshAll() {
        guard mayRearrange("refreshAllObjects") else { return }
        do throws(LogError) { try beginReading() } catch { return report(error) }
        defer { endReading() }
        settleMembers()
        moveToNewest()
        forgetRows()
        changed.forEach(rebase)
        if conflicts != nil { renewOriginals() }
        noteMoveFromUnknown()
    }

    /// Drops all unsaved changes and all that was loaded.
    func reset() {
        guard mayRearrange("reset") else { return }
        rollback()
        guard !isSavedByStage else { return }
        getterError = nil
        do throws(LogError) { try beginReading() } catch { return report(error) }
        defer { endReading() }
        moveToNewest()
        forgetRows()
        noteMoveFromUnknown()
    }

    private func noteIfSaved() { if !hasChanges { noteSaved() } }

    // MARK: Keeping changes

    /// Lays an object's changes over its newest row.
    private func rebase(_ handle: ObjectHandle) {
        guard handle.core.pointee.has(.changed), let draft = handle.core.pointee.draft,
            let entity = handle.core.pointee.home.takeUnretainedValue().entity
        else { return }
        let number = handle.core.pointee.number
        do {
            let location = try snapshot.location(of: number, in: entity.table)
            // One that is gone is refused by the save, which says so.
            guard !location.isAbsent,
                UInt64(location.segment) << 32 | UInt64(location.offset) != handle.core.pointee.base
            else { return }
            tally.addRow()
            guard let row = loadedRow(try readRow(number, at: location, entity)) else { return }
            let merged = draft.rebased(onto: RowArena.view(row), layout: entity.layout)
            handle.core.pointee.dropDraft()
            handle.core.pointee.draftPointer = merged.block
            handle.core.pointee.setBase(location)
        } catch {
            report(error)
        }
    }

    // MARK: Dropping changes

    /// Drops the unsaved changes of one stored object, on the other sides of its relationships too.
    func dropChanges(of handle: ObjectHandle) {
        guard let entity = handle.core.pointee.home.takeUnretainedValue().entity else { return }
        memberArrays.removeAll()
        dropLinks(of: handle, entity)
        guard handle.core.pointee.has(.changed) else { return }
        var claimed: [Int] = []
        let slots = entity.toOneSlots.filter { handle.core.pointee.hasChange(of: $0) }
        do { claimed = try takeBackTargets(of: handle, entity, slots: slots) } catch { return refuseSave(error) }
        showStored(handle)
        handle.core.pointee.dropExtra()
        changed.remove(handle)
        // What another object has claimed meanwhile stays away.
        for slot in claimed { _ = write(handle, slot, ObjectReference(bits: 0)) }
    }

    /// Makes the other sides of changed to-one relationships what they would be without the change.
    ///
    /// - Parameters:
    ///   - handle: The object.
    ///   - entity: Its entity.
    ///   - slots: Changed slots.
    ///   - original: What was read of the object, where others may have changed it since.
    /// - Returns: Slots whose stored partner another object has claimed, so that they stay nil.
    /// - Throws: What the store says where the row cannot be read.
    func takeBackTargets(
        of handle: ObjectHandle, _ entity: EntityStorage, slots: [Int], _ original: Draft? = nil
    ) throws -> [Int] {
        guard !slots.isEmpty else { return [] }
        memberArrays.removeAll()
        var buffer = RecordBuffer()
        let record = try snapshot.read(handle.core.pointee.number, in: entity.table, into: &buffer)
        // One that is gone is in nobody's collection.
        let view = try record.map { try store.view($0, of: entity) }
        let stored = slots.map { ObjectReference(bits: view?.toOne($0) ?? 0) }
        var claimed: [Int] = []
        for (slot, old) in zip(slots, stored) {
            guard case .toOne(let relationship) = entity.slots[slot] else { continue }
            let new = reference(of: handle, slot)
            switch relationship.inverse {
            case .none: break
            case .toMany(let inverse):
                func change(_ owner: ObjectReference, _ body: (PendingRelationships.Delta) -> Void) {
                    let key = PendingRelationships.Key(entity: relationship.destination, slot: inverse, owner: owner)
                    guard !owner.isNil, let delta = relationships.existing(key) else { return }
                    body(delta)
                    if delta.isEmpty { relationships.drop(key) }
                }
                if new != old { change(new) { $0.remove(handle.reference) } }
                change(old) { $0.takeBack(handle) }
                if let original, original.toOne(slot) != old.bits {
                    change(ObjectReference(bits: original.toOne(slot))) { $0.forgetRemoval(of: handle.reference) }
                }
            case .toOne(let inverse):
                guard new != old else { continue }
                let destination = homes[relationship.destination]
                if let partner = partner(new, destination), reference(of: partner, inverse) == handle.reference {
                    _ = write(partner, inverse, ObjectReference(bits: 0))
                }
                guard let partner = partner(old, destination) else { continue }
                let rival = reference(of: partner, inverse)
                if rival.isNil { _ = write(partner, inverse, handle.reference) }
                if !rival.isNil, rival != handle.reference { claimed.append(slot) }
            }
        }
        return claimed
    }

    /// Takes back unsaved links, and unsaved orders, of an object's collections.
    ///
    /// Members that name the object themselves are theirs to take back.
    private func dropLinks(of handle: ObjectHandle, _ entity: EntityStorage) {
        guard !relationships.isEmpty else { return }
        for (slot, storage) in entity.slots.enumerated() {
            guard case .toMany(let relationship) = storage else { continue }
            let key = PendingRelationships.Key(entity: entity.ordinal, slot: slot, owner: handle.reference)
            guard let delta = relationships.existing(key) else { continue }
            if case .link(let side, let inverse) = relationship.members {
                dropLinks(of: handle, delta, side, relationship.destination, inverse)
                relationships.drop(key)
            } else {
                delta.forgetOrder()
                if delta.isEmpty { relationships.drop(key) }
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
            relationships.setLink(.init(table: side.table, left: left, right: right), isPresent: isPresent)
        }
        func change(_ member: ObjectReference, _ body: (PendingRelationships.Delta) -> Void) {
            let key = PendingRelationships.Key(entity: destination, slot: inverse, owner: member)
            guard inverse >= 0, let other = relationships.existing(key) else { return }
            body(other)
            if other.isEmpty { relationships.drop(key) }
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
