package import FaultlineModel
package import FaultlineStore

/// A migration that was stopped, and is recorded in its store.
package struct UnfinishedMigration {
    /// The target schema of the current stage.
    package let target: Schema
    private let source: Schema
    private let sourceMap: EntityMap
    private let record: MigrationRecord

    /// The unfinished migration of a store; nil if there is none, or only an interrupted dry run.
    package init?(_ catalog: StoredCatalog) {
        guard let record = catalog.migration, !record.isNeverResumed else { return nil }
        target = record.targetSchema
        source = catalog.schema
        sourceMap = catalog.map
        self.record = record
    }

    /// Whether the schema alone is enough to resume it: no class, no closure, no policy.
    package var isWithoutCode: Bool { goesOn(to: target, by: nil) }

    /// Whether opening the store under a schema with a plan or a mapping resumes it, instead of dropping it.
    package func goesOn(
        to schema: Schema, by plan: (any SchemaMigrationPlan.Type)?, mapping: MappingModel? = nil
    ) -> Bool {
        guard let steps = try? MigrationSteps(from: source, sourceMap, to: schema, plan: plan, mapping: mapping),
            steps.digest == record.planDigest
        else { return false }
        // A stage that is not finished begins again by itself.
        return steps.firstChanged(since: record).map { $0 >= record.stage } ?? true
    }
}
