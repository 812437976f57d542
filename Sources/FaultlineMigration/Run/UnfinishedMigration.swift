package import FaultlineModel
package import FaultlineStore

/// A migration that was stopped, and is written down in its store.
package struct UnfinishedMigration {
    /// The schema that the stage under way leads to.
    package let target: Schema
    private let source: Schema
    private let sourceMap: EntityMap
    private let planDigest: String

    /// The one that a store has under way; nil if there is none, or nothing but a dry run that was cut short.
    package init?(_ catalog: StoredCatalog) {
        guard let record = catalog.migration, !record.isPreview else { return nil }
        target = record.targetSchema
        source = catalog.schema
        sourceMap = catalog.map
        planDigest = record.planDigest
    }

    /// Whether nothing but that schema is needed to go on: no class, no closure, no policy.
    package var isWithoutCode: Bool { goesOn(to: target, by: nil) }

    /// Whether it goes on when the store is opened under a schema by a plan, or by a mapping, and is not given up.
    package func goesOn(
        to schema: Schema, by plan: (any SchemaMigrationPlan.Type)?, mapping: MappingModel? = nil
    ) -> Bool {
        (try? MigrationSteps(from: source, sourceMap, to: schema, plan: plan, mapping: mapping))?.digest == planDigest
    }
}
