internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore
internal import Foundation

/// A context of a container with a data store of the user's: what it asks of the store, and when.
final class LinkedContext: DataStoreLink {
    private unowned let context: ContextCore
    private let mirror: DataStoreMirror
    /// The identity of the context in the calls of the data store.
    private let editorID: UUID

    init(_ context: ContextCore, _ mirror: DataStoreMirror) {
        self.context = context
        self.mirror = mirror
        editorID = context.history.editorID
        try? mirror.inTurn { mirror.source.begin(state) }
    }

    deinit {
        let ended = EditingState(id: editorID, author: nil)
        let mirror = mirror
        try? mirror.inTurn { mirror.source.end(ended) }
    }

    var state: EditingState { EditingState(id: editorID, author: context.history.author) }

    /// Whether the context shows a state that it does not leave, so that nothing is brought in.
    private var isPinned: Bool { context.state.pinLabel != nil }

    // MARK: Reading

    func fetch<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> [T] {
        let local = QuerySource(ofLoaded: descriptor)
        guard !isPinned else { return try FetchRunner(context).fetch(local) }
        let isExact = !context.hasChanges || !descriptor.includePendingChanges
        let found = try mirror.inTurn { try mirror.bring(descriptor, isExact: isExact, state) }
        guard let found else { return try FetchRunner(context).fetch(local) }
        try context.beginReading()
        defer { context.endReading() }
        try context.moveToNewest()
        let home = try context.require(T.self)
        guard let table = home.entity?.table else { return [] }
        return try found.compactMap { identifier in
            guard let number = identifier.storedNumber(in: home.storeID),
                try !context.snapshot.location(of: number, in: table).isAbsent
            else { return nil }
            return ObjectRegistry(context).object(number, home, as: T.self)
        }
    }

    func count<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> Int? {
        guard !isPinned, !context.hasChanges || !descriptor.includePendingChanges else { return nil }
        return try mirror.inTurn { try mirror.count(descriptor, state) }
    }

    func load<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws {
        guard !isPinned else { return }
        _ = try mirror.inTurn { try mirror.bring(descriptor, isExact: false, state) }
        try context.moveToNewest()
    }

    func load(_ identifier: PersistentIdentifier, ofEntity ordinal: Int) throws {
        guard !isPinned, let type = context.homes[ordinal].type?.type else { return }
        try mirror.inTurn { try mirror.bring(identifier, type, state) }
        try context.moveToNewest()
    }

    func batchDelete<T: PersistentModel>(_ type: T.Type, _ predicate: Predicate<T>?) throws -> BatchResult {
        let deleted = try mirror.inTurn {
            let request = DataStoreBatchDeleteRequest(predicate: predicate, includeSubclasses: true, editingState: state)
            let descriptor = FetchDescriptor<T>(predicate: predicate)
            _ = try mirror.bring(descriptor, isExact: false, state)
            let before = try mirror.known(type, predicate).count
            guard try mirror.source.delete(request) else { throw DataStoreError.unsupportedFeature }
            _ = try mirror.bring(descriptor, isExact: false, state)
            return before - (try mirror.known(type, predicate).count)
        }
        try context.beginReading()
        defer { context.endReading() }
        try context.moveToNewest()
        return BatchResult(objectCounts: deleted > 0 ? [T._$modelType.entityName: deleted] : [:])
    }

    // MARK: Saving

    func save<R: ~Copyable>(_ commit: () throws -> R) throws -> R {
        try mirror.inTurn {
            try DeletePropagation(context).propagateDeletes()
            let rehearsal = SaveRehearsal()
            context.saving.rehearsal = rehearsal
            do {
                defer { context.saving.rehearsal = nil }
                _ = try commit()
            } catch is SaveRehearsal.Ended {}
            let changes = try changes(rehearsal)
            let answer = try mirror.source.save(changes, state)
            let restored = context.rules.chosenNumbers
            do {
                try number(rehearsal.inserted, answer)
                let result = try commit()
                for change in changes.deleted {
                    let identifier = change.values.persistentIdentifier
                    mirror.keys?.release(identifier.number, identifier.entityName)
                }
                mirror.noteChanged(answer.changed)
                return result
            } catch {
                context.rules.chosenNumbers = restored
                throw error
            }
        }
    }

