import Faultline
import Foundation

/// The configuration of a store in a file of JSON.
struct JSONStoreConfiguration: DataStoreConfiguration {
    typealias Store = JSONStore

    var name: String
    var schema: Schema?
    var fileURL: URL
    /// Whether a fetch of a class finds no objects of its subclasses.
    var findsExactly = false

    init(name: String, schema: Schema? = nil, fileURL: URL) {
        self.name = name
        self.schema = schema
        self.fileURL = fileURL
    }
}

/// A store in a file of JSON, which is read and written whole, in the form of the published samples.
final class JSONStore: DataStore {
    typealias Configuration = JSONStoreConfiguration
    typealias Snapshot = DefaultSnapshot

    let configuration: JSONStoreConfiguration
    let name: String
    let schema: Schema
    let identifier: String

    init(_ configuration: JSONStoreConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        self.configuration = configuration
        name = configuration.name
        schema = configuration.schema ?? Schema(entities: [])
        identifier = configuration.fileURL.lastPathComponent
    }

    func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
        var remapped: [PersistentIdentifier: PersistentIdentifier] = [:]
        var stored = try read()
        for snapshot in request.inserted {
            let entityName = snapshot.persistentIdentifier.entityName
            remapped[snapshot.persistentIdentifier] = try PersistentIdentifier.identifier(
                for: identifier, entityName: entityName, primaryKey: UUID())
        }
        for snapshot in request.inserted {
            guard let permanent = remapped[snapshot.persistentIdentifier] else { continue }
            stored[permanent] = snapshot.copy(persistentIdentifier: permanent, remappedIdentifiers: remapped)
        }
        for snapshot in request.updated {
            stored[snapshot.persistentIdentifier] = snapshot.copy(
                persistentIdentifier: snapshot.persistentIdentifier, remappedIdentifiers: remapped)
        }
        for snapshot in request.deleted { stored[snapshot.persistentIdentifier] = nil }
        try write(stored)
        return DataStoreSaveChangesResult(for: identifier, remappedIdentifiers: remapped)
    }

    func fetch<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, DefaultSnapshot> {
        if request.descriptor.predicate != nil { throw DataStoreError.preferInMemoryFilter }
        if request.descriptor.sortBy.count > 0 { throw DataStoreError.preferInMemorySort }
        let stored = try read()
        return DataStoreFetchResult(
            descriptor: request.descriptor,
            fetchedSnapshots: stored.values.filter {
                configuration.findsExactly
                    ? $0.entityName == Schema.entityName(for: T.self) : request.isOfClass($0)
            },
            relatedSnapshots: stored)
    }

    func erase() throws { try write([:]) }

    func read() throws -> [PersistentIdentifier: DefaultSnapshot] {
        guard FileManager.default.fileExists(atPath: configuration.fileURL.path(percentEncoded: false)) else {
            return [:]
        }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        let snapshots = try decoder.decode([DefaultSnapshot].self, from: Data(contentsOf: configuration.fileURL))
        return Dictionary(uniqueKeysWithValues: snapshots.map { ($0.persistentIdentifier, $0) })
    }

    private func write(_ snapshots: [PersistentIdentifier: DefaultSnapshot]) throws {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try encoder.encode(Array(snapshots.values)).write(to: configuration.fileURL)
    }
}
