import Faultline
import FaultlineLog
import FaultlineMigration
import FaultlineStore
import Testing

enum Clubs1: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Member.self, Club.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    @Model final class Member {
        var name: String
        var club: Club?
        init(name: String) { self.name = name }
    }

    @Model final class Club {
        var name: String
        @Relationship(inverse: \Member.club) var members: [Member] = []
        init(name: String) { self.name = name }
    }
}

/// Members may be in several clubs, and no two have the same name.
enum Clubs2: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Member.self, Club.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model final class Member {
        @Attribute(.unique) var name: String
        @Relationship(originalName: "club", inverse: \Club.members) var clubs: [Club] = []
        init(name: String) { self.name = name }
    }

    @Model final class Club {
        var name: String
        var members: [Member] = []
        init(name: String) { self.name = name }
    }
}

/// A to-one that becomes a to-many, whose links are built from the rows.
@Suite struct LinkBuildingTests {
    /// The stage that makes the change.
    enum Way: CaseIterable {
        case withoutPlan, will, did, both
    }

    private enum WillPlan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [Clubs1.self, Clubs2.self] }
        static var stages: [MigrationStage] { [stage(will: true, did: false)] }
    }

    private enum DidPlan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [Clubs1.self, Clubs2.self] }
        static var stages: [MigrationStage] { [stage(will: false, did: true)] }
    }

    private enum BothPlan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [Clubs1.self, Clubs2.self] }
        static var stages: [MigrationStage] { [stage(will: true, did: true)] }
    }

    private static func stage(will: Bool, did: Bool) -> MigrationStage {
        let willMigrate: @Sendable (ModelContext) throws -> Void = { context in
            // A row that is written again still has its reference.
            for member in try context.all(Clubs1.Member.self) { member.name += "!" }
            try context.save()
        }
        let didMigrate: @Sendable (ModelContext) throws -> Void = { context in
            for club in try context.all(Clubs2.Club.self) {
                #expect(club.members.allSatisfy { $0.clubs == [club] })
                club.name += "?"
            }
            try context.save()
        }
        return .custom(
            fromVersion: Clubs1.self, toVersion: Clubs2.self, willMigrate: will ? willMigrate : nil,
            didMigrate: did ? didMigrate : nil)
    }

    private func plan(_ way: Way) -> (any SchemaMigrationPlan.Type)? {
        switch way {
        case .withoutPlan: nil
        case .will: WillPlan.self
        case .did: DidPlan.self
        case .both: BothPlan.self
        }
    }

    private func makeClubs(_ stores: Stores, twin: String? = nil) throws {
        try stores.use(Clubs1.self) { _, context in
            let clubs = ["x", "y"].map { Clubs1.Club(name: $0) }
            clubs.forEach { context.insert($0) }
            let members = (0..<9).map { Clubs1.Member(name: "m\($0)") }
            members.forEach { context.insert($0) }
            clubs[0].members = [members[4], members[0], members[2]]
            for place in 5..<8 { members[place].club = clubs[1] }
            if let twin { context.insert(Clubs1.Member(name: twin)) }
            try context.save()
        }
    }

    @Test(arguments: Way.allCases)
    func `links take the place of references, in the order of the members`(_ way: Way) throws {
        let stores = Stores()
        try makeClubs(stores)
        let mark = way == .will || way == .both ? "!" : ""
        try stores.use(Clubs2.self, plan(way)) { _, context in
            let clubs = try context.all(Clubs2.Club.self).sorted { $0.name < $1.name }
            #expect(
                clubs.map { $0.members.map(\.name) }
                    == [["m4", "m0", "m2"], ["m5", "m6", "m7"]].map { $0.map { $0 + mark } })
            let eight = try #require(try context.all(Clubs2.Member.self).first { $0.name == "m8" + mark })
            #expect(eight.clubs.isEmpty)
            eight.clubs = clubs
            try context.save()
            #expect(clubs[0].members.last === eight)
        }
        #expect(try stores.findings(Clubs2.self) == [])
    }

    enum Trips1: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Trip.self, City.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

        @Model final class Trip {
            var name: String
            // One way: a city that is deleted leaves it as it is.
            @Relationship var city: City?
            init(name: String, city: City?) {
                self.name = name
                self.city = city
            }
        }

        @Model final class City {
            var name: String
            init(name: String) { self.name = name }
        }
    }

    enum Trips2: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Trip.self, City.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

        @Model final class Trip {
            var name: String
            @Relationship(originalName: "city") var cities: [City] = []
            init(name: String) { self.name = name }
        }

        @Model final class City {
            var name: String
            init(name: String) { self.name = name }
        }
    }

    @Test func `a reference to an object that is gone makes no link`() throws {
        let stores = Stores()
        try stores.use(Trips1.self) { _, context in
            let cities = ["x", "y"].map { Trips1.City(name: $0) }
            for (place, city) in ([cities[0], cities[1], nil, cities[1]] as [Trips1.City?]).enumerated() {
                context.insert(Trips1.Trip(name: "t\(place)", city: city))
            }
            try context.save()
            context.delete(cities[1])
            try context.save()
        }
        try stores.use(Trips2.self) { container, context in
            let trips = try context.all(Trips2.Trip.self).sorted { $0.name < $1.name }
            #expect(trips.map { $0.cities.map(\.name) } == [["x"], [], [], []])
            let store = container.rowStore
            let counts = store.storage.map.links.map {
                store.log.snapshot().recordCount(of: TableID(rawValue: $0.table))
            }
            #expect(counts == [1])
        }
        #expect(try stores.findings(Trips2.self) == [])
    }

    @Test func `a migration that is given up after its links were made leaves none`() throws {
        let stores = Stores()
        try makeClubs(stores, twin: "m3")
        let error = #expect(throws: MigrationError.self) { try stores.open(Clubs2.self) }
        #expect(error?.code == .duplicate)
        #expect(try stores.findings(Clubs1.self) == [])
        try stores.use(Clubs1.self) { _, context in
            let twins = try context.all(Clubs1.Member.self).filter { $0.name == "m3" }
            #expect(twins.count == 2)
            twins[0].name = "m9"
            twins[0].club = try context.all(Clubs1.Club.self).first
            try context.save()
        }
        try stores.use(Clubs2.self) { _, context in
            let members = try context.all(Clubs2.Club.self).flatMap(\.members).map(\.name)
            #expect(members.sorted() == ["m0", "m2", "m4", "m5", "m6", "m7", "m9"])
        }
        #expect(try stores.findings(Clubs2.self) == [])
    }
}
