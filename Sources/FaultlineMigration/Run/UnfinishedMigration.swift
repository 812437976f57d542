package import FaultlineModel
package import FaultlineStore

/// A migration that was stopped, and is written down in its store.
package struct UnfinishedMigration {
    /// The schema that the stage under way leads to.
    package let target: Schema
    /// Whether nothing but that schema is needed to go on: no class, no closure, no policy.
    package let isWithoutCode: Bool

    /// The one that a store has under way; nil if there is none.
    package init?(_ catalog: StoredCatalog) {
        guard let record = catalog.migration else { return nil }
        target = record.targetSchema
        let steps = try? MigrationSteps(from: catalog.schema, to: record.targetSchema, plan: nil)
        isWithoutCode = steps?.digest == record.planDigest
    }
}
