internal import FaultlineLog
internal import FaultlineStore

/// Registers the changes of a context with its undo manager.
///
/// It finds them by comparison: `collectChanges` looks at all unsaved objects, and compares each with its values at the
/// last call, or with its stored row if it had no unsaved change then. So setters cost nothing more.
///
/// - Complexity: Each call is O(unsaved objects), and O(members) for collections that have lost members.
final class UndoRecorder: UndoSource {
    /// An unsaved object at the last call.
    private struct Known {
        let handle: ObjectHandle
        let isInserted: Bool
        let isDeleted: Bool
        let values: UndoValues
    }

    private typealias Collection = PendingRelationships.Key

    /// The members of a collection at the last call.
    private enum Members {
        /// Those that the store has, and others behind them.
        case stored(joined: [ObjectHandle])
        case list([UndoValues.Target])
    }

    /// The context, which owns the recorder.
    unowned let context: ContextCore
    let manager: UndoManager
    private var known: [UnsafeMutablePointer<ModelCore>: Known] = [:]
    /// The order in which objects became known.
    private var order: [UnsafeMutablePointer<ModelCore>] = []
    /// The members of changed collections at the last call.
    private var members: [Collection: (owner: ObjectHandle, members: Members)] = [:]
    /// Collections with members that are to be deleted.
    private var collectionsOfDeleted: Set<Collection> = []
    /// Objects that were made for deleted ones, until they are saved.
    var revived: [StoredKey: ObjectHandle] = [:]
    /// All objects that were made for deleted ones, which may leave the context and return.
    var revivals: [ObjectIdentifier: (handle: ObjectHandle, key: StoredKey)] = [:]
    /// Inserted objects that have replaced stored ones, which must not be removed.
    var upserts: Set<ObjectIdentifier> = []
    private var upsertHandles: [ObjectHandle] = []
    private var isCollecting = false

    init(_ context: ContextCore, _ manager: UndoManager) {
        self.context = context
        self.manager = manager
        manager.add(self)
    }

    // MARK: Moments

    func isOf(_ target: AnyObject) -> Bool { context.owner.context.map { $0 === target } ?? false }

    func endEvent() { manager.endEvent() }

    func noteSaved(replacing upserts: [ObjectHandle]) {
        forget()
        revived.removeAll()
        revivals = revivals.filter { !$0.value.handle.core.pointee.has(.attached) }
        upsertHandles += upserts
        self.upserts.formUnion(upserts.map { ObjectIdentifier($0.object) })
    }

    func forgetAll() {
        forget()
        revived.removeAll()
        revivals.removeAll()
        upserts.removeAll()
        upsertHandles.removeAll()
        manager.removeActions(of: ObjectIdentifier(self))
    }

    func leave() {
        forgetAll()
        manager.remove(self)
    }

    private func forget() {
        known.removeAll()
        order.removeAll()
        members.removeAll()
    }

    // MARK: Collecting

    func collectChanges() {
        guard !isCollecting, !context.owner.isAbandoned, context.saving.phase == .none, !context.saving.isQueued,
            context.stage == nil,
            context.hasChanges || !known.isEmpty
        else { return }
        isCollecting = true
        defer { isCollecting = false }
        // The effects of delete rules belong to the deletion. A rule that denies it is told by the save.
        try? DeletePropagation(context).propagateDeletes()
        do throws(LogError) { try context.beginReading() } catch { return context.report(error) }
        defer { context.endReading() }
        let edits = compare()
        guard !edits.isEmpty else { return }
        manager.register(for: self) { [weak self] in self?.make(edits) }
    }

