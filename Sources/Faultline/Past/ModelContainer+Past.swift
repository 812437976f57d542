public import FaultlineBackup
internal import FaultlineDisk
internal import FaultlineLog
internal import FaultlineMigration
internal import FaultlineModel
public import FaultlineObjects
internal import FaultlineStore
public import Foundation

extension ModelContainer {
    /// A container of the store as it was.
    ///
    ///     let yesterday = try await container.past(at: .date(.now - 86_400))
    ///     let context = ModelContext(yesterday)
    ///     let names = try context.fetch(FetchDescriptor<Album>()).map(\.title)
    ///
    /// Its contexts cannot save, and go on reading that state while the store is written, compacted and migrated. Objects
    /// have the identifiers that they have in the store. If the store had another schema then, the container has that one, and
    /// its objects are `ManagedObject`s.
    ///
    /// The state is read from the log. The log has the states since its newest checkpoint; as long as the store was
    /// never compacted it has all of them, and with `StoreOptions.retention` those of the window. Older ones are in
    /// backups: `past(inBackups:at:)`.
    ///
    /// - Parameter point: The state.
    /// - Returns: The container. Files of the state that the store has removed keep their space on the disk until it is
    ///   closed.
    /// - Throws: `BackupError` of code `notInLog` if the log does not have the state; `SwiftDataError.historyTokenExpired`
    ///   for a token without a save of this store, or of a save that the history no longer has;
    ///   `SwiftDataError.unknownSchema` if the state has no schema yet; `StorageError` if the store is damaged, or cannot
    ///   be read.
    /// - Complexity: The log between the newest checkpoint and the state, or all of it for an older state, and one thread.
    ///   Memory: a cache of the size that the container has; and, not bounded by it, the tables' pages and the index
    ///   entries of that part of the log. Descriptors: one for each file.
    public nonisolated func past(at point: PastPoint) async throws -> ModelContainer {
        try await withTaskExecutorPreference(SingleThread()) { try self.openPast(point) }
    }

    /// A container of a store as it was, by its backups; nothing is restored.
    ///
    ///     let then = try await ModelContainer.past(
    ///         inBackups: URL(filePath: "/backups/photos"), at: .transaction(4_711))
    ///     let album = try ModelContext(then).fetch(FetchRequest(entityName: "Album")).first
    ///
    /// The container has the schema of the state, and its objects are `ManagedObject`s. Its contexts cannot save. The
    /// directory is locked while the state is opened; afterwards backups may be added and removed.
    ///
    /// - Parameters:
    ///   - backups: The directory of the backups.
    ///   - point: The state.
    /// - Returns: The container.
    /// - Throws: `BackupError`; `SwiftDataError.unknownSchema` if the state has no schema yet; `StorageError` if the disk
    ///   fails.
    /// - Complexity: The log between the checkpoint of the backup before the state and the state, and one thread.
    public nonisolated static func past(
        inBackups backups: URL, at point: RestorePoint
    ) async throws -> ModelContainer {
        try await withTaskExecutorPreference(SingleThread()) {
            try StorageError.translating {
                let state = try PastState(
                    inBackups: backups.path(percentEncoded: false), on: StoreDisk.current ?? PosixDisk(), at: point)
                return try open(state, like: nil, ModelConfiguration(url: backups, allowsSave: false))
            }
        }
    }

    /// Opens a state on the calling thread.
    nonisolated func openPast(_ point: PastPoint) throws -> ModelContainer {
        try checkIsOfOneStore("past(at:)")
        return try StorageError.translating {
            let log = rowStore.log
            // Another process may have written the save of a token.
            try log.follow()
            let state = try PastState(
                of: log.directory.path, on: log.directory.disk, at: restorePoint(point))
            var configuration = ModelConfiguration(
                configuration.name, url: configuration.url, allowsSave: false)
            configuration.options = self.configuration.options
            let past = try Self.open(state, like: self, configuration)
            if case .token(let token) = point {
                do { try token.checkIsNewest(in: past.rowStore.log) } catch {
                    try? past.close()
                    throw error
                }
            }
            return past
        }
    }

    /// Opens a state: with the classes of a container that has its schema, else without classes.
    private nonisolated static func open(
        _ state: PastState, like container: ModelContainer?, _ configuration: ModelConfiguration
    ) throws -> ModelContainer {
        var options = configuration.options.log
        options.access = .reading
        let place = StorePlace(directory: state.directory, disk: state.disk, clock: .system, options: options)
        let log = try place.open(options.memoryBudget)
        do {
            guard let opened = try StoredOpening.open(log, isReadOnly: true) else {
                throw SwiftDataError.unknownSchema.explained(
                    "The store had no schema yet after transaction \(state.last.transaction). Read a later state.")
            }
            let stored = opened.store.storage.schema
            guard let container, let tables = try? container.schema.tables(), tables.fingerprint == stored.fingerprint
            else {
                return ModelContainer(
                    reading: opened, stored, stored.entities.map(ModelType.dynamic), configuration, past: state)
            }
            var migrator = Migrator(
                log: log, schema: tables, types: container.types, plan: nil, options: MigrationOptions(),
                makeStageContainer: { ModelContainer(stage: $0, migrationPlan: nil, configuration: configuration) })
            return ModelContainer(
                reading: try migrator.run(isReadOnly: true), container.schema, container.types, configuration,
                past: state)
        } catch {
            try? log.close()
            throw error
        }
    }

    private nonisolated func restorePoint(_ point: PastPoint) throws -> RestorePoint {
        switch point {
        case .transaction(let number): return .transaction(number)
        case .date(let date):
            let microseconds = (date.timeIntervalSince1970 * 1e6).rounded(.down)
            // Before the first and behind the last one that a store can have.
            guard microseconds > -9e15 else { return .time(nanoseconds: .min) }
            guard microseconds < 9e15 else { return .time(nanoseconds: .max) }
            return .time(nanoseconds: Int64(microseconds) * 1_000 + 999)
        case .token(let token): return .transaction(try token.sequence(in: rowStore.log))
        }
    }
}

extension ModelContext {
    /// Makes a context that reads the store as it was.
    ///
    ///     let before = try ModelContext(container, asOf: .token(token))
    ///     let old = try before.fetch(FetchDescriptor<Album>())
    ///
    /// Errors and complexity are those of `ModelContainer.past(at:)`, which suspends instead of waiting, and whose
    /// container several contexts can share.
    ///
    /// - Parameters:
    ///   - container: A container of the store.
    ///   - point: The state.
    /// - Throws: As `ModelContainer.past(at:)`.
    public convenience init(_ container: ModelContainer, asOf point: PastPoint) throws {
        self.init(try container.openPast(point))
    }
}
