internal import Dispatch
internal import FaultlineBackup
package import FaultlineDisk
package import FaultlineLog
public import FaultlineMigration
public import FaultlineModel
public import FaultlineObjects
package import FaultlineStore
internal import Foundation
internal import Synchronization

/// An open store under a schema, from which contexts are made; or several, each with its part of the schema.
///
/// Containers of one store in one process share an engine. A container is thread-safe; a context is not.
public final class ModelContainer: Equatable, Sendable {
    /// The schema that the store was opened with, relationships' destinations included.
    public let schema: Schema
    /// The plan by which an older store is migrated; nil allows only migrations that need no code.
    public let migrationPlan: (any SchemaMigrationPlan.Type)?
    let configuration: ModelConfiguration
    /// The configurations of its stores.
    public var configurations: Set<ModelConfiguration> {
        guard let parts else { return [configuration] }
        return Set(parts.containers.map(\.configuration))
    }
    /// The changes that opening made to bring the store to the schema.
    public let migrationReport: MigrationReport
    /// The rows of its store; of a container over several, those of no store.
    private let store: RowStore
    /// Its stores, where it has several; nil for a container of one.
    package let parts: StoreParts?
    let types: [ModelType]
    private let tallies: ReadTallies
    private let reporter: StoreReporter?
    /// The state that a closure of a custom migration stage sees; nil if the container was opened.
    private let stage: StageStore?
    private let idleRewriting: IdleRewriting?
    private let historyRetention: HistoryRetention?
    /// Whether saves of its contexts are written into the store's history.
    private let recordsHistory: Bool
    /// The state that a container of the past reads.
    let past: PastState?
    /// The local copy of the user's data store that the container is in front of; nil for a store of this library.
    let localCopy: LocalCopy?
    package let performing: Performing
    private let isClosed = Atomic<Bool>(false)
    private let main = Guarded<MainContext?>(nil)

    /// The state of the main context: the container's, which the context itself keeps alive.
    // Safe because the core is made on the main actor, and used by its context's code only.
    private struct MainContext: @unchecked Sendable {
        let core: ContextCore
        let parts: ContextParts?

        func abandonChanges() { (parts?.known ?? [core]).forEach { $0.abandonChanges() } }
    }

    /// Opens a store for some model classes, and all classes that their relationships lead to.
    ///
    /// - Throws: As the form that takes a list of configurations.
    /// - Complexity: As the form that takes a list of configurations.
    public convenience init(
        for forTypes: any PersistentModel.Type..., migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        configurations: ModelConfiguration...
    ) throws {
        try self.init(of: ContainerRequest(forTypes, migrationPlan, configurations))
    }

    /// Opens a store for a schema, made of model classes or of values.
    ///
    /// - Throws: As the form that takes a list of configurations.
    /// - Complexity: As the form that takes a list of configurations.
    public convenience init(
        for givenSchema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        configurations: ModelConfiguration...
    ) throws {
        try self.init(for: givenSchema, migrationPlan: migrationPlan, configurations: configurations)
    }

    /// Opens a store for a schema, or several stores, each for its part of it.
    ///
    /// The objects of a schema that was made of model classes are of these classes; of any other schema, all objects
    /// are `ManagedObject`s.
    ///
    /// If the store has an older schema it is migrated before this returns: by the stages of the plan, or, without a
    /// plan, in place if nothing needs code.
    ///
    /// Of several configurations, each has the entities of its own schema, and the one without a schema has the rest:
    /// see `stores`.
    ///
    /// - Throws: `SeveralStoresError` if the entities cannot be divided so; `SchemaError` for classes that break a rule, `MigrationError` if the store cannot be brought to the
    ///   schema, `StorageError` if it cannot be opened: not a store, newer, damaged, locked, unwritable. Each names
    ///   the file and the remedy.
    /// - Complexity: After a close O(f) for f files. Otherwise the log since the last checkpoint is replayed, usually
    ///   at most 32 MiB. A migration adds the cost of its stages.
    public convenience init(
        for givenSchema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        configurations: [ModelConfiguration]
    ) throws {
        try self.init(of: ContainerRequest(givenSchema, migrationPlan, configurations))
    }

