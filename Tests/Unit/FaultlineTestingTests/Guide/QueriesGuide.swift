import Faultline
import Testing

/// The code of Queries.
@Suite struct QueriesGuide {
    private typealias Team = Teams.Team
    private typealias Player = Teams.Player

    private let container: ModelContainer

    init() throws {
        container = try ModelContainer(for: Team.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        let context = ModelContext(container)
        let teams = ["Reds", "Blues"].map { Team(name: $0) }
        teams.forEach(context.insert)
        for number in 0..<200 {
            context.insert(Player(name: "p\(number)", score: number, team: teams[number % 2]))
        }
        try context.save()
    }

    @Test func `Queries: predicates and orders`() throws {
        let context = ModelContext(container)
        // snippet
        let least = 150
        var best = FetchDescriptor<Player>(
            predicate: #Predicate { $0.score >= least && $0.name.starts(with: "p") },
            sortBy: [SortDescriptor(\.score, order: .reverse)])
        best.fetchLimit = 20
        let players = try context.fetch(best)
        print(try context.explain(best))  // the index, its order, rows checked, faults fired
        // end
        #expect(players.count == 20 && players[0].score == 199)
        // snippet
        let reds = try context.fetch(
            FetchDescriptor<Team>(predicate: #Predicate { $0.name == "Reds" })
        ).first
        guard let reds else { return }
        let team: PersistentIdentifier = reds.persistentModelID
        let members = FetchDescriptor<Player>(
            predicate: #Predicate { $0.team?.persistentModelID == team && $0.score > least },
            sortBy: [SortDescriptor(\.score)])
        print(try context.fetchCount(members))
        let teams = FetchDescriptor<Team>(
            predicate: #Predicate { $0.players.contains { $0.score > least } })
        // end
        #expect(try context.fetchCount(members) == 24 && context.fetchCount(teams) == 2)
        // snippet
        let names = ["p1", "p2", "p3"]
        let some = FetchDescriptor<Player>(predicate: #Predicate { names.contains($0.name) })
        let middle = FetchDescriptor<Player>(
            predicate: #Predicate { (10...20).contains($0.score) || $0.team == nil })
        let loose = FetchDescriptor<Player>(
            predicate: #Predicate { $0.name.localizedStandardContains("P19") })
        // end
        #expect(try context.fetchCount(some) == 3 && context.fetchCount(middle) == 11)
        #expect(try context.fetchCount(loose) == 11)
        // snippet
        let leaders = #Predicate<Player> { $0.score >= least }
        let redLeaders = #Predicate<Player> { leaders.evaluate($0) && $0.team?.name == reds.name }
        let words = ["p15", "p16"]
        let listed = Predicate.any(words.map { word in #Predicate<Player> { $0.name.hasPrefix(word) } })
        let both = FetchDescriptor<Player>(predicate: .all([redLeaders, listed]))
        // end
        #expect(try context.fetchCount(both) == 10)
    }

    @Test func `Queries: one object by a unique value`() throws {
        let context = ModelContext(container)
        let address = "p7"
        // snippet
        func player(_ name: String) throws -> Player {
            if let found = try context.first(\Player.name, equals: name) { return found }
            let new = Player(name: name, score: 0)
            context.insert(new)
            return new  // found by the next call, saved or not
        }
        // end
        #expect(try player(address).score == 7 && player("new") === player("new"))
    }

    @Test func `Queries: pages and batches`() throws {
        let context = ModelContext(container)
        let order = FetchDescriptor<Player>(sortBy: [SortDescriptor(\.score)])
        // snippet
        var page = try context.fetchPage(order, size: 50)
        while !page.objects.isEmpty {
            print(page.objects.map(\.name))
            page = try context.fetchPage(order, after: page.cursor, size: 50)
        }
        // end
        #expect(page.isLast)
        // snippet
        let players = try context.fetch(order, batchSize: 100)  // fixed order, 100 objects at once
        print(players.count, players[150].name)
        // end
        #expect(players[150].score == 150)
    }

    @Test func `Queries: without classes`() throws {
        let place = GuidePlace()
        let configuration = ModelConfiguration(url: place.url("/var/lib/teams.store"))
        do {
            let container = try ModelContainer(for: Team.self, configurations: configuration)
            let context = ModelContext(container)
            context.insert(Player(name: "p", score: 7, team: Team(name: "Reds")))
            try context.save()
            try container.close()
        }
        // snippet
        let container = try ModelContainer(opening: configuration)  // under the schema that it carries
        let context = ModelContext(container)
        let ofReds = Filter.key("team.name") == "Reds" && Filter.key("name").beginsWith("p")
        for player in try context.fetch(FetchRequest(entityName: "Player", filter: ofReds)) {
            print(player["name"] ?? "", player["score"] ?? 0)
        }
        // end
        #expect(try context.count(for: FetchRequest(entityName: "Player", filter: ofReds)) == 1)
        // snippet
        func search(_ key: String, from least: Int) throws -> [PersistentIdentifier] {
            try context.fetchIdentifiers(
                FetchRequest(entityName: "Player", filter: Filter.key(key) >= least))
        }
        // end
        #expect(try search("score", from: 7).count == 1)
        #expect(throws: SwiftDataError.unsupportedPredicate) { try search("scores", from: 7) }
    }
}
