internal import FaultlineDisk
internal import FaultlineLog
package import FaultlineModel
package import FaultlineStore
internal import Foundation
internal import Synchronization

/// The local copy of a data store, in memory: the objects that the store has returned, for all contexts of a container.
///
/// Contexts read and change the local copy as they do any store of this library. A fetch first brings in the snapshots
/// that the data store returns; a save gives its changes to the data store before they are committed here. So the data
/// store decides, and rules, undo, faults, observation and conflicts are those of every container.
///
/// An object is brought in with all objects that it refers to, directly or through others: a relationship always leads to
/// an object here.
// Safe because the source, and the context that brings objects in, are used by one thread at a time: that with the turn.
package final class LocalCopy: @unchecked Sendable {
    package let source: any DataStoreSource
    /// Nil if the store's identifiers are those of a store of this library.
    let keys: DataStoreKeys?
    private let schema: Schema
    private let turn = EngineLock()
    /// Brings objects in.
    private let core: ContextCore
    /// Whether a save may be queued whose objects cannot be read yet.
    private var hasQueuedSave = false
    /// Contexts that have ended, which the data store was not told yet.
    private let ended = Guarded<[EditingState]>([])

    package init(
        _ source: any DataStoreSource, _ keys: DataStoreKeys?, _ schema: Schema, store: RowStore, types: [ModelType]
    ) {
        self.source = source
        self.keys = keys
        self.schema = schema
        core = ContextCore(store: store, types: types, recordsHistory: true)
        core.rules.allocatesChosenNumbers = true
        // The data store's objects are as they are.
        core.rules.defersRelationshipRules = true
        core.rules.defersLeastCounts = true
        core.homes.callNoLifecycles()
    }

    /// Calls `body` in this thread's turn.
    ///
    /// - Throws: `SwiftDataError.modelValidationFailure` if the data store, or code that a save calls, has the turn: it
    ///   would wait for itself.
    package func inTurn<R: ~Copyable>(_ body: () throws -> R) throws -> R {
        guard DataStoreCall.current?.isUnderWay(of: self) != true else {
            throw SwiftDataError.modelValidationFailure.explained(
                "The data store \(source.identifier), or code that a save calls, has used the container of the store. Answer a data store's call from its own data."
            )
        }
        turn.lock()
        let call = DataStoreCall(schema, identifier: source.identifier, owner: self)
        defer {
            call.end()
            turn.unlock()
        }
        var result: R?
        try DataStoreCall.$current.withValue(call) {
            for state in takeEnded() { source.end(state) }
            if hasQueuedSave {
                // Writes nothing: waits until the objects of the save can be read.
                _ = try core.store.log.write(author: nil) { _ in }
                hasQueuedSave = false
            }
            result = try body()
        }
        guard let result = result.take() else { preconditionFailure("A body that returns has a result.") }
        return result
    }

    /// Notes that a context has ended, from any thread; the data store is told in the next turn.
    func noteEnded(_ state: EditingState) { ended.withLock { $0.append(state) } }

    private func takeEnded() -> [EditingState] {
        ended.withLock { ended in
            defer { ended = [] }
            return ended
        }
    }

    /// Notes that a save was queued.
    func noteQueuedSave() { hasQueuedSave = true }

    // MARK: Fetching; in the turn

    /// Brings in the objects that a descriptor selects.
    ///
    /// - Parameters:
    ///   - descriptor: Selects the objects.
    ///   - isExact: Whether the store's answer is that of the fetch: no unsaved change counts.
    ///   - state: The editing state of the context.
    /// - Returns: The identifiers of the objects found, if the store has selected and ordered them.
    /// - Throws: The errors of the data store; as `SnapshotApplier.apply`.
    func bring<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>, isExact: Bool, _ state: EditingState
    ) throws -> [PersistentIdentifier]? {
        let (answer, asked, isAnswer) = try ask(descriptor, isExact: isExact, state)
        let found = answer.found.map(\.persistentIdentifier)
        var bringing = Bringing(answer.related + answer.found)
        var gone: [PersistentIdentifier] = []
        if asked.fetchLimit ?? 0 <= 0, asked.fetchOffset ?? 0 <= 0 {
            let missing = Set(try known(T.self, asked.predicate)).subtracting(bringing.snapshots.keys)
            if asked.predicate == nil {
                gone = Array(missing)
            } else if !missing.isEmpty {
                // They may have other values now, or be gone.
                let present = try find(T.self, Array(missing), state)
                bringing.add(present)
                gone = Array(missing.subtracting(present.map(\.persistentIdentifier)))
            }
        }
        try take(bringing, gone: gone, state)
        return isAnswer ? found : nil
    }

    /// Brings in an object, if the data store has it.
    func bring(_ identifier: PersistentIdentifier, _ type: any PersistentModel.Type, _ state: EditingState) throws {
        try take(Bringing(try find(type, [identifier], state)), gone: [], state)
    }

    /// Brings in values that the data store has changed in a save.
    func bring(_ changed: [DefaultSnapshot], _ state: EditingState) throws {
        try take(Bringing(changed), gone: [], state)
    }

    /// Lets the data store delete all objects.
    package func erase() throws {
        try inTurn {
            try source.erase()
            try forgetAll()
        }
    }

    private func forgetAll() throws {
        try core.beginReading()
        defer { core.endReading() }
        try core.moveToNewest()
        for home in core.homes.all {
            guard let type = home.type?.type else { continue }
            try remove(try known(ofType: type))
        }
        if core.hasChanges { try core.save() }
    }

    /// The identifiers of objects; nil if the data store cannot select or order them.
    func identifiers<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>, _ state: EditingState
    ) throws -> [PersistentIdentifier]? {
        try unlessLeft { try source.identifiers(DataStoreFetchRequest(descriptor: descriptor, editingState: state)) }
    }

    /// Counts objects; nil if the data store cannot select them.
    func count<T: PersistentModel>(_ descriptor: FetchDescriptor<T>, _ state: EditingState) throws -> Int? {
        try unlessLeft { try source.count(DataStoreFetchRequest(descriptor: descriptor, editingState: state)) }
    }

    /// Calls the data store; nil if it leaves the predicate or the order to the context.
    private func unlessLeft<R>(_ body: () throws -> R) throws -> R? {
        do { return try body() } catch let error as DataStoreError
            where [.preferInMemoryFilter, .preferInMemorySort].contains(error)
        {
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
            asked.leavesOutSubclasses = false
            isExact = false
        }
        if !isExact { leaveOrder() }
        while true {
            do {
                let request = DataStoreFetchRequest(descriptor: asked, editingState: state)
                return (try source.fetch(request), asked, isExact)
            } catch DataStoreError.preferInMemoryFilter where asked.predicate != nil {
                asked.predicate = nil
            } catch DataStoreError.preferInMemorySort where !asked.sortBy.isEmpty {
                // The next request has no order.
            }
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

    /// The objects of a class that the local copy has.
    func known<T: PersistentModel>(
        _ type: T.Type, _ predicate: Predicate<T>?
    ) throws -> [PersistentIdentifier] {
        try FetchRunner(core).identifiers(QuerySource(FetchDescriptor<T>(predicate: predicate)))
    }

    private func known(ofType type: any PersistentModel.Type) throws -> [PersistentIdentifier] {
        func open<T: PersistentModel>(_ type: T.Type) throws -> [PersistentIdentifier] { try known(type, nil) }
        return try open(type)
    }

    /// Brings snapshots in, with those that they refer to, and removes objects.
    private func take(_ bringing: Bringing, gone: [PersistentIdentifier], _ state: EditingState) throws {
        var bringing = bringing
        try core.beginReading()
        defer { core.endReading() }
        try core.moveToNewest()
        try addReferenced(&bringing, state)
        do { try write(bringing, gone: gone) } catch let error as SwiftDataError where error == .modelValidationFailure
        {
            // An object that was loaded before may have had the unique values that another one has by now.
            let (all, gone) = try checked(bringing, gone: gone, state)
            try write(all, gone: gone)
        }
    }

    private func write(_ bringing: Bringing, gone: [PersistentIdentifier]) throws {
        do {
            var applier = SnapshotApplier(core)
            try applier.apply(bringing.inOrder)
            try remove(gone)
            if core.hasChanges { try core.save() }
        } catch {
            core.rollback()
            core.rules.forgetChosenNumbers()
            throw error
        }
        if let keys { for identifier in bringing.order { keys.keep(identifier.number, identifier.entityName) } }
    }

    /// The same snapshots, with those of all other known objects of their entities; and the objects that are gone.
    private func checked(
        _ bringing: Bringing, gone: [PersistentIdentifier], _ state: EditingState
    ) throws -> (Bringing, gone: [PersistentIdentifier]) {
        var all = bringing
        var gone = Set(gone)
        for name in Set(bringing.order.map(\.entityName)).sorted() {
            guard let type = core.homes.home(named: name)?.type?.type else { continue }
            let others = try known(ofType: type).filter { bringing.snapshots[$0] == nil && !gone.contains($0) }
            guard !others.isEmpty else { continue }
            let present = try find(type, others, state)
            gone.formUnion(Set(others).subtracting(present.map(\.persistentIdentifier)))
            all.add(present)
        }
        try addReferenced(&all, state)
        return (all, gone.sorted())
    }

    private func remove(_ gone: [PersistentIdentifier]) throws {
        let handles = try gone.compactMap { identifier in
            try ObjectRegistry(core).existingModel(for: identifier) { _ in true }.map(ObjectHandle.init(erased:))
        }
        core.remove(handles)
    }

    /// Adds the snapshots of all objects that others refer to, and that the local copy lacks.
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

    /// Whether the local copy has an object, or the identifier can lead to none.
    func isKnown(_ identifier: PersistentIdentifier) throws -> Bool {
        guard let home = core.homes.reference(of: identifier)?.takeUnretainedValue(),
            let number = identifier.storedNumber(in: home.storeID), let table = home.entity?.table
        else { return true }
        return try !core.store.log.snapshot().location(of: number, in: table).isAbsent
    }
}
