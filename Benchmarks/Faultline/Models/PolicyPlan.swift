import Faultline

/// Splits the name of each employee.
final class NameSplitting: EntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        let made = try manager.destinationInstances(
            forEntityMappingName: mapping.name, sourceInstances: [sInstance])
        let parts = (sInstance["name"] as? String ?? "").split(separator: " ", maxSplits: 1)
        for employee in made {
            employee["firstName"] = parts.first.map(String.init) ?? ""
            employee["lastName"] = parts.count > 1 ? String(parts[1]) : ""
        }
    }
}

/// Splits whole names, by a policy with its three passes.
enum PolicyPlan: SchemaMigrationPlan {
    static let schemas: [any VersionedSchema.Type] = [WholeNames.self, SplitNames.self]
    static let stages: [MigrationStage] = [
        .mapped(
            fromVersion: WholeNames.self,
            toVersion: SplitNames.self,
            MappingModel(EntityMapping(from: "Employee", to: "Employee", policy: NameSplitting.self))
        )
    ]
}

/// Splits whole names, by a mapping with two computed attributes.
enum MappingPlan: SchemaMigrationPlan {
    static let schemas: [any VersionedSchema.Type] = [WholeNames.self, SplitNames.self]
    static let stages: [MigrationStage] = [
        .mapped(
            fromVersion: WholeNames.self,
            toVersion: SplitNames.self,
            MappingModel(
                EntityMapping(
                    from: "Employee", to: "Employee",
                    attributes: [PropertyMapping("firstName", part(0)), PropertyMapping("lastName", part(1))]))
        )
    ]

    private static func part(_ place: Int) -> ValueExpression {
        .computed { employee, _ in
            let parts = (employee["name"] as? String ?? "").split(separator: " ", maxSplits: 1)
            return parts.count > place ? String(parts[place]) : ""
        }
    }
}