    /// Opens a store under the schema that it contains: all objects are `ManagedObject`s.
    ///
    /// An interrupted migration is left untouched: the old objects can be read, and a save throws until a container
    /// that knows the migration's plan has finished it.
    ///
    /// - Throws: `StorageError` as the other initializers; `SwiftDataError.unknownSchema` if there is no store yet, or
    ///   one without a schema.
    /// - Complexity: As the other initializers, without a migration.
    public init(opening configuration: ModelConfiguration) throws {
        // Nothing is migrated.
        defer { configuration.options.migration.options.finishUpdates() }
        try configuration.validate()
        let reporter = StoreReporter(configuration.options.reporting, name: configuration.name)
        let place = StorePlace(configuration, observer: reporter)
        let isReadOnly = !configuration.allowsSave
        let opened = try StorageError.opening { () throws -> Migrator.Opened? in
            // Checked first: opening for writing would make a store.
            guard !configuration.isStoredInMemoryOnly, try place.isPresent() else { return nil }
            let log = try place.open(place.options.memoryBudget)
            do {
                if let opened = try StoredOpening.open(log, isReadOnly: isReadOnly) { return opened }
            } catch {
                try? log.close()
                throw error
            }
            try log.close()
            return nil
        }
        guard let opened else {
            throw SwiftDataError.unknownSchema.explained(
                "\(configuration.url.path) has no schema yet. Make the container with one.")
        }
        (store, migrationReport) = opened
        schema = opened.store.storage.schema
        types = schema.entities.map(ModelType.dynamic)
        migrationPlan = nil
        self.configuration = configuration
        tallies = ReadTallies()
        stage = nil
        parts = nil
        past = nil
        localCopy = nil
        self.reporter = reporter
        idleRewriting = nil
        historyRetention = nil
        performing = Performing(configuration.options.performing)
        recordsHistory = configuration.options.history != .off
        reporter?.begin(store.log, tallies)
    }

    /// A container of the past, which only reads: without a plan, reports and maintenance.
    init(
        reading opened: Migrator.Opened, _ schema: Schema, _ types: [ModelType], _ configuration: ModelConfiguration,
        past: PastState
    ) {
        (store, migrationReport) = opened
        (self.schema, self.types, self.past) = (schema, types, past)
        migrationPlan = nil
        self.configuration = configuration
        tallies = ReadTallies()
        stage = nil
        parts = nil
        reporter = nil
        idleRewriting = nil
        historyRetention = nil
        performing = Performing(configuration.options.performing)
        recordsHistory = false
        localCopy = nil
    }

    init(_ request: ContainerRequest, inFrontOf opened: OpenedDataStore? = nil) throws {
        schema = request.schema
        types = request.types
        migrationPlan = request.migrationPlan
        configuration = request.configuration
        tallies = ReadTallies()
        stage = nil
        parts = nil
        past = nil
        reporter = StoreReporter(configuration.options.reporting, name: configuration.name)
        let place = StorePlace(configuration, observer: reporter, storeID: opened?.storeID)
        place.createParent()
        var migration = configuration.options.migration.options
        if let reporter { migration.addObserver { reporter.observe($0) } }
        (store, migrationReport) = try Self.openStore(
            place, request.written, types, migrationPlan, migration, configuration,
            isReadOnly: !configuration.allowsSave && !configuration.isStoredInMemoryOnly)
        idleRewriting =
            configuration.allowsSave && configuration.options.rewritesWhenIdle ? IdleRewriting(store) : nil
        recordsHistory = configuration.options.history != .off
        performing = Performing(configuration.options.performing)
        historyRetention = configuration.allowsSave ? HistoryRetention(store, configuration.options.history) : nil
        localCopy = opened?.localCopy(schema, store, types)
        reporter?.begin(store.log, tallies)
        historyRetention?.start()
    }

    /// Opens a store on a given disk: for simulations, which must be repeatable.
    package init(
        for types: [any PersistentModel.Type], migrationPlan: (any SchemaMigrationPlan.Type)? = nil, directory: String,
        on disk: Disk, clock: Clock = .system, options: LogOptions, migration: MigrationOptions = MigrationOptions(),
        recordsHistory: Bool = false
    ) throws {
        schema = try Schema.checked(types, version: ContainerRequest.version(of: types, in: migrationPlan))
        self.migrationPlan = migrationPlan
        configuration = ModelConfiguration(url: URL(filePath: directory, directoryHint: .isDirectory))
        reporter = nil
        tallies = ReadTallies()
        stage = nil
        parts = nil
        past = nil
        self.types = ContainerRequest.types(of: types)
        (store, migrationReport) = try Self.openStore(
            StorePlace(directory: directory, disk: disk, clock: clock, options: options), schema.tables(), self.types,
            migrationPlan, migration, configuration, isReadOnly: false)
        idleRewriting = nil
        historyRetention = nil
        performing = Performing(configuration.options.performing)
        self.recordsHistory = recordsHistory
        localCopy = nil
    }

    /// Makes the container that the contexts of a migration stage's closure belong to: the same store, as the closure
    /// sees it.
    ///
    /// Its contexts and the container save into the stage; closing the container does nothing.
    init(
        stage: StageStore, migrationPlan: (any SchemaMigrationPlan.Type)?, configuration: ModelConfiguration
    ) {
        schema = stage.store.storage.schema
        self.migrationPlan = migrationPlan
        self.configuration = configuration
        migrationReport = MigrationReport()
        store = stage.store
        types = stage.types
        tallies = stage.session.tallies
        reporter = nil
        idleRewriting = nil
        historyRetention = nil
        performing = Performing(configuration.options.performing, keepsContexts: false)
        recordsHistory = false
        parts = nil
        past = nil
        localCopy = nil
        self.stage = stage
    }

