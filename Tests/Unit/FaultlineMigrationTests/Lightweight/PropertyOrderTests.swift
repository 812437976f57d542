import Faultline
import Foundation
import Testing

/// Two properties of one kind that change places in a class, which requires no version of its own.
struct PropertyOrderTests {
    enum People1: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Person.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

        @Model final class Person {
            var first: String
            var last: String
            init(first: String, last: String) {
                self.first = first
                self.last = last
            }
        }
    }

    enum Sorted1: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Person.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

        @Model final class Person {
            var last: String
            var first: String
            init(first: String, last: String) {
                self.first = first
                self.last = last
            }
        }
    }

    enum People2: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Person.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

        @Model final class Person {
            var given: String
            var family: String
            init(given: String, family: String) {
                self.given = given
                self.family = family
            }
        }
    }

    enum Sorted2: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Person.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

        @Model final class Person {
            var family: String
            var given: String
            init(given: String, family: String) {
                self.given = given
                self.family = family
            }
        }
    }

    private struct Stopped: Error {}

    private enum SortedSource: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [Sorted1.self, People2.self] }
        static var stages: [MigrationStage] {
            [
                .streamed(
                    fromVersion: Sorted1.self, toVersion: People2.self,
                    StreamedEntity(Sorted1.Person.self) { old, output in
                        try output.insert(People2.Person(given: old.first, family: old.last))
                    })
            ]
        }
    }

    private enum Stopping: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [People1.self, People2.self] }
        static var stages: [MigrationStage] {
            [
                .streamed(
                    fromVersion: People1.self, toVersion: People2.self,
                    StreamedEntity(People1.Person.self) { old, output in
                        if old.first == "g30" { throw Stopped() }
                        try output.insert(People2.Person(given: old.first, family: old.last))
                    })
            ]
        }
    }

    private enum SortedTarget: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [People1.self, Sorted2.self] }
        static var stages: [MigrationStage] {
            [
                .streamed(
                    fromVersion: People1.self, toVersion: Sorted2.self,
                    StreamedEntity(People1.Person.self) { old, output in
                        try output.insert(Sorted2.Person(given: old.first, family: old.last))
                    })
            ]
        }
    }

    private func make(in stores: Stores) throws {
        try stores.use(People1.self) { _, context in
            for number in 0..<40 { context.insert(People1.Person(first: "g\(number)", last: "f\(number)")) }
            try context.save()
        }
    }

    @Test func `a streamed stage reads the classes of today from rows of before`() throws {
        let stores = Stores()
        try make(in: stores)
        try stores.use(People2.self, SortedSource.self) { _, context in
            let people = try context.all(People2.Person.self)
            #expect(people.count == 40)
            for person in people { #expect(person.given.dropFirst() == person.family.dropFirst()) }
            #expect(people.allSatisfy { $0.given.hasPrefix("g") && $0.family.hasPrefix("f") })
        }
        #expect(try stores.findings(People2.self) == [])
    }

    @Test func `work under classes of another order is done again`() throws {
        let stores = Stores()
        try make(in: stores)
        var options = MigrationOptions()
        options.batchByteCount = 100
        #expect(throws: MigrationError.self) { try stores.open(People2.self, Stopping.self, migration: options) }
        try stores.use(Sorted2.self, SortedTarget.self, migration: options) { container, context in
            #expect(container.migrationReport.resumes == 0)
            let people = try context.all(Sorted2.Person.self)
            #expect(people.count == 40)
            #expect(people.allSatisfy { $0.given.hasPrefix("g") && $0.family.hasPrefix("f") })
        }
        #expect(try stores.findings(Sorted2.self) == [])
    }
}
