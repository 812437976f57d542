internal import FaultlineModel
internal import FaultlineObjects
internal import Foundation

/// A data store without its types: turns the values of objects into the store's snapshots, and back.
final class UntypedStore<Store: DataStore>: DataStoreSource {
    private let store: Store

    init(_ store: Store) { self.store = store }

    var identifier: String { store.identifier }

    func fetch<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> FoundSnapshots {
        let result = try store.fetch(request)
        return FoundSnapshots(
            found: try result.fetchedSnapshots.map(values), related: try result.relatedSnapshots.values.map(values))
    }

    func count<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int {
        try store.fetchCount(request)
    }

    func identifiers<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> [PersistentIdentifier] {
        try store.fetchIdentifiers(request)
    }

    func cachedSnapshots(_ identifiers: [PersistentIdentifier], _ state: EditingState) throws -> [DefaultSnapshot] {
        try store.cachedSnapshots(for: identifiers, editingState: state).values.map(values)
    }

    func save(_ changes: DataStoreChanges, _ state: EditingState) throws -> SavedSnapshots {
        let request = DataStoreSaveChangesRequest(
            inserted: try changes.inserted.map { try snapshot($0, changes.replaced) },
            updated: try changes.updated.map { try snapshot($0, changes.replaced) },
            deleted: try changes.deleted.map { try snapshot($0, [:]) }, editingState: state)
        let result = try store.save(request)
        return SavedSnapshots(
            remapped: result.remappedIdentifiers, changed: try result.snapshotsToReregister.values.map(values))
    }

    func delete<T: PersistentModel>(_ request: DataStoreBatchDeleteRequest<T>) throws -> Bool {
        guard let store = store as? any DataStoreBatching else { return false }
        try store.delete(request)
        return true
    }

    func erase() throws { try store.erase() }

    func begin(_ state: EditingState) { store.initializeState(for: state) }

    func end(_ state: EditingState) { store.invalidateState(for: state) }

    // MARK: Snapshots

    /// The snapshot of an object whose values were read.
    private func snapshot(
        _ change: DataStoreChanges.Change, _ replaced: [PersistentIdentifier: PersistentIdentifier]
    ) throws -> Store.Snapshot {
        if let snapshot = change.values as? Store.Snapshot { return snapshot }
        guard !change.isCombined else {
            throw SwiftDataError.modelValidationFailure.explained(
                "A new \(change.values.entityName) has the unique values of \(change.values.persistentIdentifier). Fetch that object and change it: snapshots of type \(Store.Snapshot.self) cannot be combined."
            )
        }
        var related: [PersistentIdentifier: any BackingData] = [:]
        func open<Model: PersistentModel>(_ object: Model) -> Store.Snapshot {
            Store.Snapshot(from: object.persistentBackingData, relatedBackingDatas: &related)
        }
        return open(change.object).copy(
            persistentIdentifier: change.values.persistentIdentifier, remappedIdentifiers: replaced)
    }

    /// The values of a snapshot: of a type of the user's, by its encoding.
    private func values(_ snapshot: Store.Snapshot) throws -> DefaultSnapshot {
        if let values = snapshot as? DefaultSnapshot { return values }
        let encoder = JSONEncoder()
        let decoder = JSONDecoder()
        let names = (infinity: "inf", minus: "-inf", nan: "nan")
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: names.infinity, negativeInfinity: names.minus, nan: names.nan)
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: names.infinity, negativeInfinity: names.minus, nan: names.nan)
        return try decoder.decode(DefaultSnapshot.self, from: encoder.encode(snapshot))
    }
}
