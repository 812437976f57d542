import Faultline
import FaultlineMigration
import Testing

struct MigrationPlanTests {
    private enum ShortPlan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [People2.self, People3.self] }
        static var stages: [MigrationStage] { [.lightweight(fromVersion: People2.self, toVersion: People3.self)] }
    }

    private enum TwinPlan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [Pets1.self, Pets1.self, Pets2.self] }
        static var stages: [MigrationStage] { [] }
    }

    private enum GapPlan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [People1.self, People2.self, People3.self] }
        static var stages: [MigrationStage] { [.lightweight(fromVersion: People1.self, toVersion: People2.self)] }
    }

    private enum CrossedPlan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [People1.self, People2.self, People3.self] }
        static var stages: [MigrationStage] {
            [
                .lightweight(fromVersion: People2.self, toVersion: People3.self),
                .lightweight(fromVersion: People1.self, toVersion: People2.self),
            ]
        }
    }

    private enum SkippingPlan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [People1.self, People2.self, People3.self] }
        static var stages: [MigrationStage] {
            [
                .lightweight(fromVersion: People1.self, toVersion: People3.self),
                .lightweight(fromVersion: People2.self, toVersion: People3.self),
            ]
        }
    }

    private enum StrangePlan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [People1.self, People2.self] }
        static var stages: [MigrationStage] { [.lightweight(fromVersion: People2.self, toVersion: People3.self)] }
    }

    private enum TwicePlan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [People1.self, People2.self] }
        static var stages: [MigrationStage] {
            [
                .lightweight(fromVersion: People1.self, toVersion: People2.self),
                .lightweight(fromVersion: People1.self, toVersion: People2.self),
            ]
        }
    }

    private enum BackPlan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [People1.self, People2.self] }
        static var stages: [MigrationStage] { [.lightweight(fromVersion: People2.self, toVersion: People1.self)] }
    }

    private enum Later: VersionedSchema {
        static var models: [any PersistentModel.Type] { Pets2.models }
        static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 1) }
    }

    private enum LaterPlan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [Later.self] }
        static var stages: [MigrationStage] { [] }
    }

    private enum StreamedPeoplePlan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [People1.self, People2.self] }
        static var stages: [MigrationStage] { [.lightweight(fromVersion: People1.self, toVersion: People2.self)] }
    }

    /// The first version as a lock file would record it.
    private static let first = DroppedVersion(
        Schema.Version(1, 0, 0), fingerprint: "\(Schema(versionedSchema: People1.self).fingerprint)", lastRelease: "2.4"
    )

    private enum LatePlan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [People2.self, People3.self] }
        static var stages: [MigrationStage] { [.lightweight(fromVersion: People2.self, toVersion: People3.self)] }
        static var droppedVersions: [DroppedVersion] { [first] }
    }

    private enum ReturningPlan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [People2.self, People1.self] }
        static var stages: [MigrationStage] { [.lightweight(fromVersion: People2.self, toVersion: People1.self)] }
        static var droppedVersions: [DroppedVersion] { [first] }
    }

    private enum UnknownEntityPlan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [People1.self, People2.self] }
        static var stages: [MigrationStage] {
            [.streamed(fromVersion: People1.self, toVersion: People2.self, StreamedEntity(Pets1.Pet.self) { _, _ in })]
        }
    }

    /// `age` becomes text, and `height` comes without a default.
    enum Hard: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Person.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(9, 0, 0) }

        @Model final class Person {
            var name: String
            var age: String
            var height: Double
            init(name: String) {
                self.name = name
                age = ""
                height = 0
            }
        }
    }

    private func refusal(
        _ version: any VersionedSchema.Type, _ plan: (any SchemaMigrationPlan.Type)?, from old: any VersionedSchema.Type
    ) throws -> MigrationError? {
        let stores = Stores()
        try stores.use(old) { _, _ in }
        let error = #expect(throws: MigrationError.self) { try stores.open(version, plan) }
        // The store is in its old state.
        try stores.use(old) { container, _ in #expect(container.migrationReport.versions.isEmpty) }
        return error
    }

    @Test func `S58: a store of a version that is not the plan's is refused`() throws {
        #expect(try refusal(People3.self, ShortPlan.self, from: Pets1.self)?.code == .unknownVersion)
    }

    @Test func `S59: a store that is newer than the container's schema is refused`() throws {
        #expect(try refusal(People2.self, ShortPlan.self, from: People3.self)?.code == .backward)
    }

    @Test func `S60: versions that are alike are refused`() throws {
        let error = try refusal(Pets2.self, TwinPlan.self, from: Pets1.self)
        #expect(error?.code == .twinVersions)
        #expect(error?.message.contains("same schema") == true)
    }

    private enum HardPlan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [People1.self, Hard.self] }
        static var stages: [MigrationStage] {
            [.custom(fromVersion: People1.self, toVersion: Hard.self, willMigrate: { _ in }, didMigrate: { _ in })]
        }
    }

    @Test func `S67: a custom stage does not make up for a default that is missing`() throws {
        let error = try refusal(Hard.self, HardPlan.self, from: People1.self)
        #expect(error?.code == .notLightweight)
        #expect(error?.message.contains("height") == true)
    }

    /// The plan's author makes this mistake, and should not need a user's old store to discover it.
    @Test func `a plan that cannot be is refused with the first store`() {
        func code(_ version: any VersionedSchema.Type, _ plan: any SchemaMigrationPlan.Type) -> MigrationError.Code? {
            #expect(throws: MigrationError.self) { try Stores().open(version, plan) }?.code
        }
        #expect(code(Pets2.self, TwinPlan.self) == .twinVersions)
        #expect(code(Hard.self, HardPlan.self) == .notLightweight)
        #expect(code(People3.self, GapPlan.self) == .skippedVersion)
        #expect(code(People3.self, CrossedPlan.self) == .stagesOutOfOrder)
    }

    @Test func refusesAPlanThatLacksAStage() throws {
        let error = try refusal(People3.self, GapPlan.self, from: People1.self)
        #expect(error?.code == .skippedVersion && error?.stage == "2.0.0 → 3.0.0")
    }

    @Test func refusesStagesInAnotherOrderThanVersions() throws {
        let error = try refusal(People3.self, CrossedPlan.self, from: People1.self)
        #expect(error?.code == .stagesOutOfOrder && error?.stage == "2.0.0 → 3.0.0")
    }

    @Test func refusesAStageThatLeavesAVersionOut() throws {
        let error = try refusal(People3.self, SkippingPlan.self, from: People1.self)
        #expect(error?.code == .skippedVersion && error?.stage == "1.0.0 → 3.0.0")
        #expect(error?.message.contains("leaves out 2.0.0") == true)
    }

    @Test func refusesAStageBetweenVersionsThatThePlanDoesNotList() throws {
        let error = try refusal(People2.self, StrangePlan.self, from: People1.self)
        #expect(error?.code == .unknownStage && error?.stage == "2.0.0 → 3.0.0")
    }

    @Test func refusesAStageThatIsThereTwiceAndOneThatLeadsBack() throws {
        for plan in [TwicePlan.self, BackPlan.self] as [any SchemaMigrationPlan.Type] {
            let error = try refusal(People2.self, plan, from: People1.self)
            #expect(error?.code == .stagesOutOfOrder)
        }
    }

    @Test func `M31 (scout PR#514): a store that a newer release has migrated is refused`() throws {
        let stores = Stores()
        try stores.use(Pets2.self, LaterPlan.self) { _, _ in }
        let error = #expect(throws: MigrationError.self) { try stores.open(People2.self, StreamedPeoplePlan.self) }
        #expect(error?.code == .backward)
        #expect(error?.message.contains("2.0.1") == true)
    }

    @Test func `M25 (conbench#283): a store of a dropped version is refused with the release to use`() throws {
        let error = try refusal(People3.self, LatePlan.self, from: People1.self)
        #expect(error?.code == .droppedVersion)
        #expect(error?.message.contains("version 1.0.0") == true && error?.message.contains("release 2.4") == true)

        let stores = Stores()
        try stores.use(People2.self) { _, _ in }
        try stores.use(People3.self, LatePlan.self) { container, _ in
            #expect(container.migrationReport.versions.count == 2)
        }
    }

    @Test func refusesAVersionThatLooksLikeADroppedOne() throws {
        let stores = Stores()
        try stores.use(People1.self) { _, _ in }
        for version in [People1.self, People2.self] as [any VersionedSchema.Type] {
            let error = #expect(throws: MigrationError.self) { try stores.open(version, ReturningPlan.self) }
            #expect(error?.code == (version == People1.self ? .twinVersions : .droppedVersion))
        }
        try stores.use(People2.self) { _, _ in }
        let error = #expect(throws: MigrationError.self) { try stores.open(People1.self, ReturningPlan.self) }
        #expect(error?.code == .twinVersions)
    }

    @Test func refusesAStageOverAnEntityThatIsNotThere() throws {
        #expect(try refusal(People2.self, UnknownEntityPlan.self, from: People1.self)?.code == .badPlan)
    }

    @Test func `S57, S67: a change that is not lightweight is refused, with the reason`() throws {
        let error = try refusal(Hard.self, nil, from: People1.self)
        #expect(error?.code == .notLightweight)
        #expect(error?.entityName == "Person" && error?.propertyName == "age")
        #expect(error?.message.contains("age") == true)
        #expect(error?.message.contains("height") == true)
    }
}
