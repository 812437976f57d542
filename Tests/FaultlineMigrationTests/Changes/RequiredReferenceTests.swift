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

/// A to-one that becomes required: rows are looked at before the switch.
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

    /// Three dogs: one has a keeper; the second none, or one that is gone; the third one if asked for.
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
    func `an object that refers to nothing, or to what is gone, is named, and the old state stays`(
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

    @Test func `a stage that writes only what is referred to anew is refused`() throws {
        let stores = Stores()
        try makeDogs(stores, losing: true)
        let error = #expect(throws: MigrationError.self) { try stores.open(Kennel2.self, KeeperPlan.self) }
        #expect(error?.code == .badPlan && error?.stage == "1.0.0 → 2.0.0" && error?.entityName == "Dog")
    }
}
