import Faultline
import FaultlineMigration
import Foundation
import Testing

enum Staff1: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Person.self, Team.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    @Model final class Person {
        @Attribute(.unique) var name: String
        var photo: Data?
        var team: Team?
        init(name: String) { self.name = name }
    }

    @Model final class Team {
        var title: String
        @Relationship(inverse: \Person.team) var members: [Person] = []
        init(title: String) { self.title = title }
    }
}

enum Staff2: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Employee.self, Team.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model(originalName: "Person") final class Employee {
        @Attribute(.unique) var name: String
        var photo: Data?
        var team: Team?
        init(name: String) { self.name = name }
    }

    @Model final class Team {
        var title: String
        @Relationship(inverse: \Employee.team) var members: [Employee] = []
        init(title: String) { self.title = title }
    }
}

/// Renamed again: the original name is that of the first version.
enum Staff3: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Colleague.self, Team.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(3, 0, 0) }

    @Model(originalName: "Person") final class Colleague {
        @Attribute(.unique) var name: String
        var photo: Data?
        var team: Team?
        var isOld = false
        init(name: String) { self.name = name }
    }

    @Model final class Team {
        var title: String
        @Relationship(inverse: \Colleague.team) var members: [Colleague] = []
        init(title: String) { self.title = title }
    }
}

enum StaffPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Staff1.self, Staff2.self, Staff3.self] }
    static var stages: [MigrationStage] {
        [
            .lightweight(fromVersion: Staff1.self, toVersion: Staff2.self),
            .streamed(
                fromVersion: Staff2.self, toVersion: Staff3.self,
                StreamedEntity(Staff2.Employee.self) { old, output in
                    let new = Staff3.Colleague(name: old.name)
                    new.isOld = old.name < "c"
                    try output.insert(new)
                }),
        ]
    }
}

/// Classes that get another name.
struct RenamedClassTests {
    private static let photo = Data((0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })

    private func fill(_ stores: Stores) throws -> [String] {
        try stores.use(Staff1.self) { _, context in
            let team = Staff1.Team(title: "team")
            context.insert(team)
            for name in ["a", "b", "c"] {
                let person = Staff1.Person(name: name)
                person.photo = name == "b" ? Self.photo : nil
                context.insert(person)
                team.members.append(person)
            }
            try context.save()
            return team.members.map { "\($0.persistentModelID)".filter(\.isNumber) }
        }
    }

    @Test(arguments: [true, false]) func `its objects and the references to them stay`(_ hasPlan: Bool) throws {
        let stores = Stores()
        let numbers = try fill(stores)
        try stores.use(Staff2.self, hasPlan ? StaffPlan.self : nil) { container, context in
            #expect(container.migrationReport.stages.map(\.kind) == [.lightweight])
            #expect(container.migrationReport.objectsWritten == 0)
            let team = try #require(try context.all(Staff2.Team.self).first)
            #expect(team.members.map(\.name) == ["a", "b", "c"])
            #expect(team.members.map(\.photo) == [nil, Self.photo, nil])
            #expect(team.members.map { "\($0.persistentModelID)".filter(\.isNumber) } == numbers)
            // The unique index has moved along: an equal name updates the first one.
            context.insert(Staff2.Employee(name: "a"))
            try context.save()
            #expect(try context.fetchCount(FetchDescriptor<Staff2.Employee>()) == 3)
        }
        #expect(try stores.findings(Staff2.self) == [])
    }

    @Test(arguments: [true, false]) func `a second rename is followed, in one step or in two`(_ stops: Bool) throws {
        let stores = Stores()
        _ = try fill(stores)
        if stops { try stores.use(Staff2.self, StaffPlan.self) { _, _ in } }
        try stores.use(Staff3.self, StaffPlan.self) { _, context in
            let team = try #require(try context.all(Staff3.Team.self).first)
            #expect(team.members.map(\.name) == ["a", "b", "c"])
            #expect(team.members.map(\.isOld) == [true, true, false])
            #expect(team.members.map(\.photo) == [nil, Self.photo, nil])
        }
        #expect(try stores.findings(Staff3.self) == [])
    }

    @Test func `the version between may be left out`() throws {
        let stores = Stores()
        _ = try fill(stores)
        try stores.use(Staff3.self) { _, context in
            let team = try #require(try context.all(Staff3.Team.self).first)
            #expect(team.members.map(\.name) == ["a", "b", "c"] && team.members.allSatisfy { !$0.isOld })
        }
    }
}