    func finishSave() throws {
        try mirror.inTurn { try mirror.bringChanged(state) }
        try context.beginReading()
        defer { context.endReading() }
        try context.moveToNewest()
    }

    /// Gives new objects the numbers that stand for the keys of the data store.
    private func number(_ inserted: [ObjectHandle], _ answer: SavedSnapshots) throws {
        for handle in inserted {
            let temporary = handle.core.pointee.persistentIdentifier
            let home = handle.core.pointee.home.takeUnretainedValue()
            guard let given = answer.remapped[temporary] else {
                throw refusal("gave a new \(home.entityName) no identifier. Return one in remappedIdentifiers.")
            }
            guard let number = given.storedNumber(in: home.storeID), given.entityName == temporary.entityName else {
                throw refusal(
                    "gave a new \(home.entityName) the identifier \(given), which is of another store or entity. Make it with PersistentIdentifier.identifier(for:entityName:primaryKey:)."
                )
            }
            guard try !mirror.isKnown(given) else {
                throw refusal("gave a new \(home.entityName) the identifier \(given), which another object has.")
            }
            context.rules.chosenNumbers[handle.core.pointee.number] = number
        }
    }

    private func refusal(_ text: String) -> SwiftDataError {
        .modelValidationFailure.explained("The data store \(mirror.source.identifier) \(text)")
    }

    /// The values of the objects that a save writes.
    private func changes(_ rehearsal: SaveRehearsal) throws -> DataStoreChanges {
        try context.beginReading()
        defer { context.endReading() }
        var changes = DataStoreChanges()
        for handle in rehearsal.inserted {
            guard let object = handle.object as? any PersistentModel else { continue }
            changes.inserted.append(try change(object))
        }
        var updated = rehearsal.identifiers.updated
        for (handle, identifier) in rehearsal.combined {
            updated.remove(identifier)
            guard let object = handle.object as? any PersistentModel, let stored = try stored(identifier, context) else {
                continue
            }
            let values = try DefaultSnapshot(of: object).keepingRelationships(of: DefaultSnapshot(of: stored))
            changes.updated.append(.init(object: object, values: values, isCombined: true))
        }
        let deleted = rehearsal.identifiers.deleted
        let before = context.contextOfStored()
        try before.beginReading()
        defer { before.endReading() }
        before.moveTo(context.snapshot)
        for identifier in deleted.sorted() {
            guard let object = try stored(identifier, before) else { continue }
            let change = try change(object)
            changes.deleted.append(change)
            updated.formUnion(inverses(change.values))
        }
        for identifier in updated.subtracting(deleted).sorted() {
            guard let object = try stored(identifier, context) else { continue }
            changes.updated.append(try change(object))
        }
        return changes
    }

    private func change(_ object: any PersistentModel) throws -> DataStoreChanges.Change {
        .init(object: object, values: try DefaultSnapshot(of: object), isCombined: false)
    }

    private func stored(_ identifier: PersistentIdentifier, _ core: ContextCore) throws -> (any PersistentModel)? {
        try ObjectRegistry(core).existingModel(for: identifier) { _ in true }
    }

    /// The objects that a deleted one was related to, and that know of it.
    private func inverses(_ values: DefaultSnapshot) -> [PersistentIdentifier] {
        guard let entity = context.homes.reference(of: values.persistentIdentifier)?.takeUnretainedValue().entity else {
            return []
        }
        let properties = context.store.storage.schema.entities[entity.ordinal].properties
        let names = Set(properties.lazy.filter { $0.asRelationship?.inverseName != nil }.map(\.name))
        return values.values.filter { names.contains($0.key) }.flatMap(\.value.identifiers)
    }
}

extension ContextCore {
    /// Joins the context to the data store of its container.
    package func join(_ mirror: DataStoreMirror) {
        rules.allocatesChosenNumbers = true
        link = LinkedContext(self, mirror)
    }
}
