import Faultline
import FaultlineMigration
import Testing

enum Exchange1: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Cat.self, Dog.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    @Model final class Cat {
        var name: String
        var left: String = ""
        var right: String = ""
        init(name: String, left: String = "", right: String = "") {
            self.name = name
            self.left = left
            self.right = right
        }
    }

    @Model final class Dog {
        var name: String
        var left: String = ""
        var right: String = ""
        init(name: String) { self.name = name }
    }
}

enum Exchange2: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Cat.self, Dog.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model(originalName: "Dog") final class Cat {
        var name: String
        var left: String = ""
        var right: String = ""
        init(name: String) { self.name = name }
    }

    @Model(originalName: "Cat") final class Dog {
        var name: String
        var left: String = ""
        var right: String = ""
        init(name: String) { self.name = name }
    }
}

/// The same, with another fingerprint.
enum Exchange3: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Cat.self, Dog.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model(originalName: "Dog") final class Cat {
        @Attribute(hashModifier: "exchanged") var name: String
        var left: String = ""
        var right: String = ""
        init(name: String) { self.name = name }
    }

    @Model(originalName: "Cat") final class Dog {
        @Attribute(hashModifier: "exchanged") var name: String
        var left: String = ""
        var right: String = ""
        init(name: String) { self.name = name }
    }
}

/// The third version without its original names.
enum Exchange4: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Cat.self, Dog.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model final class Cat {
        @Attribute(hashModifier: "exchanged") var name: String
        var left: String = ""
        var right: String = ""
        init(name: String) { self.name = name }
    }

    @Model final class Dog {
        @Attribute(hashModifier: "exchanged") var name: String
        var left: String = ""
        var right: String = ""
        init(name: String) { self.name = name }
    }
}

/// One entity takes the name of another one, which is new.
enum ShiftedEntity: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Exchange1.Cat.self, Dog.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model(originalName: "Cat") final class Dog {
        var name: String
        var left: String = ""
        var right: String = ""
        init(name: String) { self.name = name }
    }
}

enum ExchangedProperties: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Cat.self, Exchange1.Dog.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model final class Cat {
        var name: String
        @Attribute(originalName: "right") var left: String = ""
        @Attribute(originalName: "left") var right: String = ""
        init(name: String) { self.name = name }
    }
}

/// Each property takes the name of the one before it; the first one is new, and the last one is removed.
enum ShiftedProperties: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Cat.self, Exchange1.Dog.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model final class Cat {
        var left: String = ""
        @Attribute(originalName: "left") var name: String
        @Attribute(originalName: "name") var right: String = ""
        init(name: String) { self.name = name }
    }
}

/// One property takes the name of another one, which is new.
enum ShiftedProperty: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Cat.self, Exchange1.Dog.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model final class Cat {
        var name: String
        var left: String = ""
        @Attribute(originalName: "left") var right: String = ""
        init(name: String) { self.name = name }
    }
}

/// Entities and properties that take each other's names, or pass them on.
struct ExchangedNameTests {
    private let stores = Stores()

    init() throws {
        try stores.use(Exchange1.self) { _, context in
            context.insert(Exchange1.Cat(name: "cat", left: "l", right: "r"))
            context.insert(Exchange1.Dog(name: "dog"))
            try context.save()
        }
    }

    private enum LatePlan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [Exchange2.self] }
        static var stages: [MigrationStage] { [] }
    }

    @Test(arguments: [true, false]) func `are refused if the schemas have one fingerprint`(hasPlan: Bool) throws {
        let error = #expect(throws: MigrationError.self) {
            try stores.open(Exchange2.self, hasPlan ? LatePlan.self : nil)
        }
        #expect(error?.code == .twinVersions && error?.entityName == "Cat" && error?.propertyName == nil)
        #expect(error?.message.contains("hashModifier") == true)
        let other = #expect(throws: MigrationError.self) { try stores.open(ExchangedProperties.self) }
        #expect(other?.code == .twinVersions && other?.entityName == "Cat" && other?.propertyName == "left")
        try checkOld()
    }

    /// Checks that the store is as it was.
    private func checkOld() throws {
        try stores.use(Exchange1.self) { _, context in
            try #expect(context.all(Exchange1.Cat.self).map(\.name) == ["cat"])
            try #expect(context.all(Exchange1.Cat.self).map(\.left) == ["l"])
        }
    }

    @Test func `are refused if they are passed on, and the schemas have one fingerprint`() throws {
        let versions: [(any VersionedSchema.Type, entity: String, property: String?, old: String)] = [
            (ShiftedProperties.self, "Cat", "name", "left"), (ShiftedProperty.self, "Cat", "right", "left"),
            (ShiftedEntity.self, "Dog", nil, "Cat"),
        ]
        for (version, entity, property, old) in versions {
            let error = #expect(throws: MigrationError.self) { try stores.open(version) }
            #expect(error?.code == .twinVersions && error?.entityName == entity && error?.propertyName == property)
            #expect(error?.message.contains("was named \(old),") == true, "\(String(describing: error))")
        }
        try checkOld()
    }

    @Test func `need no original names any more when they were exchanged`() throws {
        try stores.use(Exchange3.self) { _, _ in }
        for version: any VersionedSchema.Type in [Exchange4.self, Exchange4.self] {
            try stores.use(version) { container, context in
                #expect(container.migrationReport.versions.isEmpty)
                try #expect(context.all(Exchange4.Cat.self).map(\.name) == ["dog"])
            }
        }
    }

    @Test func `are exchanged once if the fingerprints differ`() throws {
        for _ in 0..<2 {
            try stores.use(Exchange3.self) { _, context in
                #expect(try context.all(Exchange3.Cat.self).map(\.name) == ["dog"])
                let dogs = try context.all(Exchange3.Dog.self)
                #expect(dogs.map(\.name) == ["cat"] && dogs.map(\.left) == ["l"])
            }
        }
    }
}
