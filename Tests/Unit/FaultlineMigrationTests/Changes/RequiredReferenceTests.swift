import Faultline
import FaultlineMigration
import Testing

enum Kennel1: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Dog.self, Keeper.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    @Model final class Dog {
        var name: String
        @Relationship(deleteRule: .noAction, inverse: nil) var keeper: Keeper?
        init(name: String) { self.name = name }
    }

    @Model final class Keeper {
        var name: String
        init(name: String) { self.name = name }
    }
}

/// The schema before dogs had keepers.
enum Kennel0: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Dog.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(0, 1, 0) }

    @Model final class Dog {
        var name: String
        init(name: String) { self.name = name }
    }
}

/// Every dog has a keeper.
enum Kennel2: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Dog.self, Keeper.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model final class Dog {
        var name: String
        @Relationship(deleteRule: .noAction, inverse: nil) var keeper: Keeper
        init(name: String, keeper: Keeper) {
            self.name = name
            self.keeper = keeper
        }
    }

    @Model final class Keeper {
        var name: String
        init(name: String) { self.name = name }
    }
}

/// A to-one that becomes required: the migration checks the rows before the switch.
@Suite struct RequiredReferenceTests {
    private enum FillingPlan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [Kennel1.self, Kennel2.self] }
        static var stages: [MigrationStage] {
            [
                .custom(
                    fromVersion: Kennel1.self, toVersion: Kennel2.self,
                    willMigrate: { context in
                        let keeper = Kennel1.Keeper(name: "new")
                        context.insert(keeper)
                        for dog in try context.all(Kennel1.Dog.self) where dog.keeper == nil { dog.keeper = keeper }
                        try context.save()
                    }, didMigrate: nil)
            ]
        }
    }

    private enum LatePlan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [Kennel1.self, Kennel2.self] }
        static var stages: [MigrationStage] {
            [.custom(fromVersion: Kennel1.self, toVersion: Kennel2.self, willMigrate: nil, didMigrate: { _ in })]
        }
    }

    private enum KeeperPlan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [Kennel1.self, Kennel2.self] }
        static var stages: [MigrationStage] {
            [
                .streamed(
                    fromVersion: Kennel1.self, toVersion: Kennel2.self,
                    StreamedEntity(Kennel1.Keeper.self) { old, output in
                        try output.insert(Kennel2.Keeper(name: old.name))
                    })
            ]
        }
    }

    private enum LateKeeperPlan: SchemaMigrationPlan {
        @TaskLocal static var calls = Box(0)
        static var schemas: [any VersionedSchema.Type] { [Kennel0.self, Kennel1.self, Kennel2.self] }
        static var stages: [MigrationStage] {
            [
                .custom(
                    fromVersion: Kennel0.self, toVersion: Kennel1.self, willMigrate: { _ in calls.value += 1 },
                    didMigrate: nil)
            ] + KeeperPlan.stages
        }
    }

    /// Three dogs: the first has a keeper, the second has none or a deleted one, and the third has one if requested.
    private func makeDogs(_ stores: Stores, losing: Bool) throws {
        try stores.use(Kennel1.self) { _, context in
            let keepers = ["kept", "gone"].map { Kennel1.Keeper(name: $0) }
            keepers.forEach { context.insert($0) }
            for (place, keeper) in [keepers[0], losing ? keepers[1] : nil].enumerated() {
                let dog = Kennel1.Dog(name: "d\(place)")
                context.insert(dog)
                dog.keeper = keeper
            }
            try context.save()
            context.delete(keepers[1])
            try context.save()
        }
    }

    @Test(arguments: [false, true], [false, true])
    func `an object that refers to nothing, or to a deleted object, is named, and the old state stays`(
        losing: Bool, isLate: Bool
    ) throws {
        let stores = Stores()
        try makeDogs(stores, losing: losing)
        let error = #expect(throws: MigrationError.self) {
            try stores.open(Kennel2.self, isLate ? LatePlan.self : nil)
        }
        #expect(error?.code == .missingReference)
        #expect(error?.message.contains("Object 2 of Dog") == true)
        #expect(error?.entityName == "Dog" && error?.propertyName == "keeper")
        #expect(try stores.findings(Kennel1.self) == [])
        try stores.use(Kennel1.self) { container, context in
            #expect(container.migrationReport.versions.isEmpty)
            let dogs = try context.all(Kennel1.Dog.self).sorted { $0.name < $1.name }
            dogs[1].keeper = dogs[0].keeper
            try context.save()
        }
        try stores.use(Kennel2.self, isLate ? LatePlan.self : nil) { _, context in
            let names = try context.all(Kennel2.Dog.self).map(\.keeper.name)
            #expect(names == ["kept", "kept"])
        }
    }

    @Test func `willMigrate may give every object one`() throws {
        let stores = Stores()
        try makeDogs(stores, losing: true)
        try stores.use(Kennel2.self, FillingPlan.self) { _, context in
            let dogs = try context.all(Kennel2.Dog.self).sorted { $0.name < $1.name }
            #expect(dogs.map(\.keeper.name) == ["kept", "new"])
        }
        #expect(try stores.findings(Kennel2.self) == [])
    }

    @Test func `a stage that writes only the referred objects again is refused`() throws {
        let stores = Stores()
        try makeDogs(stores, losing: true)
        let error = #expect(throws: MigrationError.self) { try stores.open(Kennel2.self, KeeperPlan.self) }
        #expect(error?.code == .badPlan && error?.stage == "1.0.0 → 2.0.0" && error?.entityName == "Dog")
    }

    @Test(arguments: [false, true]) func `a later stage is refused before the first one begins`(isDryRun: Bool) throws {
        let stores = Stores()
        try stores.use(Kennel0.self) { _, context in
            context.insert(Kennel0.Dog(name: "d"))
            try context.save()
        }
        let rows = try stores.rows()
        let calls = Box(0)
        let error = LateKeeperPlan.$calls.withValue(calls) {
            #expect(throws: MigrationError.self) {
                if isDryRun {
                    _ = try stores.preview(Kennel2.self, LateKeeperPlan.self)
                } else {
                    _ = try stores.open(Kennel2.self, LateKeeperPlan.self)
                }
            }
        }
        #expect(error?.code == .badPlan && error?.stage == "1.0.0 → 2.0.0")
        #expect(calls.value == 0)
        #expect(try stores.rows() == rows)
    }

    @Test func `a dry run names every object that refers to nothing`() throws {
        let stores = Stores()
        try makeDogs(stores, losing: true)
        try stores.use(Kennel1.self) { _, context in
            context.insert(Kennel1.Dog(name: "d2"))
            try context.save()
        }
        let report = try stores.preview(Kennel2.self)
        #expect(report.failures.map(\.rule) == [.required, .required] && !report.isIncomplete)
        #expect(report.failures.map(\.object) == [2, 3])
        #expect(report.failures.allSatisfy { $0.entity == "Dog" && $0.property == "keeper" })
        #expect(try stores.preview(Kennel2.self, failureLimit: 1).isIncomplete)
        let late = try stores.preview(Kennel2.self, LatePlan.self)
        #expect(late.failures.map(\.rule) == [.required] && late.isIncomplete)
        #expect(try stores.findings(Kennel1.self) == [])
    }
}
