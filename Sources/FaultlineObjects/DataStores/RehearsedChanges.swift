internal import FaultlineStore

/// Reads the values of the objects that a rehearsed save writes.
///
/// In the turn of the context, while it reads its newest state.
struct RehearsedChanges {
    private let context: ContextCore
    private let localCopy: LocalCopy
    private let rehearsal: SaveRehearsal
    /// The identifiers that the data store knows new objects by, if it has saved them before.
    private let acknowledged: [PersistentIdentifier: PersistentIdentifier]
    /// For new objects the identifiers that the data store knows them by: their own, or those of the objects whose place
    /// they take.
    private let replaced: [PersistentIdentifier: PersistentIdentifier]

    init(
        _ context: ContextCore, _ localCopy: LocalCopy, _ rehearsal: SaveRehearsal,
        _ acknowledged: [PersistentIdentifier: PersistentIdentifier]
    ) {
        self.context = context
        self.localCopy = localCopy
        self.rehearsal = rehearsal
        self.acknowledged = acknowledged
        var replaced = acknowledged
        // By the identifiers that new objects get in the rehearsal.
        var known: [PersistentIdentifier: PersistentIdentifier] = [:]
        for (object, identifier) in rehearsal.inserted {
            let temporary = object.core.pointee.persistentIdentifier
            known[identifier] = acknowledged[temporary] ?? temporary
        }
        for (identifier, objects) in rehearsal.combined {
            let taken = known[identifier] ?? identifier
            for object in objects { replaced[object.core.pointee.persistentIdentifier] = taken }
        }
        self.replaced = replaced
    }

    func read() throws -> DataStoreChanges {
        var changes = DataStoreChanges(replaced: replaced)
        var rest = rehearsal.combined
        for (handle, identifier) in rehearsal.inserted {
            guard let object = handle.object as? any PersistentModel else { continue }
            let change = try change(object, rest.removeValue(forKey: identifier) ?? [])
            if acknowledged[handle.core.pointee.persistentIdentifier] != nil {
                changes.updated.append(change)
            } else {
                changes.inserted.append(change)
            }
        }
        let deleted = rehearsal.identifiers.deleted
        let before = context.contextOfStored()
        try before.beginReading()
        defer { before.endReading() }
        before.moveTo(context.snapshot)
        for identifier in deleted.sorted() {
            if let object = try stored(identifier, before) { changes.deleted.append(try change(object, [])) }
        }
        for identifier in rehearsal.identifiers.updated.union(rest.keys).subtracting(deleted).sorted() {
            guard let object = try stored(identifier, context) else { continue }
            changes.updated.append(try change(object, rest[identifier] ?? []))
        }
        return changes
    }

    /// The values of an object after new ones have taken its place, under the identifiers that the data store knows.
    private func change(_ object: any PersistentModel, _ combined: [ObjectHandle]) throws -> DataStoreChanges.Change {
        var values = try values(of: object)
        for handle in combined {
            guard let new = handle.object as? any PersistentModel else { continue }
            values = try self.values(of: new).keepingRelationships(of: values)
        }
        return .init(object: object, values: values, isCombined: !combined.isEmpty)
    }

    private func values(of object: any PersistentModel) throws -> DefaultSnapshot {
        let values = try DefaultSnapshot(of: object)
        return values.copy(
            persistentIdentifier: replaced[values.persistentIdentifier] ?? values.persistentIdentifier,
            remappedIdentifiers: replaced)
    }

    private func stored(_ identifier: PersistentIdentifier, _ core: ContextCore) throws -> (any PersistentModel)? {
        guard try localCopy.isKnown(identifier) else { return nil }
        return try ObjectRegistry(core).existingModel(for: identifier) { _ in true }
    }
}
