import Faultline
import Testing

enum Teams {
    // snippet
    @Model final class Team {
        @Attribute(.unique) var name: String
        @Relationship(deleteRule: .cascade, inverse: \Player.team) var players: [Player] = []
        init(name: String) { self.name = name }
    }

    @Model final class Player {
        #Index<Player>([\.team, \.score])
        @Attribute(.unique) var name: String
        var score: Int
        var team: Team?
        init(name: String, score: Int, team: Team? = nil) {
            self.name = name
            self.score = score
            self.team = team
        }
    }
    // end
}

/// The code of From GRDB.
@Suite struct FromGRDBGuide {
    private typealias Team = Teams.Team
    private typealias Player = Teams.Player

    private let container: ModelContainer
    private let place = GuidePlace()

    // swift-format-ignore
    private func URL(filePath path: String) -> Foundation.URL { place.url(path) }

    init() throws {
        container = try ModelContainer(for: Team.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    }

    @Test func `From GRDB: reads and writes`() async throws {
        let container = container
        // snippet
        try await container.perform { context in
            let reds = Team(name: "Reds")
            context.insert(reds)
            context.insert(Player(name: "Arthur", score: 100, team: reds))
            context.insert(Player(name: "Barbara", score: 1_000, team: reds))
            try context.save()  // one transaction for all of them
        }
        let best = try await container.perform { context in
            var descriptor = FetchDescriptor<Player>(
                predicate: #Predicate { $0.team?.name == "Reds" },
                sortBy: [SortDescriptor(\.score, order: .reverse)])
            descriptor.fetchLimit = 10
            return try context.fetch(descriptor).map(\.name)  // values leave the closure, not objects
        }
        // end
        #expect(best == ["Barbara", "Arthur"])
        let context = ModelContext(container)
        // snippet
        let (count, sum, maximum) = try context.fetchAggregates(
            FetchDescriptor<Player>(), .count, .sum(\.score), .maximum(\.score))
        let byTeam = try context.fetchGroups(FetchDescriptor<Player>(), by: \.team, .count, .sum(\.score))
        for group in byTeam { print(group.key?.name ?? "no team", group.values) }
        // end
        #expect(count == 2 && sum == 1_100 && maximum == 1_000 && byTeam.count == 1)
        // snippet
        try context.batchUpdate(
            Player.self, where: #Predicate { $0.score < 500 }, .set(\.score, to: 500))
        try context.batchDelete(Player.self, where: #Predicate { $0.team == nil })
        // end
        let scores = try context.fetchDistinct(\Player.score)
        #expect(scores == [500, 1_000])
    }

    @Test func `From GRDB: an upsert`() throws {
        let context = ModelContext(container)
        // snippet
        context.insert(Player(name: "Arthur", score: 100))
        try context.save()
        context.insert(Player(name: "Arthur", score: 200))  // updates the stored player
        try context.save()
        context.insert(Player(name: "Arthur", score: 300), onConflict: .error)  // the save throws
        // end
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        context.rollback()
        #expect(try context.fetch(FetchDescriptor<Player>()).map(\.score) == [200])
    }

    @Test func `From GRDB: rows of a database are inserted`() throws {
        let context = ModelContext(container)
        let rows = [("Arthur", 100, "Reds"), ("Barbara", 1_000, "Blues")]
        // snippet
        for name in Set(rows.map(\.2)) { context.insert(Team(name: name)) }
        try context.save()
        var teams: [String: PersistentIdentifier] = [:]
        for team in try context.fetch(FetchDescriptor<Team>()) { teams[team.name] = team.persistentModelID }
        var cursor = rows.makeIterator()  // or a cursor of GRDB
        let result = try context.batchInsert(Player.self) { player in
            guard let (name, score, team) = cursor.next() else { return false }
            player.set(\.name, to: name)
            player.set(\.score, to: score)
            player.set(\.team, to: teams[team])
            return true
        }
        // end
        #expect(result.objectCount == 2)
        #expect(try context.fetch(FetchDescriptor<Team>()).allSatisfy { $0.players.count == 1 })
    }
}
