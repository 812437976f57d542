import Faultline
import Foundation

struct WrappedConfiguration: DataStoreConfiguration {
    typealias Store = WrappedStore

    var name = "wrapped"
    var schema: Schema?
    let url: URL
}

/// A store of this library, with a list of the deleted objects.
final class WrappedStore: DataStore {
    typealias Configuration = WrappedConfiguration
    typealias Snapshot = DefaultSnapshot

    let configuration: WrappedConfiguration
    let inner: DefaultStore
    var identifier: String { inner.identifier }
    var schema: Schema { inner.schema }

    init(_ configuration: WrappedConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        self.configuration = configuration
        inner = try DefaultStore(
            ModelConfiguration(schema: configuration.schema, url: configuration.url), migrationPlan: migrationPlan)
    }

    func fetch<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, DefaultSnapshot> { try inner.fetch(request) }

    func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int {
        try inner.fetchCount(request)
    }

    func cachedSnapshots(
        for persistentIdentifiers: [PersistentIdentifier], editingState: EditingState
    ) throws -> [PersistentIdentifier: DefaultSnapshot] {
        try inner.cachedSnapshots(for: persistentIdentifiers, editingState: editingState)
    }

    func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> { try inner.save(request) }
}

/// The values of a tag, in a type of its own.
struct PennantSnapshot: DataStoreSnapshot {
    let persistentIdentifier: PersistentIdentifier
    let name: String
    let voyages: [PersistentIdentifier]

    init(persistentIdentifier: PersistentIdentifier, name: String, voyages: [PersistentIdentifier]) {
        self.persistentIdentifier = persistentIdentifier
        self.name = name
        self.voyages = voyages
    }

    init(from backingData: any BackingData, relatedBackingDatas: inout [PersistentIdentifier: any BackingData]) {
        let values = DefaultSnapshot(from: backingData, relatedBackingDatas: &relatedBackingDatas)
        persistentIdentifier = values.persistentIdentifier
        name = values["name"]?.string ?? ""
        if case .objects(let members)? = values["voyages"] { voyages = members } else { voyages = [] }
    }

    func copy(
        persistentIdentifier: PersistentIdentifier, remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]?
    ) -> PennantSnapshot {
        PennantSnapshot(
            persistentIdentifier: persistentIdentifier, name: name,
            voyages: voyages.map { remappedIdentifiers?[$0] ?? $0 })
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: DataStoreSnapshotCodingKey.self)
        persistentIdentifier = try container.decode(PersistentIdentifier.self, forKey: .persistentIdentifier)
        name = try container.decode(String.self, forKey: .modeledProperty("name"))
        voyages = try container.decode([PersistentIdentifier].self, forKey: .modeledProperty("voyages"))
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: DataStoreSnapshotCodingKey.self)
        try container.encode(persistentIdentifier, forKey: .persistentIdentifier)
        try container.encode(name, forKey: .modeledProperty("name"))
        try container.encode(voyages, forKey: .modeledProperty("voyages"))
    }
}

struct PennantConfiguration: DataStoreConfiguration {
    typealias Store = PennantStore

    var name = "tags"
    var schema: Schema?
    let identifier: String
}

/// Keeps tags in the process, for as long as it lives.
final class PennantStore: DataStore {
    typealias Configuration = PennantConfiguration
    typealias Snapshot = PennantSnapshot

    let configuration: PennantConfiguration
    var identifier: String { configuration.identifier }
    var schema: Schema { configuration.schema ?? Schema(entities: []) }
    private var tags: [PersistentIdentifier: PennantSnapshot] = [:]

    init(_ configuration: PennantConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        self.configuration = configuration
    }

    func fetch<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, PennantSnapshot> {
        guard request.descriptor.predicate == nil else { throw DataStoreError.preferInMemoryFilter }
        guard T.self == Pennant.self else {
            return DataStoreFetchResult(descriptor: request.descriptor, fetchedSnapshots: [])
        }
        return DataStoreFetchResult(descriptor: request.descriptor, fetchedSnapshots: Array(tags.values))
    }

    func save(
        _ request: DataStoreSaveChangesRequest<PennantSnapshot>
    ) throws -> DataStoreSaveChangesResult<PennantSnapshot> {
        var remapped: [PersistentIdentifier: PersistentIdentifier] = [:]
        for snapshot in request.inserted {
            let identifier = try PersistentIdentifier.identifier(
                for: identifier, entityName: "Pennant", primaryKey: "tag \(snapshot.name)")
            remapped[snapshot.persistentIdentifier] = identifier
            tags[identifier] = snapshot.copy(persistentIdentifier: identifier)
        }
        for snapshot in request.updated { tags[snapshot.persistentIdentifier] = snapshot }
        for snapshot in request.deleted { tags[snapshot.persistentIdentifier] = nil }
        return DataStoreSaveChangesResult(for: identifier, remappedIdentifiers: remapped)
    }
}
