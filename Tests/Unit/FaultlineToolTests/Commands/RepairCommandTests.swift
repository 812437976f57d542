import Faultline
import FaultlineTestSupport
import FaultlineTool
import Testing

@Model final class Holder {
    var name: String
    @Relationship(deleteRule: .noAction, inverse: \Ticket.holder) var tickets: [Ticket] = []
    @Relationship(deleteRule: .noAction, inverse: \Ticket.payer) var paid: [Ticket] = []
    // One way: a holder does not own the lists that contain it.
    @Relationship var friends: [Stranger] = []
    init(name: String) { self.name = name }
}

@Model final class Stranger {
    var name: String
    init(name: String) { self.name = name }
}

@Model final class Ticket {
    var number: Int
    var holder: Holder?
    var payer: Holder
    init(number: Int, holder: Holder, payer: Holder) {
        self.number = number
        self.holder = holder
        self.payer = payer
    }
}

/// A store with ten tickets of deleted holders, three of them with a deleted payer, and four lost links.
private struct TicketStore {
    let folder: TemporaryDirectory
    var path: String { folder.path + "/tickets" }

    init(withRequired: Bool) throws {
        folder = TemporaryDirectory()
        let container = try Self.container(folder.path + "/tickets")
        let context = ModelContext(container)
        let holders = (0..<3).map { Holder(name: "\($0)") }
        holders.forEach(context.insert)
        holders[0].friends = (0..<6).map { Stranger(name: "\($0)") }
        for number in 0..<20 {
            let payer = withRequired && number < 3 ? holders[2] : holders[0]
            context.insert(Ticket(number: number, holder: holders[number % 2], payer: payer))
        }
        try context.save()
        context.delete(holders[1])
        context.delete(holders[2])
        for friend in holders[0].friends[..<4] { context.delete(friend) }
        try context.save()
        try container.close()
    }

    static func container(_ path: String) throws -> ModelContainer {
        try ModelContainer(
            for: Holder.self, Ticket.self, Stranger.self,
            configurations: ModelConfiguration(url: URL(filePath: path)))
    }

    /// The content for a reader.
    func shown() throws -> [String] {
        let container = try Self.container(path)
        defer { try? container.close() }
        let context = ModelContext(container)
        let tickets = try context.fetch(FetchDescriptor<Ticket>(sortBy: [SortDescriptor(\.number)]))
        let holders = try context.fetch(FetchDescriptor<Holder>())
        return tickets.map { "\($0.number) \($0.holder?.name ?? "none") \($0.payer.name)" }
            + holders.map { "\($0.name) \($0.friends.map(\.name)) \($0.tickets.count) \($0.paid.count)" }
    }
}