    /// Makes the container over several stores.
    ///
    /// - Parameters:
    ///   - parts: The stores.
    ///   - noStore: The rows of a store without entities.
    ///   - schema: The entities of all.
    ///   - options: Those of its threads.
    init(over parts: StoreParts, _ noStore: RowStore, _ schema: Schema, _ options: StoreOptions.Performing) {
        store = noStore
        self.parts = parts
        self.schema = schema
        var configuration = ModelConfiguration("several stores", isStoredInMemoryOnly: true)
        configuration.options.performing = options
        self.configuration = configuration
        migrationReport = MigrationReport(joining: parts.containers.map(\.migrationReport))
        migrationPlan = nil
        types = []
        tallies = ReadTallies()
        stage = nil
        past = nil
        reporter = nil
        idleRewriting = nil
        historyRetention = nil
        performing = Performing(options)
        recordsHistory = false
        localCopy = nil
    }

    /// Whether both are the same container: two that opened one store are not equal.
    public static func == (left: ModelContainer, right: ModelContainer) -> Bool { left === right }

    /// The context of the main actor, which saves by itself.
    ///
    ///     container.mainContext.insert(Trip("Rome"))
    ///     try container.mainContext.save()
    ///
    /// A context keeps its container alive, and so the store open. The container keeps the unsaved changes of the main
    /// context, but not the context: a program that releases both closes the store, and drops unsaved changes.
    @MainActor public var mainContext: ModelContext { mainHandle() }

    private func mainHandle() -> ModelContext {
        let (core, isNew) = main.withLock { held -> (MainContext, Bool) in
            if let held { return (held, false) }
            let core = makeCore()
            core.keepChanges { [weak self] in self?.mainHandle() }
            let made = MainContext(core: core, parts: parts.map { ContextParts(core, over: $0) })
            held = made
            return (made, true)
        }
        if let context = core.core.userContextIfAlive { return context }
        let context = ModelContext(core.core, core.parts, owner: self)
        if isNew {
            context.runs(on: .main)
            context.autosaveEnabled = true
        }
        return context
    }

    func makeCore() -> ContextCore {
        if let stage { return stage.makeCore() }
        let core = ContextCore(
            store: store, types: types, isReadOnly: !configuration.allowsSave, tallies: tallies,
            recordsHistory: recordsHistory)
        if let localCopy { core.join(localCopy) }
        return core
    }

    /// The reads of all contexts of this container so far, and the memory that the store's engine holds now.
    ///
    /// - Complexity: O(c) for c living contexts.
    public var counters: FaultCounters {
        if let parts { return parts.containers.reduce(FaultCounters()) { $0 + $1.counters } }
        var counters = tallies.sum
        counters.cacheBytes = store.log.budget.used
        return counters
    }

    /// The state of the store, read without waiting for a disk or a writer: cheap enough for a probe each second.
    ///
    /// - Complexity: O(1): some locks that are held only briefly, and no system call.
    public var health: StoreHealth {
        if let parts { return StoreHealth(joining: parts.containers.map(\.health)) }
        return StoreHealth(store.log.health, isClosed: isClosed.load(ordering: .acquiring))
    }

    /// Closes the store, or all stores: afterwards this container and its contexts can read and write nothing.
    ///
    /// Does nothing for the container of a migration stage's context: the migration owns that store.
    ///
    /// - Throws: `StorageError` if the last checkpoint cannot be written; saves that returned stay durable.
    /// - Complexity: That of `checkpoint()`. Called twice, it does nothing.
    public func close() throws {
        guard stage == nil, !isClosed.exchange(true, ordering: .acquiringAndReleasing) else { return }
        performing.close(configuration.url.path)
        if let parts { return try parts.close() }
        store.log.notifyListeners()
        idleRewriting?.stop()
        historyRetention?.stop()
        reporter?.end()
        defer { past?.release() }
        try StorageError.translating { try store.log.close() }
    }

    deinit {
        if let main = main.withLock({ $0 }) {
            // The main actor may be using its objects.
            if Thread.isMainThread {
                main.abandonChanges()
            } else {
                DispatchQueue.main.async { main.abandonChanges() }
            }
        }
        performing.close(configuration.url.path)
        // Acknowledged saves are durable already; closing only spares the next opening the replay.
        if stage == nil, parts == nil, !isClosed.load(ordering: .acquiring) {
            idleRewriting?.stop()
            historyRetention?.stop()
            reporter?.end()
            try? store.log.close()
        }
    }

    package var rowStore: RowStore { store }

    /// Whether the container belongs to a stage of a migration.
    var isOfStage: Bool { stage != nil }

    /// Whether the main context was asked for.
    var hasMainContext: Bool { main.withLock { $0 != nil } }

    var isClosedByUser: Bool { isClosed.load(ordering: .acquiring) }
}
