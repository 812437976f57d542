internal import FaultlineLog
internal import FaultlineStore

// Makes the planned changes: objects that return, attributes, to-one relationships, collections, deletions.

extension CommitUndo {
    /// - Throws: The store's error if a value cannot be read; nothing was changed then.
    mutating func make() throws {
        try context.beginReading()
        defer { context.endReading() }
        let attributes = attributes
        let rows = try oldRows(attributes)
        for (key, _) in revivals { revived[key] = context.revive(key, ofClass: try before.placeOfClass(key)) }
        for (key, row) in rows {
            guard let handle = handle(key) else { continue }
            for slot in attributes[key] ?? [] { row.set(slot, of: handle) }
        }
        forEachOldValue { handle, slot, value, _ in
            if case .target(let bits) = value { setTarget(handle, slot, bits) }
        }
        forEachOldValue { handle, slot, value, edit in
            if case .members(let members) = value { setMembers(handle, slot, members, edit) }
        }
        context.remove(deletions.compactMap(handle))
        noteCounts()
    }

    /// The rows of all objects that get attributes back; the places of their large values are known.
    private func oldRows(_ attributes: [StoredKey: [Int]]) throws -> [(StoredKey, OldRow)] {
        try attributes.sorted { ($0.key.ordinal, $0.key.number) < ($1.key.ordinal, $1.key.number) }
            .compactMap { key, slots in
                guard let row = try OldRow(key, slots, in: before) else { return nil }
                return (key, row)
            }
    }

    /// Calls `body` with the relationships of all objects that return or change; with the edit, if it is one of a
    /// stored object.
    private func forEachOldValue(_ body: (ObjectHandle, Int, UndoState.Value, Edit?) -> Void) {
        for (key, state) in revivals {
            guard let handle = revived[key] else { continue }
            for (slot, value) in state.inOrder { body(handle, slot, value, nil) }
        }
        for edit in edits { handle(edit.key).map { body($0, edit.slot, edit.old, edit) } }
    }

    // MARK: Objects

    private func handle(_ key: StoredKey) -> ObjectHandle? {
        if let handle = revived[key] { return handle }
        let home = context.homes[key.ordinal]
        return ObjectRegistry(context).object(ObjectReference(number: key.number, isTemporary: false), home)
            .flatMap(home.handle(of:))
    }

    // MARK: Relationships

    private func setTarget(_ owner: ObjectHandle, _ slot: Int, _ bits: UInt64) {
        guard let destination = owner.destination(of: slot) else { return }
        let target = bits == 0 ? nil : handle(StoredKey(ordinal: destination, number: bits))
        RelationshipEditor(context).setTarget(of: owner, slot, to: target)
    }

    private func setMembers(_ owner: ObjectHandle, _ slot: Int, _ old: [UInt64], _ edit: Edit?) {
        guard let (_, relationship) = MemberReader(context).toMany(owner, slot) else { return }
        let home = context.homes[relationship.destination]
        let present = MemberReader(context).memberObjects(of: owner, slot).compactMap(home.handle(of:))
        func objects(_ members: [UInt64]) -> [ObjectHandle] {
            members.compactMap { handle(StoredKey(ordinal: relationship.destination, number: $0)) }
        }
        let wanted: [ObjectHandle]
        switch (relationship.members, edit) {
        case (.inverse, _):
            // Members name their owner themselves: only the order is restored.
            wanted = objects(old).filter(Self.isIn(present)) + present.filter(Self.isNotIn(objects(old)))
        case (.link, let edit?) where !edit.isUntouched:
            guard case .members(let new) = edit.new else { return }
            let kept = present.filter(Self.isNotIn(objects(Self.without(old, new))))
            wanted = kept + objects(Self.without(new, old)).filter(Self.isNotIn(kept))
        case (.link, _): wanted = objects(old)
        }
        guard !wanted.elementsEqual(present, by: { $0.object === $1.object }) else { return }
        RelationshipEditor(context).setMembers(of: owner, slot, to: wanted)
    }

    /// The members of `all` that are not among `others`.
    private static func without(_ others: [UInt64], _ all: [UInt64]) -> [UInt64] {
        let others = Set(others)
        return all.filter { !others.contains($0) }
    }

    private static func isIn(_ handles: [ObjectHandle]) -> (ObjectHandle) -> Bool {
        let objects = Set(handles.map { ObjectIdentifier($0.object) })
        return { objects.contains(ObjectIdentifier($0.object)) }
    }

    private static func isNotIn(_ handles: [ObjectHandle]) -> (ObjectHandle) -> Bool {
        let isIn = isIn(handles)
        return { !isIn($0) }
    }
}

extension ObjectHandle {
    /// The ordinal of the entity that a to-one slot leads to.
    fileprivate func destination(of slot: Int) -> Int? {
        guard let entity = core.pointee.home.takeUnretainedValue().entity,
            case .toOne(let relationship) = entity.slots[slot]
        else { return nil }
        return relationship.destination
    }
}
