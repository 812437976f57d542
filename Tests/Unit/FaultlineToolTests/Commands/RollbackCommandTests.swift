import Faultline
import FaultlineTestSupport
import FaultlineTool
import Testing

struct RollbackCommandTests {
    private let shelves: ShelfStore
    private var goal: String { shelves.folder.path + "/goal" }

    /// A store that was migrated, with a grace period if one is given.
    init() throws { shelves = try ShelfStore() }

    private func migrate(_ grace: [String]) async throws {
        let container = try ModelContainer(
            for: Schema([LitShelves.Shelf.self, LitShelves.Volume.self]),
            configurations: ModelConfiguration(url: URL(filePath: goal)))
        try container.close()
        await #expect(processExitsWith: .success) {
            [store = shelves.path as String, goal = goal as String, grace = grace.joined(separator: " ") as String] in
            runFaultlineTool(["migrate", store, "--to", goal] + grace.split(separator: " ").map(String.init))
        }
    }

    @Test func `returns to the state before, and info says until when it can`() async throws {
        let begin = Int(Date().timeIntervalSince1970)
        try await migrate(["--grace", "2"])
        let end = Int(Date().timeIntervalSince1970) + 1
        let info = try await #require(
            processExitsWith: .success, observing: [\.standardOutputContent]
        ) { [store = shelves.path as String] in
            runFaultlineTool(["info", store, "--json"])
        }
        let period = try #require(try lastLine(info.standardOutputContent)["grace_period"] as? [String: Any])
        let until = try #require(period["until"] as? Int)
        #expect((begin...end).contains(until - 7_200))
        #expect(period["bytes"] is Int)
        let people = try await #require(
            processExitsWith: .success, observing: [\.standardOutputContent]
        ) { [store = shelves.path as String] in
            runFaultlineTool(["info", store])
        }
        #expect(
            text(people.standardOutputContent).contains("can return to the state before its newest migration until 20"))
        let result = try await #require(
            processExitsWith: .success, observing: [\.standardOutputContent]
        ) { [store = shelves.path as String] in
            runFaultlineTool(["rollback", store, "--json"])
        }
        let outcome = try lastLine(result.standardOutputContent)
        #expect(outcome["commits_discarded"] as? Int == 0)
        #expect(outcome["from"] is String && outcome["to"] is String)
        let container = try ShelfStore.container(shelves.path)
        #expect(container.migrationReport.versions.isEmpty)
        try container.close()
        // There is no other state to restore.
        await #expect(processExitsWith: .exitCode(1)) { [store = shelves.path as String] in
            runFaultlineTool(["rollback", store])
        }
    }

    @Test func `refuses where saves followed, unless they may be lost, and where the store is open`() async throws {
        try await migrate(["--grace", "2"])
        let lit = try ModelContainer(
            for: LitShelves.Shelf.self, LitShelves.Volume.self,
            configurations: ModelConfiguration(url: URL(filePath: shelves.path)))
        let context = ModelContext(lit)
        context.insert(LitShelves.Shelf(label: "new"))
        try context.save()
        await #expect(processExitsWith: .exitCode(3)) { [store = shelves.path as String] in
            runFaultlineTool(["rollback", store, "--discard-commits"])
        }
        try lit.close()
        let refused = try await #require(
            processExitsWith: .exitCode(1), observing: [\.standardErrorContent]
        ) { [store = shelves.path as String] in
            runFaultlineTool(["rollback", store])
        }
        #expect(text(refused.standardErrorContent).contains("1 save followed the migration"))
        let done = try await #require(
            processExitsWith: .success, observing: [\.standardOutputContent]
        ) { [store = shelves.path as String] in
            runFaultlineTool(["rollback", store, "--discard-commits"])
        }
        #expect(text(done.standardOutputContent).hasSuffix("; 1 save is lost\n"))
        let container = try ShelfStore.container(shelves.path)
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Shelf>()) == 10)
        try container.close()
    }

    @Test func `refuses a migration without a grace period, and a folder that is no store`() async throws {
        try await migrate([])
        await #expect(processExitsWith: .exitCode(1)) { [store = shelves.path as String] in
            runFaultlineTool(["rollback", store, "--discard-commits"])
        }
        await #expect(processExitsWith: .exitCode(3)) { [store = shelves.folder.path + "/none" as String] in
            runFaultlineTool(["rollback", store])
        }
        await #expect(processExitsWith: .exitCode(2)) { [store = shelves.path as String] in
            runFaultlineTool(["migrate", store, "--to", store, "--grace", "0"])
        }
    }
}
