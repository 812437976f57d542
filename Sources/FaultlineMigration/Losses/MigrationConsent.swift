internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

/// Checks, before anything is written, the steps that only the app can allow: a return to an earlier schema of the
/// store, and the loss of values that no code has seen.
///
/// A plan orders its versions, so a way that it names is followed, back too. A container without a plan has no such
/// order: an older instance of a service, started again after a deployment, would bring the store back and drop the
/// data of the newer one.
struct MigrationConsent {
    private let log: Log
    private let stored: StoredCatalog
    private let target: Schema
    private let options: MigrationOptions
    private let check: UnhandledDataCheck
    /// Whether the order of versions is known from a source other than the store.
    private let isOrdered: Bool
    /// Whether the store had the requested schema earlier, has another one now, and the app has not allowed the return.
    private let isLeftBehind: Bool
    /// Whether the app has allowed this return, including the loss of values.
    private let isAllowedBack: Bool

    /// - Parameters:
    ///   - log: The store.
    ///   - stored: The current state.
    ///   - steps: The way to the requested schema.
    ///   - migrator: Migrates the store.
    /// - Throws: `StoreError` if the store's list of schemas cannot be read.
    init(_ log: Log, _ stored: StoredCatalog, _ steps: MigrationSteps, _ migrator: Migrator) throws {
        self.log = log
        self.stored = stored
        target = migrator.schema
        options = migrator.options
        check = UnhandledDataCheck(log: log, stored: stored, steps: steps.all)
        isOrdered = migrator.plan != nil || steps.buildsIndexesOnly
        let hasLeft =
            try !isOrdered && SchemaLineage.read(log.snapshot(), under: stored.schema).lineage.hasLeft(target)
        isLeftBehind = hasLeft && !options.allowsOlderSchema
        isAllowedBack = options.allowsOlderSchema && (hasLeft || target.version < stored.schema.version)
    }

    /// Refuses a schema with a lower version number than the current one.
    ///
    /// - Throws: `MigrationError.backward`.
    func checkVersion() throws(MigrationError) {
        if !isOrdered, !isAllowedBack, target.version < stored.schema.version { throw refusal([]) }
    }

    /// Whether values must be counted; containers of the old schema cannot save during the count.
    var readsValues: Bool {
        guard check.isNeeded else { return false }
        return switch options.unhandledData {
        case .byPlan: !isOrdered && !isAllowedBack
        case .drop: isLeftBehind
        case .fail: true
        }
    }

    /// Refuses a migration that drops values without consent; does nothing if none must be counted.
    ///
    /// - Throws: `MigrationError`: `backward` for an earlier schema of the store, else `unhandledData`, with the stored
    ///   names of entities and properties, and the number of objects; `StoreError` if the store cannot be read.
    /// - Complexity: As `UnhandledDataCheck.losses`.
    func checkValues() throws {
        guard readsValues else { return }
        let losses = try check.losses()
        guard let first = losses.first else { return }
        if isLeftBehind { throw refusal(losses) }
        throw MigrationError(
            .unhandledData,
            "The migration of \(log.storePath) would drop what no stage has seen: \(losses.text). Take it over in a stage, or allow it with unhandledData: .drop. The store is in its old state.",
            stage: first.stage, entity: first.entityName, property: first.propertyName
        ).comparing(SchemaMismatch(stored: stored.schema, requested: target))
    }

    private func refusal(_ losses: [UnhandledDataCheck.Loss]) -> MigrationError {
        let newer = stored.schema
        var versions = "was written by version \(newer.version) of its schema; this program knows \(target.version)"
        if newer.version == target.version {
            versions += ", an earlier schema"
        }
        let lost = losses.isEmpty ? "" : " Going back would drop \(losses.text)."
        return MigrationError(
            .backward,
            "The store \(log.storePath) \(versions).\(lost) Open it with the newer program; return to the state before the migration by `faultline rollback`, while its grace period lasts; give a migration plan that leads from \(newer.version) to \(target.version); or, to drop what only the newer schema has, set configuration.options.migration.allowsOlderSchema = true. The store is as it was.",
            stage: "\(newer.version) → \(target.version)", entity: losses.first?.entityName,
            property: losses.first?.propertyName
        ).comparing(SchemaMismatch(stored: newer, requested: target))
    }
}