    /// The edits that lead back to the last call; the unsaved objects of now are known afterwards.
    private func compare() -> [UndoEdit] {
        var edits: [UndoEdit] = []
        var nowKnown: [UnsafeMutablePointer<ModelCore>: Known] = [:]
        var nowOrder: [UnsafeMutablePointer<ModelCore>] = []
        let unsaved = context.pending.inserted + context.pending.changed + context.pending.deleted
        for handle in unsaved where nowKnown[handle.core] == nil {
            let old = known[handle.core]
            if handle.core.pointee.has(.inserted), handle.core.pointee.has(.deleted) {
                // A rule has denied the deletion so far.
                if let old {
                    nowKnown[handle.core] = old
                    nowOrder.append(handle.core)
                }
                continue
            }
            guard let entity = handle.core.pointee.home.takeUnretainedValue().entity,
                let now = unchangedValues(of: handle, old, entity) ?? values(of: handle, entity)
            else { continue }
            nowKnown[handle.core] = Known(
                handle: handle, isInserted: handle.core.pointee.has(.inserted),
                isDeleted: handle.core.pointee.has(.deleted), values: now)
            nowOrder.append(handle.core)
            edits += changes(of: handle, entity, now, from: old)
        }
        for core in order where nowKnown[core] == nil {
            if let old = known[core] { edits += changes(of: old) }
        }
        edits += changesOfCollections()
        known = nowKnown
        order = nowOrder
        return edits
    }

    /// The values at the last call, if the object has the same now: they need no copy.
    private func unchangedValues(of handle: ObjectHandle, _ old: Known?, _ entity: EntityStorage) -> UndoValues? {
        guard let old else { return nil }
        guard let draft = handle.core.pointee.draft else { return old.isDeleted ? old.values : nil }
        let isSame = entity.slots.enumerated().allSatisfy { !old.values.differs(from: draft, $0, $1) }
        return isSame ? old.values : nil
    }

    /// The values of an unsaved object.
    private func values(of handle: ObjectHandle, _ entity: EntityStorage) -> UndoValues? {
        if let draft = handle.core.pointee.draft {
            return UndoValues(copying: draft, of: handle, entity, in: context)
        }
        return storedValues(of: handle, entity)
    }

    private func storedValues(of handle: ObjectHandle, _ entity: EntityStorage) -> UndoValues? {
        guard let draft = storedDraft(of: handle, entity) else { return nil }
        defer { draft.destroy() }
        return UndoValues(copying: draft, of: handle, entity, in: context)
    }

    /// The stored row of an object; the caller destroys it.
    private func storedDraft(of handle: ObjectHandle, _ entity: EntityStorage) -> Draft? {
        guard !handle.core.pointee.has(.temporary) else { return nil }
        do {
            var buffer = RecordBuffer()
            let record = try context.snapshot.read(handle.core.pointee.number, in: entity.table, into: &buffer)
            return try record.map {
                Draft.create(copying: try context.store.view($0, of: entity), layout: entity.layout)
            }
        } catch {
            context.report(error)
            return nil
        }
    }

    private func changes(
        of handle: ObjectHandle, _ entity: EntityStorage, _ now: UndoValues, from old: Known?
    ) -> [UndoEdit] {
        let core = handle.core
        if old == nil, core.pointee.has(.inserted) { return [.remove(handle)] }
        var edits: [UndoEdit] = []
        if let draft = core.pointee.draft, core.pointee.has(.inserted) || core.pointee.has(.changed),
            let before = old?.values ?? storedValues(of: handle, entity)
        {
            for (slot, storage) in entity.slots.enumerated()
            where (old != nil || draft.isChanged(slot)) && before.differs(from: draft, slot, storage) {
                edits.append(.set(handle, slot: slot, before))
            }
        }
        switch (old?.isDeleted ?? false, core.pointee.has(.deleted)) {
        case (false, true): edits.append(.keep(handle, now))
        case (true, false): edits.append(.delete(handle))
        default: break
        }
        return edits
    }

    /// The edits for an object that has no unsaved changes any more.
    private func changes(of old: Known) -> [UndoEdit] {
        let core = old.handle.core
        if old.isInserted { return core.pointee.has(.attached) ? [] : [.insert(old.handle, old.values)] }
        if old.isDeleted { return [.delete(old.handle)] }
        guard !core.pointee.has(.gone), let entity = core.pointee.home.takeUnretainedValue().entity,
            let row = storedDraft(of: old.handle, entity)
        else { return [] }
        defer { row.destroy() }
        return entity.slots.enumerated().compactMap { slot, storage in
            old.values.differs(from: row, slot, storage) ? .set(old.handle, slot: slot, old.values) : nil
        }
    }

    // MARK: Collections

