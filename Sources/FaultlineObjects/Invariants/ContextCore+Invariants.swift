internal import FaultlineDisk
internal import FaultlineLog
internal import FaultlineStore

extension ContextCore {
    /// Checks the invariants that the type's comment lists, and those of the identity maps and of the lookup.
    ///
    /// Called on the context's thread. Reads the store like a getter, so a context whose snapshot was taken goes on at
    /// the newest state.
    ///
    /// - Throws: The first broken rule, as `BrokenInvariant`; errors of reading the store.
    /// - Complexity: O(living objects + unsaved objects).
    package func checkInvariants() throws {
        let unsaved = pending.lists
        try checkList(unsaved.inserted, "inserted", .inserted)
        try checkList(unsaved.changed, "changed", .changed)
        try checkList(unsaved.deleted, "deleted", .deleted)
        try pending.lookup.checkInvariants(unsaved, homes.all)
        let changed = Set(unsaved.changed.map(\.core))
        let deleted = Set(unsaved.deleted.map(\.core))
        try beginReading()
        defer { endReading() }
        for home in homes.all {
            for (number, handle) in try registered(home) {
                try checkIdentity(number, handle.core, home)
                let isListed =
                    handle.core.pointee.has(.changed) == changed.contains(handle.core)
                    && handle.core.pointee.has(.deleted) == deleted.contains(handle.core)
                // Nothing saves the changes of an abandoned context.
                guard owner.isAbandoned || isListed else {
                    throw unlisted("object \(number) of \(home.entityName) has a flag and is in no list")
                }
                try checkRow(number, handle.core, home)
            }
        }
    }

    private func checkIdentity(
        _ number: RecordID, _ core: UnsafeMutablePointer<ModelCore>, _ home: EntityHome
    ) throws(BrokenInvariant) {
        guard core.pointee.number == number, core.pointee.has(.registered), !core.pointee.has(.alias),
            !core.pointee.has(.temporary), core.pointee.home.toOpaque() == Unmanaged.passUnretained(home).toOpaque()
        else {
            throw broken(
                "at most one registered object a stored row, and any other object of that row is an alias of it",
                "object \(number) of \(home.entityName) is number \(core.pointee.number), or an alias")
        }
    }

    /// The registered objects that are alive.
    private func registered(
        _ home: EntityHome
    ) throws(BrokenInvariant) -> [(number: RecordID, handle: ObjectHandle)] {
        let result = lock.withLock { () -> Result<Void, BrokenInvariant> in
            Result { () throws(BrokenInvariant) in try home.identities.checkInvariants() }
        }
        try result.get()
        return livingObjects(home)
    }

    private func checkList(
        _ list: [ObjectHandle], _ name: String, _ flag: ModelCore.Flags
    ) throws(BrokenInvariant) {
        guard Set(list.map { ObjectIdentifier($0.object) }).count == list.count else {
            throw unlisted("an object is twice in `\(name)`")
        }
        guard list.allSatisfy({ $0.core.pointee.has(flag) && $0.core.pointee.context === self }) else {
            throw unlisted("an object in `\(name)` lacks the flag, or is in another context")
        }
    }

    /// Checks that the loaded row of an object is that of the snapshot; compaction may have moved its record since.
    ///
    /// A deleted object keeps its last values, and one with a draft has the base of its changes in the place of the row.
    private func checkRow(
        _ number: RecordID, _ core: UnsafeMutablePointer<ModelCore>, _ home: EntityHome
    ) throws {
        guard !state.hasOlderRows, !core.pointee.has(.gone), core.pointee.draftPointer == nil, let entity = home.entity,
            let row = RowCache(self).loadedRow(core.pointee.row)
        else { return }
        let location = try snapshot.location(of: number, in: entity.table)
        if location == RowArena.location(row) { return }
        let view = RowArena.view(row)
        var buffer = RecordBuffer()
        let isSame = try snapshot.read(number, in: entity.table, into: &buffer).map { record in
            record.row.elementsEqual(UnsafeRawBufferPointer(start: view.base, count: Int(view.byteCount)))
        }
        guard isSame == true else {
            throw broken(
                "a row in the arena is that of the snapshot, or, where `state.hasOlderRows`, of an older one",
                "object \(number) of \(home.entityName) shows a row that the snapshot lacks")
        }
    }

    private func unlisted(_ detail: String) -> BrokenInvariant {
        broken("`inserted`, `changed` and `deleted` hold every object with the flag of that name, each once", detail)
    }

    private func broken(_ rule: String, _ detail: String) -> BrokenInvariant {
        BrokenInvariant("ContextCore", rule, detail)
    }
}
