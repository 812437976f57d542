import Faultline

enum People1: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Person.self, Team.self, Badge.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    @Model final class Person {
        var name: String
        var nickname: String?
        var age: Int
        var photo: Data?
        var team: Team?
        init(name: String, age: Int) {
            self.name = name
            self.age = age
        }
    }

    @Model final class Team {
        var title: String
        @Relationship(inverse: \Person.team) var members: [Person] = []
        init(title: String) { self.title = title }
    }

    @Model final class Badge {
        var code: String
        var picture: Data?
        init(code: String) { self.code = code }
    }
}

/// Renames, adds and removes properties, and makes optional ones required and the reverse.
enum People2: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Person.self, Team.self, Office.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model final class Person {
        @Attribute(originalName: "name") var fullName: String
        var nickname: String = "none"
        var age: Int?
        var city: String = "Rome"
        var rank: Int = 7
        var note: String?
        var team: Team?
        init(fullName: String) { self.fullName = fullName }
    }

    @Model final class Team {
        var title: String
        @Relationship(inverse: \Person.team) var members: [Person] = []
        init(title: String) { self.title = title }
    }

    @Model final class Office {
        var street: String
        init(street: String) { self.street = street }
    }
}

enum People3: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Person.self, Team.self, Office.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(3, 0, 0) }

    @Model final class Person {
        @Attribute(originalName: "fullName") var title: String
        var nickname: String?
        var age: Int = 1
        var city: String = "Rome"
        var rank: Int = 7
        var note: String?
        var team: Team?
        init(title: String) { self.title = title }
    }

    @Model final class Team {
        var title: String
        @Relationship(inverse: \Person.team) var members: [Person] = []
        init(title: String) { self.title = title }
    }

    @Model final class Office {
        var street: String
        init(street: String) { self.street = street }
    }
}

/// Makes the titles of teams and of persons unique.
enum People4: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Person.self, Team.self, Office.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(4, 0, 0) }

    @Model final class Person {
        @Attribute(.unique) var title: String
        var nickname: String?
        var age: Int = 1
        var city: String = "Rome"
        var rank: Int = 7
        var note: String?
        var team: Team?
        init(title: String) { self.title = title }
    }

    @Model final class Team {
        @Attribute(.unique) var title: String
        @Relationship(inverse: \Person.team) var members: [Person] = []
        init(title: String) { self.title = title }
    }

    @Model final class Office {
        var street: String
        init(street: String) { self.street = street }
    }
}

enum PeoplePlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [People1.self, People2.self, People3.self, People4.self] }
    static var stages: [MigrationStage] {
        [
            .lightweight(fromVersion: People1.self, toVersion: People2.self),
            .lightweight(fromVersion: People2.self, toVersion: People3.self),
            .lightweight(fromVersion: People3.self, toVersion: People4.self),
        ]
    }
}

/// A relationship that first has no inverse, and then has one.
enum Pets1: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Pet.self, Owner.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    @Model final class Pet {
        var name: String
        var owner: Owner?
        init(name: String) { self.name = name }
    }

    @Model final class Owner {
        var name: String
        init(name: String) { self.name = name }
    }
}

enum Pets2: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Pet.self, Owner.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model final class Pet {
        var name: String
        var owner: Owner?
        init(name: String) { self.name = name }
    }

    @Model final class Owner {
        var name: String
        @Relationship(inverse: \Pet.owner) var pets: [Pet] = []
        init(name: String) { self.name = name }
    }
}
