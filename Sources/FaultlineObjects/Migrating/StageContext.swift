internal import FaultlineDisk
package import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

/// A context that a migration stage reads from, or writes through.
///
/// A streamed or mapped stage calls it beside the context's own interface: for numbers, for keys, and for the counts and
/// sizes of a batch.
package struct StageContext {
    package let core: ContextCore

    package init(_ core: ContextCore) { self.core = core }

    /// Objects that the next save writes.
    package var unsavedCount: Int { insertedCount + core.pending.changed.count }

    /// Objects with unsaved changes.
    package var pendingCount: Int { unsavedCount + core.pending.deleted.count }

    /// Objects that the next save adds.
    package var insertedCount: Int { core.pending.living.count + spilledCount }

    /// Objects that the next save adds, and that the context has let go.
    package var spilledCount: Int { core.pending.spilled?.count ?? 0 }

    /// Objects of a class that the next save adds, after the first `start` of all.
    package func inserted<T: PersistentModel>(_ type: T.Type, from start: Int) -> [T] {
        guard let home = core.home(of: T._$modelType), start < core.pending.living.count else { return [] }
        return core.pending.living[start...].compactMap {
            guard $0.core.pointee.home.takeUnretainedValue() === home else { return nil }
            return $0.object as? T
        }
    }

    /// Objects that the next save adds, by entity.
    package var insertedCounts: [String: Int] {
        var counts = core.pending.living.countsByEntity
        for home in core.homes.all {
            let count = core.pending.spilledCount(home)
            if count > 0 { counts[home.entityName, default: 0] += count }
        }
        return counts
    }

    /// Approximate bytes of their values, and of links, in memory.
    package var unsavedByteCount: Int {
        // Counted on demand, from the last count on: drafts of inserted objects do not grow after the closure that made
        // them.
        core.rules.unsavedBytes.count(
            insertedCount: core.pending.living.count, changedCount: core.pending.changed.count,
            linkCount: unsavedLinkCount
        ) { core.pending.living[$0].core.pointee.draft?.memoryByteCount ?? 0 }
    }

    /// Lets go of the large value that the contexts of the stage have read last.
    package func forgetReadValue() { core.stage?.forgetReadValue() }

    /// Inserts an object, or throws the reason why it cannot.
    package func insertChecked<T: PersistentModel>(_ model: T) throws {
        ObjectInsertion(core).insert(model: model)
        if let error = takePendingError() { throw error }
    }

    /// Sets the number that a new object gets when it is saved.
    package func choose<T: PersistentModel>(_ number: RecordID, for model: T) {
        core.rules.chosenNumbers[model._$coreAddress().pointee.number] = number
    }

    /// Whether there is a stored object of a number.
    package func isTaken(_ number: RecordID, entityNamed name: String) throws -> Bool {
        guard let home = core.home(named: name), let entity = home.entity else { return false }
        try core.beginReading()
        defer { core.endReading() }
        return try !core.snapshot.location(of: number, in: entity.table).isAbsent
    }

    /// The error of an earlier call that could not throw, if there is one; the next save no longer throws it.
    package func takePendingError() -> (any Error)? {
        defer { core.errors.refusals.removeAll() }
        return core.errors.refusals.first
    }

    /// The dynamic object of a number: registered, or a fault.
    package func dynamicObject(_ number: RecordID, entityNamed name: String) throws -> ManagedObject {
        let home = try core.dynamicEntity(named: name).home
        guard let found = ObjectRegistry(core).anyObject(number, home) as? ManagedObject
        else {
            throw SwiftDataError.unknownSchema.explained("\(name) has no table in this store.")
        }
        return found
    }

    /// The keys of a new object in the unique indexes of its entity; nil if this context does not know its class.
    package func uniqueKeys<T: PersistentModel>(of model: T) throws -> [(index: UInt32, bytes: [UInt8])]? {
        let home = try core.require(T.self)
        let handle = ObjectHandle(model)
        guard let entity = home.entity else { return nil }
        try core.takeUniqueBlobs(handle, entity)
        guard let draft = handle.core.pointee.draft else { return nil }
        return entity.uniqueIndexes.compactMap { index in
            RowKeys.key(of: draft, index).map { (index.definition.id.rawValue, $0) }
        }
    }

    /// The stored object that has one of the keys.
    package func holder(of keys: [(index: UInt32, bytes: [UInt8])]) throws -> RecordID? {
        try core.beginReading()
        defer { core.endReading() }
        for key in keys {
            let definition = IndexDefinition(id: IndexID(rawValue: key.index), isUnique: true, searchPrefix: .wholeKey)
            let found = try key.bytes.withUnsafeBytes { try core.snapshot.firstID(in: definition, key: $0) }
            if let found { return found }
        }
        return nil
    }

    /// The object of a number: registered, or a fault.
    package func existing<T: PersistentModel>(_ number: RecordID, as type: T.Type) throws -> T {
        ObjectRegistry(core).object(number, try core.require(T.self), as: T.self)
    }

    /// Copies the attributes in which a new object differs, into another object.
    package func overwrite<T: PersistentModel>(_ found: T, with new: T) {
        guard found !== new, let home = core.home(of: T._$modelType), let entity = home.entity else { return }
        let source = ObjectHandle(new)
        let target = ObjectHandle(found)
        guard let draft = source.core.pointee.draft else { return }
        for (slot, storage) in entity.slots.enumerated() where storage == .attribute {
            let isSame =
                target.core.pointee.read(
                    { RowKeys.isEqual(draft, $0, slot, entity.layout) },
                    { RowKeys.isEqual(draft, $0, slot, entity.layout) })
                ?? false
            if !isSame, let number = source.core.pointee.extraIfPresent?.givenValues[slot]?.number,
                draft.blobReference(slot)?.identifier == number
            {
                target.core.pointee.setBlob(source.core.pointee.blob(of: slot), of: slot)
                continue
            }
            guard !isSame, target.core.pointee._$beginChange(slot) else { continue }
            target.core.pointee.write { $0.takeValue(of: draft, slot: slot, layout: entity.layout) }
        }
    }

    /// Relationships that the next save writes as links.
    package var unsavedLinkCount: Int { core.pending.relationships.links.count }
}
