internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

/// Asks of a migration, before anything is written, what only the app can allow: to go back to a schema that the store
/// has left behind, and to drop values that no code has seen.
///
/// A plan says by its order which version follows which, so a way that it names is obeyed, back too. A container
/// without a plan says nothing of the kind: an older instance of a service, started once more after a deployment, would
/// bring the store back and drop the data of the newer one.
struct MigrationConsent {
    private let log: Log
    private let stored: StoredCatalog
    private let target: Schema
    private let options: MigrationOptions
    private let check: UnhandledDataCheck
    /// Whether an order of versions is known from elsewhere than the store.
    private let isOrdered: Bool
    /// Whether the store was under the schema asked for, and is under another one now, and the app has not allowed that.
    private let isLeftBehind: Bool
    /// Whether the app has allowed this migration back, and with it the loss of values.
    private let isAllowedBack: Bool

    /// - Parameters:
    ///   - log: The store.
    ///   - stored: The state in force.
    ///   - steps: The way to the schema asked for.
    ///   - migrator: What brings it there.
    /// - Throws: `StoreError` where the store's list of schemas cannot be read.
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

    /// Refuses a schema that is older than the one in force by its number.
    ///
    /// - Throws: `MigrationError.backward`.
    func checkVersion() throws(MigrationError) {
        if !isOrdered, !isAllowedBack, target.version < stored.schema.version { throw refusal([]) }
    }

    /// Whether values have to be counted; containers of the old schema cannot save while that is done.
    var readsValues: Bool {
        guard check.isNeeded else { return false }
        return switch options.unhandledData {
        case .byPlan: !isOrdered && !isAllowedBack
        case .drop: isLeftBehind
        case .fail: true
        }
    }

    /// Refuses a migration that drops values without consent; does nothing where none have to be counted.
    ///
    /// - Throws: `MigrationError`: `backward` for a schema that the store has left behind, else `unhandledData`, naming
    ///   entities and properties as the store has them, with the number of objects; `StoreError` where the store
    ///   cannot be read.
    /// - Complexity: As `UnhandledDataCheck.losses`.
    func checkValues() throws {
        guard readsValues else { return }
        let losses = try check.losses()
        guard let first = losses.first else { return }
        if isLeftBehind { throw refusal(losses) }
        throw MigrationError(
            .unhandledData,
            "The migration of \(log.storePath) would drop what no stage has seen: \(losses.text). Take it over in a stage, or allow it with unhandledData: .drop. The store is in its old state.",
            stage: first.stage, entity: first.entityName, property: first.propertyName)
    }

    private func refusal(_ losses: [UnhandledDataCheck.Loss]) -> MigrationError {
        let newer = stored.schema
        var versions = "was written by version \(newer.version) of its schema; this program knows \(target.version)"
        if newer.version == target.version {
            versions += ", an earlier schema (fingerprint \(target.fingerprint), in force is \(newer.fingerprint))"
        }
        let lost = losses.isEmpty ? "" : " Going back would drop \(losses.text)."
        return MigrationError(
            .backward,
            "The store \(log.storePath) \(versions).\(lost) Open it with the newer program; return to the state before the migration by `faultline rollback`, while its grace period lasts; give a migration plan that leads from \(newer.version) to \(target.version); or, to drop what only the newer schema has, set configuration.options.migration.allowsOlderSchema = true. The store is as it was.",
            stage: "\(newer.version) → \(target.version)", entity: losses.first?.entityName,
            property: losses.first?.propertyName)
    }
}