struct RepairCommandTests {
    @Test func clearsWhatLeadsNowhereAndChangesNothingThatIsSeen() async throws {
        let store = try TicketStore(withRequired: false)
        let before = try store.shown()
        let dry = try await #require(
            processExitsWith: .success, observing: [\.standardOutputContent]
        ) { [path = store.path as String] in runFaultlineTool(["repair", path, "--dry-run", "--json"]) }
        let lines = try jsonLines(dry.standardOutputContent)
        #expect(lines.map { $0["property"] as? String } == ["holder", "friends", nil])
        #expect(lines.map { $0["kind"] as? String } == ["references", "links", nil])
        #expect(lines.last?["repair"] as? String == "dry run")
        #expect(lines.last?["references"] as? Int == 10 && lines.last?["links"] as? Int == 4)
        let done = try await #require(
            processExitsWith: .success, observing: [\.standardOutputContent]
        ) { [path = store.path as String] in runFaultlineTool(["repair", path]) }
        #expect(text(done.standardOutputContent).hasSuffix("10 references and 4 links cleared\n"))
        #expect(text(done.standardOutputContent).hasPrefix("Ticket.holder: 10 references\n"))
        let verified = try await #require(
            processExitsWith: .success, observing: [\.standardOutputContent]
        ) { [path = store.path as String] in runFaultlineTool(["verify", path, "--json"]) }
        #expect(try lastLine(verified.standardOutputContent)["dangling"] as? Int == 0)
        #expect(try store.shown() == before)
        // Nothing is left to repair.
        let again = try await #require(
            processExitsWith: .success, observing: [\.standardOutputContent]
        ) { [path = store.path as String] in runFaultlineTool(["repair", path, "--json"]) }
        let last = try lastLine(again.standardOutputContent)
        #expect(last["repair"] as? String == "ok" && last["references"] as? Int == 0 && last["links"] as? Int == 0)
    }

    @Test func refusesToClearWhatIsRequiredUnlessTold() async throws {
        let store = try TicketStore(withRequired: true)
        let refused = try await #require(
            processExitsWith: .exitCode(1), observing: [\.standardOutputContent, \.standardErrorContent]
        ) { [path = store.path as String] in runFaultlineTool(["repair", path, "--json"]) }
        let lines = try jsonLines(refused.standardOutputContent)
        #expect(lines.map { $0["kind"] as? String } == ["references", "required", "links", nil])
        #expect(lines.map { $0["count"] as? Int } == [10, 3, 4, nil])
        #expect(lines.last?["repair"] as? String == "refused")
        #expect(text(refused.standardErrorContent).contains("--required"))
        for (choice, left) in [("leave", 3), ("clear", 0)] {
            let done = try await #require(
                processExitsWith: .success, observing: [\.standardOutputContent]
            ) { [path = store.path as String, choice = choice as String] in
                runFaultlineTool(["repair", path, "--required", choice, "--json"])
            }
            #expect(try lastLine(done.standardOutputContent)["references"] as? Int == (left > 0 ? 10 : 3))
            let verified = try await #require(
                processExitsWith: .success, observing: [\.standardOutputContent]
            ) { [path = store.path as String] in runFaultlineTool(["verify", path, "--json"]) }
            #expect(try lastLine(verified.standardOutputContent)["dangling"] as? Int == left)
        }
    }

    @Test("A8: a store that lost saves at its end opens after the loss is accepted, and writes a report")
    func acceptsALoss() async throws {
        let folder = TemporaryDirectory()
        let path = try ShelfStore.cut(folder)
        let refused = #expect(throws: StorageError.self) { try ShelfStore.container(path) }
        #expect(refused?.code == .damaged)
        #expect(refused?.missingTransactionCount == 1)
        #expect(refused?.message.contains("repair STORE --accept-loss") == true)

        let dry = try await #require(
            processExitsWith: .success, observing: [\.standardOutputContent]
        ) { [path = path as String] in runFaultlineTool(["repair", path, "--accept-loss", "--dry-run", "--json"]) }
        #expect(try lastLine(dry.standardOutputContent)["repair"] as? String == "dry run")
        #expect(throws: StorageError.self) { try ShelfStore.container(path) }

        let done = try await #require(
            processExitsWith: .success, observing: [\.standardOutputContent]
        ) { [path = path as String] in runFaultlineTool(["repair", path, "--accept-loss", "--json"]) }
        let line = try lastLine(done.standardOutputContent)
        #expect(line["repair"] as? String == "ok" && line["report"] as? String == path + ".lost.json")
        let report = try #require(
            try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: path + ".lost.json")))
                as? [String: Any])
        #expect(report["missing_transactions_at_least"] as? Int == 1)
        #expect(report["path"] as? String == (try ShelfStore.segments(path).first))
        let container = try ShelfStore.container(path)
        #expect(try ModelContext(container).fetch(FetchDescriptor<Shelf>()).map(\.label) == ["shelf 0"])
        try container.close()

        let again = try await #require(
            processExitsWith: .success, observing: [\.standardOutputContent]
        ) { [path = path as String] in runFaultlineTool(["repair", path, "--accept-loss", "--json"]) }
        #expect(try lastLine(again.standardOutputContent)["repair"] as? String == "nothing missing")
    }
}
