public import FaultlineMigration
public import FaultlineModel
public import FaultlineObjects

// Opening while the calling task is suspended.

extension ModelContainer {
    /// Opens a store for some model classes, and all classes that their relationships lead to, on a thread of its own:
    /// a service answers meanwhile.
    ///
    ///     let container = try await ModelContainer.open(for: Photo.self, migrationPlan: PhotoPlan.self) { progress in
    ///         logger.info("\(progress)")
    ///     }
    ///
    /// A migration is cancelled with the calling task: between two objects, or at the next use of a context in a
    /// closure. The next opening goes on with it. A store that needs no migration is opened even if the task is
    /// cancelled.
    ///
    /// - Parameters:
    ///   - types: The classes.
    ///   - migrationPlan: The plan by which an older store is migrated; nil if that needs no code.
    ///   - configuration: The store and its options. A `MigrationControl` in the options is cancelled with the task.
    ///   - progress: Called on the opening's thread during a migration, as `StoreOptions.Migration.progress`, which is
    ///     called too.
    /// - Returns: The container of the open store.
    /// - Throws: `MigrationError` of the code `cancelled` if the task was cancelled; the errors of the initializers.
    /// - Complexity: As the initializers, and one thread until the store is open.
    public nonisolated static func open(
        for types: any PersistentModel.Type..., migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        configuration: ModelConfiguration = ModelConfiguration(),
        progress: (@Sendable (MigrationProgress) -> Void)? = nil
    ) async throws -> ModelContainer {
        try await open(forAll: types, migrationPlan: migrationPlan, configuration: configuration, progress: progress)
    }

    /// Opens a store for a list of model classes, as the form that takes them one by one.
    package nonisolated static func open(
        forAll types: [any PersistentModel.Type], migrationPlan: (any SchemaMigrationPlan.Type)?,
        configuration: ModelConfiguration, progress: (@Sendable (MigrationProgress) -> Void)?
    ) async throws -> ModelContainer {
        try await open(ContainerRequest(types, migrationPlan, [prepared(configuration, progress)]))
    }

    /// Opens a store for a schema, made of model classes or of values, on a thread of its own.
    ///
    ///     let container = try await ModelContainer.open(for: schema, configuration: configuration)
    ///
    /// - Parameters:
    ///   - schema: The schema.
    ///   - migrationPlan: The plan by which an older store is migrated; nil if that needs no code.
    ///   - configuration: As for model classes.
    ///   - progress: As for model classes.
    /// - Returns: The container of the open store.
    /// - Throws: As for model classes.
    /// - Complexity: As for model classes.
    public nonisolated static func open(
        for schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        configuration: ModelConfiguration = ModelConfiguration(),
        progress: (@Sendable (MigrationProgress) -> Void)? = nil
    ) async throws -> ModelContainer {
        try await open(ContainerRequest(schema, migrationPlan, [prepared(configuration, progress)]))
    }

    /// A configuration whose migration has a control and tells its progress.
    private nonisolated static func prepared(
        _ configuration: ModelConfiguration, _ progress: (@Sendable (MigrationProgress) -> Void)?
    ) -> ModelConfiguration {
        var configuration = configuration
        if configuration.options.migration.control == nil {
            configuration.options.migration.control = MigrationControl()
        }
        if let progress {
            configuration.options.migration.watchers.append { update in
                if let update { progress(update) }
            }
        }
        return configuration
    }

    private nonisolated static func open(_ request: ContainerRequest) async throws -> ModelContainer {
        let control = request.configuration.options.migration.control
        return try await withTaskCancellationHandler {
            try await withTaskExecutorPreference(SingleThread()) { try ModelContainer(request) }
        } onCancel: {
            control?.cancel()
        }
    }
}
