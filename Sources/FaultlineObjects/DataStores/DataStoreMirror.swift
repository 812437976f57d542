internal import FaultlineDisk
internal import FaultlineLog
package import FaultlineModel
package import FaultlineStore
internal import Foundation

/// The working copy of a data store, in memory: the objects that the store has returned, for all contexts of a container.
///
/// Contexts read and change the working copy as they do any store of this library. A fetch first brings in the snapshots
/// that the data store returns; a save gives its changes to the data store before they are committed here. So the data
/// store decides, and rules, undo, faults, observation and conflicts are those of every container.
///
/// An object is brought in with all objects that it refers to, directly or through others: a relationship always leads to
/// an object here.
// Safe because the source, and the context that brings objects in, are used by one thread at a time: that with the turn.
package final class DataStoreMirror: @unchecked Sendable {
    package let source: any DataStoreSource
    /// Nil if the store's identifiers are those of a store of this library.
    let keys: DataStoreKeys?
    private let call: DataStoreCall
    private let turn = EngineLock()
    /// Brings objects in.
    private let core: ContextCore
    /// Values that the data store has changed in saves, which are to be brought in.
    private var changed: [DefaultSnapshot] = []

    package init(
        _ source: any DataStoreSource, _ keys: DataStoreKeys?, _ schema: Schema, store: RowStore, types: [ModelType]
    ) {
        self.source = source
        self.keys = keys
        call = DataStoreCall(schema, identifier: source.identifier)
        core = ContextCore(store: store, types: types, recordsHistory: true)
        core.rules.allocatesChosenNumbers = true
        core.homes.callNoLifecycles()
    }

    /// Calls `body` in this thread's turn.
    ///
    /// - Throws: `SwiftDataError.modelValidationFailure` if the data store, or code that a save calls, has the turn: it
    ///   would wait for itself.
    package func inTurn<R: ~Copyable>(_ body: () throws -> R) throws -> R {
        guard DataStoreCall.current !== call else {
            throw SwiftDataError.modelValidationFailure.explained(
                "The data store \(source.identifier), or code that a save calls, has used the container of the store. Answer a data store's call from its own data."
            )
        }
        turn.lock()
        defer { turn.unlock() }
        var result: R?
        try DataStoreCall.$current.withValue(call) { result = try body() }
        guard let result = result.take() else { preconditionFailure("A body that returns has a result.") }
        return result
    }

    // MARK: Fetching; in the turn

    /// Brings in the objects that a descriptor selects.
    ///
    /// - Parameters:
    ///   - descriptor: Selects the objects.
    ///   - isExact: Whether the store's answer is that of the fetch: no unsaved change counts.
    ///   - state: The editing state of the context.
    /// - Returns: The identifiers of the objects found, if the store has selected and ordered them.
    func bring<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>, isExact: Bool, _ state: EditingState
    ) throws -> [PersistentIdentifier]? {
        let (answer, asked, isAnswer) = try ask(descriptor, isExact: isExact, state)
        let found = answer.found.map(\.persistentIdentifier)
        var bringing = Bringing(answer.related + answer.found)
        var gone: [PersistentIdentifier] = []
        if asked.fetchLimit ?? 0 <= 0, asked.fetchOffset ?? 0 <= 0 {
            let missing = Set(try known(T.self, asked.predicate)).subtracting(found)
            if asked.predicate == nil {
                gone = Array(missing)
            } else if !missing.isEmpty {
                // They may have other values now, or be gone.
                let present = try find(T.self, Array(missing), state)
                bringing.add(present)
                gone = Array(missing.subtracting(present.map(\.persistentIdentifier)))
            }
        }
        try take(&bringing, gone: gone, state)
        return isAnswer ? found : nil
    }

    /// Brings in an object, if the data store has it.
    func bring(_ identifier: PersistentIdentifier, _ type: any PersistentModel.Type, _ state: EditingState) throws {
        var bringing = Bringing(try find(type, [identifier], state))
        try take(&bringing, gone: [], state)
    }

    /// Brings in the values that the data store has changed in saves.
    func bringChanged(_ state: EditingState) throws {
        guard !changed.isEmpty else { return }
        var bringing = Bringing(changed)
        changed = []
        try take(&bringing, gone: [], state)
    }

    func noteChanged(_ snapshots: [DefaultSnapshot]) { changed += snapshots }

    /// Forgets all objects, after the data store has erased its own.
    package func forgetAll() throws {
        try core.beginReading()
        defer { core.endReading() }
        try core.moveToNewest()
        for home in core.homes.all {
            guard let type = home.type?.type else { continue }
            try remove(try known(ofType: type))
        }
        if core.hasChanges { try core.save() }
    }

    /// Counts objects; nil if the data store cannot select them.
    func count<T: PersistentModel>(_ descriptor: FetchDescriptor<T>, _ state: EditingState) throws -> Int? {
        do { return try source.count(DataStoreFetchRequest(descriptor: descriptor, editingState: state)) } catch {
            guard let error = error as? DataStoreError, [.preferInMemoryFilter, .preferInMemorySort].contains(error)
            else { throw error }
            return nil
        }
    }

    /// Snapshots that are brought in together.
    private struct Bringing {
        private(set) var snapshots: [PersistentIdentifier: DefaultSnapshot] = [:]
        /// In the order of the store's answers.
        private(set) var order: [PersistentIdentifier] = []

        init(_ snapshots: [DefaultSnapshot]) { add(snapshots) }

        mutating func add(_ more: [DefaultSnapshot]) {
            for snapshot in more
            where snapshots.updateValue(snapshot, forKey: snapshot.persistentIdentifier) == nil {
                order.append(snapshot.persistentIdentifier)
            }
        }

        var inOrder: [DefaultSnapshot] { order.compactMap { snapshots[$0] } }
    }

    /// Asks the data store, without those parts of a descriptor that it leaves to the context.
    private func ask<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>, isExact: Bool, _ state: EditingState
    ) throws -> (FoundSnapshots, asked: FetchDescriptor<T>, isExact: Bool) {
        var asked = descriptor
        var isExact = isExact && !descriptor.leavesOutSubclasses
        func leaveOrder() {
            asked.fetchLimit = nil
            asked.fetchOffset = nil
            asked.sortBy = []
            isExact = false
        }
        if !isExact { leaveOrder() }
        while true {
            do {
                let request = DataStoreFetchRequest(descriptor: asked, editingState: state)
                return (try source.fetch(request), asked, isExact)
            } catch DataStoreError.preferInMemoryFilter where asked.predicate != nil {
                asked.predicate = nil
            } catch DataStoreError.preferInMemorySort where !asked.sortBy.isEmpty {}
            leaveOrder()
        }
    }

    /// The snapshots of some objects; those that the data store lacks are missing.
    private func find<T: PersistentModel>(
        _ type: T.Type, _ identifiers: [PersistentIdentifier], _ state: EditingState
    ) throws -> [DefaultSnapshot] {
        var wanted = Set(identifiers)
        var found = try source.cachedSnapshots(identifiers, state).filter {
            wanted.remove($0.persistentIdentifier) != nil
        }
        guard !wanted.isEmpty else { return found }
        let rest = identifiers.filter(wanted.contains)
        let descriptor = FetchDescriptor<T>(predicate: #Predicate<T> { rest.contains($0.persistentModelID) })
        let (answer, _, _) = try ask(descriptor, isExact: false, state)
        found += answer.found.filter { wanted.contains($0.persistentIdentifier) }
        return found
    }

    /// The objects of a class that the working copy has.
    func known<T: PersistentModel>(
        _ type: T.Type, _ predicate: Predicate<T>?
    ) throws -> [PersistentIdentifier] {
        try FetchRunner(core).identifiers(QuerySource(FetchDescriptor<T>(predicate: predicate)))
    }

    private func known(ofType type: any PersistentModel.Type) throws -> [PersistentIdentifier] {
        func open<T: PersistentModel>(_ type: T.Type) throws -> [PersistentIdentifier] { try known(type, nil) }
        return try open(type)
    }

    private func take(_ bringing: inout Bringing, gone: [PersistentIdentifier], _ state: EditingState) throws {
        try core.beginReading()
        defer { core.endReading() }
        try core.moveToNewest()
        do {
            try addReferenced(&bringing, state)
            var applier = SnapshotApplier(core, keepsNumbers: true)
            try applier.apply(bringing.inOrder)
            try remove(gone)
            if core.hasChanges { try core.save() }
        } catch {
            core.rollback()
            core.rules.forgetChosenNumbers()
            throw error
        }
    }

    private func remove(_ gone: [PersistentIdentifier]) throws {
        let handles = try gone.compactMap { identifier in
            try ObjectRegistry(core).existingModel(for: identifier) { _ in true }.map(ObjectHandle.init(erased:))
        }
        core.remove(handles)
        for identifier in gone { keys?.release(identifier.number, identifier.entityName) }
    }

    /// Adds the snapshots of all objects that others refer to, and that the working copy lacks.
    private func addReferenced(_ bringing: inout Bringing, _ state: EditingState) throws {
        var asked: Set<PersistentIdentifier> = []
        var referrers = bringing.inOrder
        while true {
            var missing: [String: [PersistentIdentifier]] = [:]
            for target in referrers.lazy.flatMap(\.related)
            where bringing.snapshots[target] == nil && asked.insert(target).inserted {
                if try !isKnown(target) { missing[target.entityName, default: []].append(target) }
            }
            guard !missing.isEmpty else { return }
            referrers = []
            for (name, identifiers) in missing.sorted(by: { $0.key < $1.key }) {
                guard let type = core.homes.home(named: name)?.type?.type else { continue }
                referrers += try find(type, identifiers, state)
            }
            bringing.add(referrers)
        }
    }

    /// Whether the working copy has an object, or the identifier can lead to none.
    func isKnown(_ identifier: PersistentIdentifier) throws -> Bool {
        guard let home = core.homes.reference(of: identifier)?.takeUnretainedValue(),
            let number = identifier.storedNumber(in: home.storeID), let table = home.entity?.table
        else { return true }
        return try !core.store.log.snapshot().location(of: number, in: table).isAbsent
    }
}
