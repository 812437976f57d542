internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore
internal import Foundation

/// A context of a container with a data store of the user's: its requests, and their time.
///
/// The context owns it, and is alive in each call.
final class LinkedContext: DataStoreLink {
    private unowned let context: ContextCore
    private let localCopy: LocalCopy
    /// The identity of the context, where the data store knows of it.
    private var knownID: UUID?
    /// The identifiers that the data store has given new objects in a save that failed afterwards, by temporary ones.
    private var acknowledged: [PersistentIdentifier: PersistentIdentifier] = [:]
    /// Values that the data store has changed in the last save, which are to be brought in.
    private var changed: [DefaultSnapshot] = []

    init(_ context: ContextCore, _ localCopy: LocalCopy) {
        self.context = context
        self.localCopy = localCopy
    }

    deinit { if let knownID { localCopy.noteEnded(EditingState(id: knownID, author: nil)) } }

    private var state: EditingState { EditingState(id: context.history.editorID, author: context.history.author) }

    /// Whether the context shows a state that it does not leave, so that nothing is brought in.
    private var isPinned: Bool { context.state.pinLabel != nil }

    private func inTurn<R: ~Copyable>(_ body: () throws -> R) throws -> R {
        try localCopy.inTurn {
            if knownID == nil { localCopy.source.begin(state) }
            knownID = context.history.editorID
            return try body()
        }
    }

    // MARK: Reading

    func fetch<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> [T] {
        let local = QuerySource(ofLoaded: descriptor)
        guard !isPinned else { return try FetchRunner(context).fetch(local) }
        let isExact = !context.hasChanges || !descriptor.includePendingChanges
        let found = try inTurn { try localCopy.bring(descriptor, isExact: isExact, state) }
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
        guard isAnswered(descriptor) else { return nil }
        return try answered { try localCopy.count(descriptor, state) }
    }

    func identifiers<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> [PersistentIdentifier]? {
        guard isAnswered(descriptor) else { return nil }
        return try answered { try localCopy.identifiers(descriptor, state) }
    }

    /// An answer of the data store, in the newest state of the local copy.
    private func answered<R>(_ body: () throws -> R) throws -> R {
        let answer = try inTurn(body)
        try context.beginReading()
        defer { context.endReading() }
        try context.moveToNewest()
        return answer
    }

    /// Whether the data store's answer is that of the context.
    private func isAnswered<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) -> Bool {
        !isPinned && !descriptor.leavesOutSubclasses && (!context.hasChanges || !descriptor.includePendingChanges)
    }

    func load<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws {
        guard !isPinned else { return }
        _ = try inTurn { try localCopy.bring(descriptor, isExact: false, state) }
        try context.moveToNewest()
    }

    func load(_ identifier: PersistentIdentifier, ofEntity ordinal: Int) throws {
        guard !isPinned, let type = context.homes[ordinal].type?.type else { return }
        try inTurn { try localCopy.bring(identifier, type, state) }
        try context.moveToNewest()
    }

    func batchDelete<T: PersistentModel>(_ type: T.Type, _ predicate: Predicate<T>?) throws -> BatchResult {
        let deleted = try inTurn {
            let request = DataStoreBatchDeleteRequest(
                predicate: predicate, includeSubclasses: true, editingState: state)
            let descriptor = FetchDescriptor<T>(predicate: predicate)
            _ = try localCopy.bring(descriptor, isExact: false, state)
            let before = try localCopy.known(type, predicate).count
            guard try localCopy.source.delete(request) else { throw DataStoreError.unsupportedFeature }
            // The objects are deleted, even if the store does not answer any more.
            do { _ = try localCopy.bring(descriptor, isExact: false, state) } catch { context.report(error) }
            return before - (try localCopy.known(type, predicate).count)
        }
        try context.beginReading()
        defer { context.endReading() }
        try context.moveToNewest()
        return BatchResult(objectCounts: deleted > 0 ? [T._$modelType.entityName: deleted] : [:])
    }

    // MARK: Saving

    func save<R: ~Copyable>(_ commit: () throws -> R) throws -> R {
        try inTurn {
            // The data store gets whole objects: with the values that other contexts have saved.
            try context.beginReading()
            defer { context.endReading() }
            try context.moveToNewest()
            // With a policy for conflicts, the policy decides which values stay.
            if context.conflicts == nil { ObjectRefresher(context).rebaseChanges() }
            // Then objects that were related to deleted ones are changed, and the data store gets them.
            try DeletePropagation(context).propagateDeletes()
            let rehearsal = SaveRehearsal()
            context.saving.rehearsal = rehearsal
            do {
                defer { context.saving.rehearsal = nil }
                _ = try commit()
            } catch is SaveRehearsal.Ended {}
            let changes = try RehearsedChanges(context, localCopy, rehearsal, acknowledged).read()
            let answer = try localCopy.source.save(changes, state)
            let restored = context.rules.chosenNumbers
            do {
                try number(rehearsal.inserted.map(\.object), answer)
                let result = try commit()
                localCopy.noteQueuedSave()
                acknowledged = [:]
                changed += answer.changed
                return result
            } catch {
                context.rules.chosenNumbers = restored
                throw error
            }
        }
    }

    func finishSave() throws {
        guard !changed.isEmpty else { return }
        try inTurn { try localCopy.bring(changed, state) }
        changed = []
        try context.beginReading()
        defer { context.endReading() }
        try context.moveToNewest()
    }

    /// Gives new objects the numbers that stand for the keys of the data store.
    private func number(_ inserted: [ObjectHandle], _ answer: SavedSnapshots) throws {
        var given: Set<PersistentIdentifier> = []
        var refusal: SwiftDataError?
        for handle in inserted {
            let temporary = handle.core.pointee.persistentIdentifier
            do throws(SwiftDataError) {
                let identifier = try checked(acknowledged[temporary] ?? answer.remapped[temporary], handle, &given)
                acknowledged[temporary] = identifier
                context.rules.chosenNumbers[handle.core.pointee.number] = identifier.number
            } catch {
                refusal = refusal ?? error
            }
        }
        if let refusal { throw refusal }
    }

    /// The identifier that the data store has given a new object, if the object can have it.
    private func checked(
        _ identifier: PersistentIdentifier?, _ handle: ObjectHandle, _ given: inout Set<PersistentIdentifier>
    ) throws(SwiftDataError) -> PersistentIdentifier {
        let home = handle.core.pointee.home.takeUnretainedValue()
        let start = "The data store \(localCopy.source.identifier) gave a new \(home.entityName)"
        func refused(_ rest: String) -> SwiftDataError { .modelValidationFailure.explained("\(start) \(rest)") }
        guard let identifier else { throw refused("no identifier. Return one in remappedIdentifiers.") }
        guard identifier.storedNumber(in: home.storeID) != nil, identifier.entityName == home.entityName else {
            throw refused(
                "the identifier \(identifier), which is of another store or entity. Make it with PersistentIdentifier.identifier(for:entityName:primaryKey:)."
            )
        }
        guard given.insert(identifier).inserted, (try? localCopy.isKnown(identifier)) == false else {
            throw refused("the identifier \(identifier), which another object has.")
        }
        return identifier
    }
}
