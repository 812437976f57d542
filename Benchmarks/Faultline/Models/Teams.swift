import Faultline

/// One team for each level, in place of its employees.
enum Teams: VersionedSchema {
    static let models: [any PersistentModel.Type] = [Teams.Team.self]
    static let versionIdentifier = Schema.Version(2, 0, 0)

    @Model
    final class Team {
        @Attribute(.unique) var level: Int
        var salaries: Double
        var count: Int

        init(level: Int, salaries: Double, count: Int) {
            self.level = level
            self.salaries = salaries
            self.count = count
        }
    }
}

/// Adds each employee to the team of its level.
final class TeamMerging: EntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        let level = sInstance["level"] as? Int ?? 0
        let team: ManagedObject
        if let known = manager.userInfo[level] as? ManagedObject {
            team = known
        } else {
            team = try manager.destinationContext.insertNewObject(forEntityName: "Team")
            team["level"] = level
            team["salaries"] = 0.0
            team["count"] = 0
            manager.userInfo[level] = team
        }
        team["salaries"] = (team["salaries"] as? Double ?? 0) + (sInstance["salary"] as? Double ?? 0)
        team["count"] = (team["count"] as? Int ?? 0) + 1
        try manager.associate(sourceInstance: sInstance, withDestinationInstance: team, for: mapping)
    }
}

/// Merges employees into teams, by a policy.
enum TeamPlan: SchemaMigrationPlan {
    static let schemas: [any VersionedSchema.Type] = [WholeNames.self, Teams.self]
    static let stages: [MigrationStage] = [
        .mapped(
            fromVersion: WholeNames.self,
            toVersion: Teams.self,
            MappingModel(
                EntityMapping(from: "Employee", to: "Team", policy: TeamMerging.self),
                EntityMapping(from: "Department", to: nil))
        )
    ]
}
