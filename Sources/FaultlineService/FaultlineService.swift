// `import FaultlineService` alone gives all names of `import Faultline` too.
@_exported public import Faultline

#if !Service
/// A store as a service of a `ServiceGroup`; needs the package trait `Service`.
@available(
    *, unavailable,
    message:
        "FaultlineService needs the package trait 'Service': .package(url: \"…/faultline\", …, traits: [\"Service\"])"
)
public final class StoreService: Sendable {
    /// Needs the package trait `Service`.
    public init(
        for schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        configuration: ModelConfiguration = ModelConfiguration(), logger: Any? = nil
    ) {}

    /// Needs the package trait `Service`.
    public init(
        for types: any PersistentModel.Type..., migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        configuration: ModelConfiguration = ModelConfiguration(), logger: Any? = nil
    ) {}
}

extension ModelConfiguration {
    /// Needs the package trait `Service`.
    @available(
        *, unavailable,
        message:
            "FaultlineService needs the package trait 'Service': .package(url: \"…/faultline\", …, traits: [\"Service\"])"
    )
    public init(config: Any, options: StoreOptions = StoreOptions()) { self.init() }
}
#endif
