import Faultline
import FaultlineMigration
import Testing

/// The data that a migration drops, if its options forbid dropping data that no stage has read.
@Suite struct UnhandledDataTests {
    private static let refusing = MigrationOptions(unhandledData: .fail)

    private enum StreamedPlan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [People1.self, People2.self] }
        static var stages: [MigrationStage] {
            [
                .streamed(
                    fromVersion: People1.self, toVersion: People2.self,
                    StreamedEntity(People1.Person.self) { old, output in
                        try output.insert(People2.Person(fullName: old.name))
                    })
            ]
        }
    }

    private enum WillPlan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [People1.self, People2.self] }
        static var stages: [MigrationStage] {
            [.custom(fromVersion: People1.self, toVersion: People2.self, willMigrate: { _ in }, didMigrate: nil)]
        }
    }

    private enum DidPlan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [People1.self, People2.self] }
        static var stages: [MigrationStage] {
            [.custom(fromVersion: People1.self, toVersion: People2.self, willMigrate: nil, didMigrate: { _ in })]
        }
    }

    /// Makes people, some of them with photos, and badges if requested: the second version has neither.
    private func makePeople(photos: Int, badges: Int) throws -> Stores {
        let stores = Stores()
        try stores.use(People1.self) { _, context in
            for place in 0..<5 {
                let person = People1.Person(name: "p\(place)", age: place)
                person.photo = place < photos ? Data(repeating: 1, count: 6_000) : nil
                context.insert(person)
            }
            for place in 0..<badges { context.insert(People1.Badge(code: "b\(place)")) }
            try context.save()
        }
        return stores
    }

    private func refusal(
        _ stores: Stores, _ version: any VersionedSchema.Type, _ plan: (any SchemaMigrationPlan.Type)? = nil
    ) throws -> MigrationError? {
        do { try stores.use(version, plan, migration: Self.refusing) { _, _ in } } catch {
            // Nothing was written, and the old state is active.
            try stores.use(People1.self) { container, _ in #expect(container.migrationReport.versions.isEmpty) }
            return error as? MigrationError
        }
        return nil
    }

    @Test func `dropped attributes and entities are refused with the number of objects`() throws {
        let stores = try makePeople(photos: 2, badges: 3)
        let error = try refusal(stores, People2.self)
        #expect(error?.code == .unhandledData)
        #expect(error?.message.contains("Person.photo of 2 objects (1.0.0 → 1.0.0)") == true)
        #expect(error?.message.contains("Badge of 3 objects") == true)
        #expect(error?.entityName == "Person" && error?.propertyName == "photo" && error?.stage == "1.0.0 → 1.0.0")
        try stores.use(People2.self) { container, _ in #expect(!container.migrationReport.versions.isEmpty) }
    }

    @Test func `an attribute without values and an entity without objects may go`() throws {
        let stores = try makePeople(photos: 0, badges: 0)
        #expect(try refusal(stores, People2.self) == nil)
    }

    @Test func `the store's values are followed over all steps, and named by the one that drops them`() throws {
        let stores = try makePeople(photos: 0, badges: 0)
        // Renamed twice, and never dropped.
        #expect(try refusal(stores, People4.self, PeoplePlan.self) == nil)
        let others = try makePeople(photos: 1, badges: 0)
        let error = try refusal(others, People4.self, PeoplePlan.self)
        #expect(error?.stage == "1.0.0 → 2.0.0")
        #expect(error?.message.contains("Person.photo of 1 object (") == true)
    }

    @Test func `a default that was never written is no value`() throws {
        let stores = try makePeople(photos: 0, badges: 0)
        // Gives every row the column `city`, without a value in any of them.
        try stores.use(People2.self) { _, _ in }
        #expect(try dropCity(stores) == nil)

        let others = try makePeople(photos: 0, badges: 0)
        try stores.use(WithoutCity.self) { container, _ in #expect(container.migrationReport.versions.isEmpty) }
        try others.use(People2.self) { _, context in
            try context.all(People2.Person.self).first?.city = "Oslo"
            try context.save()
        }
        let error = try dropCity(others)
        // The row that was written again also has a rank and a nickname, and these stay.
        #expect(error?.message.contains("what no stage has seen: Person.city of 1 object (") == true)
    }

    /// Opens the store without cities.
    private func dropCity(_ stores: Stores) throws -> MigrationError? {
        do { try stores.use(WithoutCity.self, migration: Self.refusing) { _, _ in } } catch {
            return error as? MigrationError
        }
        return nil
    }

    /// Like `People2`, without `city`.
    enum WithoutCity: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Person.self, Team.self, Office.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(3, 0, 0) }

        @Model final class Person {
            var fullName: String
            var nickname: String = "none"
            var age: Int?
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

    @Test func `what code of a stage has seen is handled`() throws {
        let badges = try makePeople(photos: 2, badges: 3)
        let streamed = try refusal(badges, People2.self, StreamedPlan.self)
        #expect(streamed?.message.contains("Badge of 3 objects") == true)
        #expect(streamed?.message.contains("photo") == false)
        #expect(try refusal(badges, People2.self, DidPlan.self)?.message.contains("photo of 2") == true)
        #expect(try refusal(badges, People2.self, WillPlan.self) == nil)
        let photos = try makePeople(photos: 2, badges: 0)
        #expect(try refusal(photos, People2.self, StreamedPlan.self) == nil)
    }
}