    /// The edits for collections of links that have new members, and for others of which members have left or were
    /// given an order.
    private func changesOfCollections() -> [UndoEdit] {
        var edits: [UndoEdit] = []
        var now: [Collection: (owner: ObjectHandle, members: Members)] = [:]
        for key in changedCollections() {
            guard case .toMany(let relationship) = context.store.storage.entities[key.entity].slots[key.slot]
            else { continue }
            let known = members[key]
            guard let owner = owner(of: key) else {
                // It has left the context, and may return.
                if let known {
                    edits.append(.setMembers(known.owner, slot: key.slot, list(known.members, key, relationship)))
                }
                continue
            }
            let old = known?.members ?? .stored(joined: [])
            if let joined = onlyJoined(key, since: old) {
                now[key] = (owner, .stored(joined: joined.all))
                // Members that name their owner leave by their own edit.
                if case .link = relationship.members, !joined.new.isEmpty {
                    edits.append(.removeMembers(owner, slot: key.slot, joined.new))
                }
                continue
            }
            let after = targets(owner, key.slot, relationship)
            let before = list(old, key, relationship)
            if !before.elementsEqual(after, by: { $0.isSame(as: $1) }) {
                edits.append(.setMembers(owner, slot: key.slot, before))
            }
            if collectionsOfDeleted.contains(key) || context.pending.members(key)?.isEmpty == false {
                now[key] = (owner, .list(after))
            }
        }
        members = now
        return edits
    }

    /// The members that have joined a collection, if that is its only change: then its members need not be listed.
    private func onlyJoined(_ key: Collection, since old: Members) -> (all: [ObjectHandle], new: [ObjectHandle])? {
        guard case .stored(let known) = old, !collectionsOfDeleted.contains(key),
            let delta = context.pending.members(key), !delta.isEmpty, delta.assigned == nil, delta.removed.isEmpty
        else { return nil }
        let joined = delta.added.handles
        guard joined.prefix(known.count).elementsEqual(known, by: { $0.object === $1.object }) else { return nil }
        return (joined, Array(joined.dropFirst(known.count)))
    }

    /// Collections with unsaved changes, or with members that are to be deleted, now or at the last call.
    private func changedCollections() -> [Collection] {
        collectionsOfDeleted.removeAll()
        for handle in context.pending.deleted {
            guard let entity = handle.core.pointee.home.takeUnretainedValue().entity else { continue }
            for slot in entity.toOneSlots {
                let owner = handle.reference(in: slot)
                guard case .toOne(let relationship) = entity.slots[slot], !owner.isNil,
                    case .toMany(let inverse) = relationship.inverse
                else { continue }
                collectionsOfDeleted.insert(
                    Collection(entity: relationship.destination, slot: inverse, owner: owner))
            }
        }
        let changed = context.pending.relationships.inOrder.filter { !$0.delta.isEmpty }.map(\.key)
        let known = Set(changed)
        return changed + collectionsOfDeleted.filter { !known.contains($0) }
            + members.keys.filter { !known.contains($0) && !collectionsOfDeleted.contains($0) }
    }

    private func list(_ members: Members, _ key: Collection, _ relationship: ToManyStorage) -> [UndoValues.Target] {
        switch members {
        case .list(let targets): targets
        case .stored(let joined):
            storedTargets(key, relationship)
                + joined.map { UndoValues.Target(of: $0, relationship.destination) }
        }
    }

    private func owner(of key: Collection) -> ObjectHandle? {
        let home = context.homes[key.entity]
        if key.owner.isTemporary { return context.pending.insertedObject(key.owner.number) }
        return ObjectRegistry(context).anyObject(key.owner.number, home).flatMap(home.handle(of:))
    }

    private func targets(
        _ owner: ObjectHandle, _ slot: Int, _ relationship: ToManyStorage
    ) -> [UndoValues.Target] {
        let home = context.homes[relationship.destination]
        return MemberReader(context).memberObjects(of: owner, slot).compactMap { object in
            home.handle(of: object).map { UndoValues.Target(of: $0, relationship.destination) }
        }
    }

    private func storedTargets(_ key: Collection, _ relationship: ToManyStorage) -> [UndoValues.Target] {
        guard !key.owner.isTemporary else { return [] }
        do {
            return try MemberReader(context).storedMembers(of: key.owner.number, relationship).map {
                .stored(ordinal: relationship.destination, $0)
            }
        } catch {
            context.report(error)
            return []
        }
    }
}
