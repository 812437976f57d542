internal import FaultlineLog
internal import FaultlineStore

/// Keeps the original values of a context's changed objects, so that conflicts with other saves can be found.
struct OriginalKeeper {
    let context: ContextCore

    init(_ context: ContextCore) { self.context = context }

    func setMergePolicy(_ policy: MergePolicy) {
        guard policy != context.mergePolicy else { return }
        if policy == .mergeByPropertyObjectTrump, context.conflicts?.watched.isEmpty != false {
            return context.conflicts = nil
        }
        watchConflicts().policy = policy
    }

    func detectConflicts(for handle: ObjectHandle) {
        guard context.belongsHere(handle, "watched for conflicts"), !handle.core.pointee.has(.temporary),
            !handle.core.pointee.isDeleted, let key = watchKey(of: handle)
        else { return }
        let watch = watchConflicts()
        if watch.originals[key] == nil, let row = handle.core.pointee.loadedRow() {
            let base = ModelCore.base(RowArena.location(row.base))
            let draft = Draft.create(copying: row, layout: handle.core.pointee.home.takeUnretainedValue().layout)
            watch.keep(draft, base: base, of: key)
            draft.destroy()
        }
        if watch.originals[key] != nil { watch.watch(key) }
    }

    /// The watch, made when it is first needed, with the original values of earlier changes as far as they are known.
    private func watchConflicts() -> ConflictWatch {
        if let conflicts = context.conflicts { return conflicts }
        let watch = ConflictWatch(.mergeByPropertyObjectTrump)
        context.conflicts = watch
        for handle in context.pending.changed { keepLateOriginal(of: handle, watch) }
        for handle in context.pending.deleted { keepOriginal(ofDeleted: handle) }
        return watch
    }

    /// Keeps the original values of an object that was changed before the watch existed: its row, if the context still
    /// reads it.
    func keepLateOriginal(of handle: ObjectHandle, _ watch: ConflictWatch) {
        guard let key = watchKey(of: handle), let draft = handle.core.pointee.draft else { return }
        let base = handle.core.pointee.base
        if let (stored, place) = try? storedDraft(key) {
            defer { stored.destroy() }
            if place == base { return watch.keep(stored, base: base, of: key) }
        }
        watch.keep(draft, base: base, of: key)
    }

    // MARK: Keeping original values

    /// Keeps the values of an object before its first change.
    @inline(never)
    func keepOriginal(_ draft: Draft, base: UInt64, _ number: RecordID, _ home: ObjectHome) {
        guard let conflicts = context.conflicts, let entity = home.entity else { return }
        conflicts.keep(draft, base: base, of: .init(entity: entity.ordinal, number: number))
    }

    /// Keeps the values of an object that is to be deleted.
    func keepOriginal(ofDeleted handle: ObjectHandle) {
        guard let conflicts = context.conflicts, let key = watchKey(of: handle), conflicts.originals[key] == nil else {
            return
        }
        // The deletion reports an object that cannot be read.
        guard let (stored, place) = try? storedDraft(key) else { return }
        conflicts.keep(stored, base: place, of: key)
        stored.destroy()
    }

    /// Keeps the newest values of a refreshed object, or of all of them.
    func renewOriginals(of handle: ObjectHandle? = nil) {
        guard let conflicts = context.conflicts else { return }
        do {
            let keys = handle.map { watchKey(of: $0).map { [$0] } ?? [] } ?? Array(conflicts.originals.keys)
            for key in keys where conflicts.originals[key] != nil {
                guard let (stored, place) = try storedDraft(key) else { continue }
                conflicts.renew(stored, base: place, of: key)
                stored.destroy()
            }
        } catch { context.report(error) }
    }

    func watchKey(of handle: ObjectHandle) -> ConflictWatch.Key? {
        handle.core.pointee.home.takeUnretainedValue().entity.map {
            .init(entity: $0.ordinal, number: handle.core.pointee.number)
        }
    }

    /// A copy of a stored row, which the caller destroys, and its place; nil if the row is deleted.
    func storedDraft(_ key: ConflictWatch.Key) throws -> (draft: Draft, base: UInt64)? {
        try context.beginReading()
        defer { context.endReading() }
        let entity = context.store.storage.entities[key.entity]
        let location = try context.snapshot.location(of: key.number, in: entity.table)
        guard !location.isAbsent else { return nil }
        context.tally.addRow()
        var buffer = RecordBuffer()
        guard let record = try context.snapshot.read(key.number, in: entity.table, into: &buffer) else { return nil }
        let draft = Draft.create(copying: try context.store.view(record, of: entity), layout: entity.layout)
        return (draft, ModelCore.base(location))
    }
}

extension ModelCore {
    /// The place of a row, encoded as in `base`.
    static func base(_ location: Location) -> UInt64 { UInt64(location.segment) << 32 | UInt64(location.offset) }
}
