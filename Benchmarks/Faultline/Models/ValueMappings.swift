import Faultline

/// Renames the level and adds a bonus, by a mapping without code: each value is one of the old object, or a constant.
enum ValueMappingPlan: SchemaMigrationPlan {
    static let schemas: [any VersionedSchema.Type] = [WholeNames.self, GradedEmployees.self]
    static let stages: [MigrationStage] = [grading(by: nil)]

    /// A mapped stage with a policy, or without one.
    static func grading(by policy: EntityMigrationPolicy.Type?) -> MigrationStage {
        .mapped(
            fromVersion: WholeNames.self,
            toVersion: GradedEmployees.self,
            MappingModel(
                EntityMapping(
                    from: "Employee", to: "Employee",
                    attributes: [
                        PropertyMapping("grade", .source("level")), PropertyMapping("bonus", .constant(0.0)),
                    ],
                    policy: policy))
        )
    }
}

/// The same mapping by a policy that overrides nothing.
enum PlainPolicyPlan: SchemaMigrationPlan {
    static let schemas: [any VersionedSchema.Type] = [WholeNames.self, GradedEmployees.self]
    static let stages: [MigrationStage] = [ValueMappingPlan.grading(by: EntityMigrationPolicy.self)]
}

/// Makes each employee with its name in two parts, and sets all attributes by key.
final class EmployeeMaking: EntityMigrationPolicy {
    private static let keys = ["email", "salary", "hireDate", "active", "level", "notes"]

    override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        let employee = try manager.destinationContext.insertNewObject(forEntityName: "Employee")
        for key in Self.keys { employee[key] = sInstance[key] }
        let parts = (sInstance["name"] as? String ?? "").split(separator: " ", maxSplits: 1)
        employee["firstName"] = parts.first.map(String.init) ?? ""
        employee["lastName"] = parts.count > 1 ? String(parts[1]) : ""
        try manager.associate(sourceInstance: sInstance, withDestinationInstance: employee, for: mapping)
    }
}

/// Splits whole names, by a policy that makes the new objects itself.
enum MakingPlan: SchemaMigrationPlan {
    static let schemas: [any VersionedSchema.Type] = [WholeNames.self, SplitNames.self]
    static let stages: [MigrationStage] = [
        .mapped(
            fromVersion: WholeNames.self,
            toVersion: SplitNames.self,
            MappingModel(EntityMapping(from: "Employee", to: "Employee", policy: EmployeeMaking.self))
        )
    ]
}
