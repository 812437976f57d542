import Faultline
import FaultlineTesting
import Testing

/// The code of Faults and memory.
@Suite struct FaultsGuide {
    private typealias Team = Teams.Team
    private typealias Player = Teams.Player
    private typealias Photo = PhotoService.Photo

    private let container: ModelContainer

    init() throws {
        container = try ModelContainer(
            for: Schema([Team.self, Player.self, Photo.self]),
            configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        let context = ModelContext(container)
        let teams = (0..<40).map { Team(name: "\($0)") }
        teams.forEach(context.insert)
        for number in 0..<200 {
            context.insert(Player(name: "\(number)", score: number, team: teams[number * 7 % 40]))
        }
        context.insert(Photo(key: UUID(), name: "beach", taken: .now, pixels: Data(count: 1 << 20)))
        try context.save()
    }

    @Test func `Faults: reads of a walk`() throws {
        let context = ModelContext(container)
        // snippet
        let players = try context.fetch(FetchDescriptor<Player>())
        print(context.counters.rowsRead)  // 0: all are faults
        print(players[0].name)  // this one's fault fires: its row is read
        for player in players { print(player.name) }  // the rows of neighbours are read ahead
        print(context.counters.faultsFired, context.counters.rowsRead)  // 4 200
        // end
        #expect(context.counters.faultsFired == 4 && context.counters.rowsRead == 200)
    }

    @Test func `Faults: one by one`() throws {
        let context = ModelContext(container)
        // snippet
        let account = FaultAccount()
        context.faultAccount = account
        let order = [SortDescriptor(\Player.score)]
        try FaultAccount.$label.withValue("GET /players") {
            for player in try context.fetch(FetchDescriptor(sortBy: order)) {
                print(player.name, player.team?.name ?? "")
            }
        }
        print(account.report)
        for repetition in account.repetitions() { print(repetition.remedy) }
        // end
        #expect(account.repetitions().map(\.remedy) == ["descriptor.relationshipKeyPathsForPrefetching = [\\.team]"])
    }

    @Test func `Faults: at once`() throws {
        let context = ModelContext(container)
        // snippet
        var descriptor = FetchDescriptor(sortBy: [SortDescriptor(\Player.score)])
        descriptor.relationshipKeyPathsForPrefetching = [\.team]
        for player in try context.fetch(descriptor) { print(player.name, player.team?.name ?? "") }
        // end
        #expect(context.counters.faultsFired < 10)
    }

    @Test func `Faults: large values`() throws {
        let context = ModelContext(container)
        let photo = try #require(try context.fetch(FetchDescriptor<Photo>()).first)
        // snippet
        print(photo.name)  // reads the row; the pixels stay on the disk
        let pixels = photo.blob(\.pixels)
        print(pixels?.byteCount ?? 0)  // reads none of them
        let head = try pixels?.data(in: 0..<1_000)  // reads one chunk of 64 KiB
        // end
        #expect(head?.count == 1_000)
        // snippet
        for player in try context.fetch(FetchDescriptor<Team>())[0].relationship(\.players) {
            print(player.name)  // at most 256 members are held at once
        }
        // end
    }

    @Test func `Faults: a walk in bounded memory`() throws {
        let context = ModelContext(container)
        // snippet
        var count = 0
        try context.enumerate(
            FetchDescriptor<Player>(), batchSize: 1_000, allowEscapingMutations: true
        ) { player in
            player.score += 1
            count += 1
            if count % 1_000 == 0 { try context.save() }  // releases the changed objects
        }
        try context.save()
        // end
        #expect(count == 200)
        // snippet
        for resident in context.residentObjects {
            print(resident.entityName, resident.count, resident.unsavedCount)
        }
        // end
        #expect(!context.hasChanges)
    }

    @Test func `Faults: a state for a report`() throws {
        let context = ModelContext(container)
        // snippet
        try context.pin("monthly report", for: .seconds(600))
        defer { context.unpin() }
        let total = try context.fetchAggregates(FetchDescriptor<Player>(), .sum(\.score))
        let count = try context.fetchCount(FetchDescriptor<Player>())  // of the same state
        // end
        #expect(total > 0 && count == 200)
    }

    @Test func `Faults: a budget in a test`() throws {
        let context = ModelContext(container)
        // snippet
        try context.loading(atMost: FaultBudget(faults: 5, blobBytes: 0)) {
            for player in try context.fetch(FetchDescriptor<Player>()) { _ = player.name }
        }
        // end
        #expect(throws: FaultBudgetError.self) {
            try context.loading(atMost: FaultBudget(blobBytes: 0)) {
                for photo in try context.fetch(FetchDescriptor<Photo>()) { _ = photo.pixels }
            }
        }
    }
}
