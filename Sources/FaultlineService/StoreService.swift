#if Service
public import Faultline
internal import FaultlineMigration
public import FaultlineModel
public import FaultlineObjects
public import Logging
public import ServiceLifecycle

/// A store as a service of a `ServiceGroup`: it opens and migrates, serves calls, and closes with the group.
///
///     let store = StoreService(for: Photo.self, configuration: configuration, logger: logger)
///     let server = PhotoServer(store: store)
///     let group = ServiceGroup(services: [store, server], gracefulShutdownSignals: [.sigterm], logger: logger)
///     try await group.run()
///
/// Name the store before the services that use it: a group ends its services in the opposite order.
///
/// Events go to the logger, metrics to `MetricsSystem`, and spans to the tracer of `InstrumentationSystem`.
/// `docs/Operations.md` lists events and metrics.
public final class StoreService: Service, CustomStringConvertible {
    /// Opens the container with a configuration, and tells its progress.
    private typealias Opening =
        @Sendable (
            ModelConfiguration, @escaping @Sendable (MigrationProgress) -> Void
        ) async throws -> ModelContainer

    private let configuration: ModelConfiguration
    private let opening: Opening
    let life: StoreLife

    /// The longest wait of calls that name none; nil for no limit.
    var defaultWait: Duration? { configuration.options.performing.longestWait }

    /// Prepares a service for some model classes, and all classes that their relationships lead to.
    ///
    ///     let store = StoreService(for: Photo.self, migrationPlan: PhotoPlan.self, configuration: configuration)
    ///
    /// Nothing is opened before `run()`.
    ///
    /// - Parameters:
    ///   - types: The classes.
    ///   - migrationPlan: The plan by which an older store is migrated; nil if that needs no code.
    ///   - configuration: The store and its options. Metrics are reported if the options name none.
    ///   - logger: Gets the events of the store; nil for the logger of the options.
    public convenience init(
        for types: any PersistentModel.Type..., migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        configuration: ModelConfiguration = ModelConfiguration(), logger: Logger? = nil
    ) {
        self.init(configuration, logger) { configuration, progress in
            try await ModelContainer.open(
                forAll: types, migrationPlan: migrationPlan, configuration: configuration, progress: progress)
        }
    }

    /// Prepares a service for a schema, made of model classes or of values.
    ///
    ///     let store = StoreService(for: Schema(versionedSchema: Photos2.self), migrationPlan: PhotoPlan.self)
    ///
    /// - Parameters:
    ///   - schema: The schema.
    ///   - migrationPlan: The plan by which an older store is migrated; nil if that needs no code.
    ///   - configuration: As for model classes.
    ///   - logger: As for model classes.
    public convenience init(
        for schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        configuration: ModelConfiguration = ModelConfiguration(), logger: Logger? = nil
    ) {
        self.init(configuration, logger) { configuration, progress in
            try await ModelContainer.open(
                for: schema, migrationPlan: migrationPlan, configuration: configuration, progress: progress)
        }
    }

    private init(_ given: ModelConfiguration, _ logger: Logger?, _ opening: @escaping Opening) {
        var configuration = given
        if let logger { configuration.options.reporting.logger = logger }
        if configuration.options.reporting.metrics == nil {
            configuration.options.reporting.metrics = StoreReporting.Metrics()
        }
        self.configuration = configuration
        self.opening = opening
        life = StoreLife(configuration)
    }

    /// Opens and migrates the store, serves until the group shuts down, and closes the store: for a `ServiceGroup`.
    ///
    ///     try await ServiceGroup(services: [store, server], logger: logger).run()
    ///
    /// At a graceful shutdown calls under way end, and later ones throw `StorageError` with the code `closed`. During a
    /// migration a shutdown stops it, and the next opening continues it. A cancelled task closes the store at once, and
    /// calls under way throw too; saves that have returned are kept.
    ///
    /// - Throws: `StoreServiceError` if it runs or ran already; the errors of `ModelContainer.open(for:)`, among them
    ///   `MigrationError` with the code `cancelled` if the task was cancelled during a migration; the errors of
    ///   `ModelContainer.close()`.
    /// - Complexity: The cost of opening and closing; no thread while the store is open.
    public func run() async throws {
        guard life.begin() else { throw StoreServiceError.alreadyRun(configuration.name) }
        guard let container = try await open() else { return life.become(.closed) }
        life.become(.ready(container))
        // Throws if the task is cancelled, which ends the service too.
        try? await gracefulShutdown()
        life.become(.closing(container))
        do {
            try await StoreSpan.close.run(configuration.name) { _ in try await container.closeAfterCalls() }
            life.become(.closed)
        } catch {
            life.become(.failed(error))
            throw error
        }
    }

    /// - Returns: The container; nil if a graceful shutdown stopped the migration.
    private func open() async throws -> ModelContainer? {
        do {
            return try await StoreSpan.open.run(configuration.name) { _ in
                try await cancelWhenGracefulShutdown { [configuration, opening, life] in
                    var configuration = configuration
                    let spans = MigrationSpans(configuration.name)
                    configuration.options.migration.observers.append { spans.take($0) }
                    return try await opening(configuration) { life.note($0) }
                }
            }
        } catch {
            if Task.isShuttingDownGracefully, (error as? MigrationError)?.code == .cancelled { return nil }
            life.become(.failed(error))
            throw error
        }
    }

    /// The container of the open store: suspends the task until the store is open.
    ///
    ///     let count = try await store.container.perform { try $0.fetchCount(FetchDescriptor<Photo>()) }
    ///
    /// Prefer `perform`, which also makes a span. The service closes the container: do not close it yourself.
    ///
    /// - Throws: The error of the opening if it has failed; `StorageError` with the code `closed` once the service shuts
    ///   down; `CancellationError` if the task is cancelled while it waits.
    /// - Complexity: O(1); no thread while it waits.
    public var container: ModelContainer { get async throws { try await life.container() } }

    /// The state of the service and of its store, read without waiting: for probes.
    ///
    ///     return Response(status: store.health.statusCode, body: try JSONEncoder().encode(store.health))
    ///
    /// - Complexity: As `ModelContainer.health`.
    public var health: Health { life.health }

    /// The tasks that wait for the container now.
    package var waiterCount: Int { life.waiterCount }

    /// The service's name in the messages of a group.
    public var description: String { "StoreService(\(configuration.name))" }
}
#endif
