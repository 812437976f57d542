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

/// Two entities, or two properties, that take each other's names.
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
        // The store is as it was.
        try stores.use(Exchange1.self) { _, context in
            try #expect(context.all(Exchange1.Cat.self).map(\.name) == ["cat"])
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
