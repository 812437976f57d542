import Faultline
import FaultlineDisk
import Foundation
import Synchronization

/// A server in this process: the objects of a `ServerStore`, and a count of the calls.
final class Server: Sendable {
    struct State: Sendable {
        var objects: [PersistentIdentifier: DefaultSnapshot] = [:]
        var calls: [String] = []
        var last = 0
        /// Runs in each call.
        var onCall: (@Sendable () throws -> Void)?
        /// Whether new objects get no identifier.
        var forgetsIdentifiers = false
        /// Whether the last new object of a save gets no identifier, and is not kept.
        var forgetsLastIdentifier = false
        /// Whether the server sets the title of each saved voyage.
        var setsTitles = false
    }

    let name: String
    let state = Guarded(State())

    init(_ name: String) { self.name = name }

    /// Changes an object behind the back of all containers.
    func set(_ name: String, to value: PropertyValue, of identifier: PersistentIdentifier) {
        state.withLock { state in
            guard let old = state.objects[identifier] else { return }
            state.objects[identifier] = old.setting(name, to: value)
        }
    }

    func remove(_ identifier: PersistentIdentifier) {
        state.withLock { _ = $0.objects.removeValue(forKey: identifier) }
    }

    func takeCalls() -> [String] {
        state.withLock { state in
            defer { state.calls = [] }
            return state.calls
        }
    }
}

extension DefaultSnapshot {
    /// A copy with another value of a property, through its encoding.
    func setting(_ name: String, to value: PropertyValue) -> DefaultSnapshot {
        var values = values
        values[name] = value
        return DefaultSnapshot(persistentIdentifier: persistentIdentifier, entityName: entityName, values: values)
    }
}

struct ServerConfiguration: DataStoreConfiguration {
    typealias Store = ServerStore

    var name = "server"
    var schema: Schema?
    let server: Server

    init(_ server: Server) { self.server = server }

    static func == (left: ServerConfiguration, right: ServerConfiguration) -> Bool { left.server === right.server }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(server)) }
}

/// A store that selects, sorts and cuts by itself, as a server does.
final class ServerStore: DataStore, DataStoreBatching {
    typealias Configuration = ServerConfiguration
    typealias Snapshot = DefaultSnapshot

    let configuration: ServerConfiguration
    var identifier: String { configuration.server.name }
    var schema: Schema { configuration.schema ?? Schema(entities: []) }

    init(_ configuration: ServerConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        self.configuration = configuration
    }

    private func note(_ call: String) throws {
        let onCall = configuration.server.state.withLock { state in
            state.calls.append(call)
            return state.onCall
        }
        try onCall?()
    }

    /// The voyages whose code or identifier a predicate names, in the order of their codes.
    private func voyages<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> [DefaultSnapshot] {
        let name = Schema.entityName(for: T.self)
        var found = configuration.server.state.withLock { state in
            state.objects.values.filter { $0.entityName == name }
        }
        if let predicate = descriptor.predicate {
            guard let wanted = ServerQuery(predicate) else { throw DataStoreError.preferInMemoryFilter }
            found = found.filter(wanted.selects)
        }
        func text(_ snapshot: DefaultSnapshot) -> String { snapshot["code"]?.string ?? "" }
        return found.sorted { text($0) > text($1) }
    }

    func fetch<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, DefaultSnapshot> {
        try note("fetch \(Schema.entityName(for: T.self))")
        let found = try voyages(request.descriptor).dropFirst(request.descriptor.fetchOffset ?? 0)
        return DataStoreFetchResult(
            descriptor: request.descriptor,
            fetchedSnapshots: Array(found.prefix(request.descriptor.fetchLimit ?? .max)))
    }

    func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int {
        try note("count \(Schema.entityName(for: T.self))")
        return try voyages(request.descriptor).count
    }

    func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
        try note("save \(request.inserted.count) \(request.updated.count) \(request.deleted.count)")
        return try configuration.server.state.withLock { state in
            var remapped: [PersistentIdentifier: PersistentIdentifier] = [:]
            let kept = state.forgetsLastIdentifier ? request.inserted.dropLast() : request.inserted[...]
            for snapshot in kept where !state.forgetsIdentifiers {
                state.last += 1
                remapped[snapshot.persistentIdentifier] = try PersistentIdentifier.identifier(
                    for: identifier, entityName: snapshot.persistentIdentifier.entityName, primaryKey: state.last)
            }
            var changed: [PersistentIdentifier: DefaultSnapshot] = [:]
            for snapshot in kept + request.updated {
                let identifier = remapped[snapshot.persistentIdentifier] ?? snapshot.persistentIdentifier
                var saved = snapshot.copy(persistentIdentifier: identifier, remappedIdentifiers: remapped)
                if state.setsTitles, saved.entityName == "Voyage" {
                    saved = saved.setting("title", to: .string("by the server"))
                    changed[identifier] = saved
                }
                state.objects[identifier] = saved
            }
            for snapshot in request.deleted { state.objects[snapshot.persistentIdentifier] = nil }
            return DataStoreSaveChangesResult(
                for: identifier, remappedIdentifiers: remapped, snapshotsToReregister: changed)
        }
    }

    func delete<T: PersistentModel>(_ request: DataStoreBatchDeleteRequest<T>) throws {
        try note("delete \(Schema.entityName(for: T.self))")
        let found = try voyages(FetchDescriptor<T>(predicate: request.predicate))
        configuration.server.state.withLock { state in
            for snapshot in found { state.objects[snapshot.persistentIdentifier] = nil }
        }
    }

    func erase() throws {
        try note("erase")
        configuration.server.state.withLock { $0.objects = [:] }
    }
}

/// The predicates that the server knows: a code above a text, and a list of identifiers.
private struct ServerQuery {
    private var above: String?
    private var identifiers: Set<PersistentIdentifier>?

    init?<T: PersistentModel>(_ predicate: Predicate<T>) {
        let text = String(describing: predicate.expression)
        let mirror = Mirror(reflecting: predicate.expression)
        for child in mirror.children {
            for value in Mirror(reflecting: child.value).children {
                if let value = value.value as? String { above = value }
                if let value = value.value as? [PersistentIdentifier] { identifiers = Set(value) }
            }
        }
        guard above != nil || identifiers != nil, !text.contains("Conjunction") else { return nil }
    }

    func selects(_ snapshot: DefaultSnapshot) -> Bool {
        if let identifiers { return identifiers.contains(snapshot.persistentIdentifier) }
        return snapshot["code"]?.string ?? "" > above ?? ""
    }
}
