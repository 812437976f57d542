import Faultline
import FaultlineTestSupport
import FaultlineTool
import Testing

/// The same shelves with an optional light, and with a required number.
enum LitShelves {
    @Model final class Shelf {
        @Attribute(.unique) var label: String
        var light: String?
        @Relationship(deleteRule: .cascade, inverse: \LitShelves.Volume.shelf) var volumes: [LitShelves.Volume] = []
        init(label: String) { self.label = label }
    }

    @Model final class Volume {
        var title: String
        var pages: Data
        var shelf: LitShelves.Shelf?
        init(title: String, pages: Data) {
            self.title = title
            self.pages = pages
        }
    }
}

enum NumberedShelves {
    @Model final class Shelf {
        @Attribute(.unique) var label: String
        var number: Int
        init(label: String, number: Int) {
            self.label = label
            self.number = number
        }
    }
}

/// Shelves alone.
enum NumberlessShelves {
    @Model final class Shelf {
        @Attribute(.unique) var label: String
        init(label: String) { self.label = label }
    }
}

struct MigrateStoreCommandTests {
    private let shelves: ShelfStore
    private var goal: String { shelves.folder.path + "/goal" }

    init() throws { shelves = try ShelfStore() }

    private func makeGoal(_ types: any PersistentModel.Type...) throws {
        let container = try ModelContainer(
            for: Schema(types), configurations: ModelConfiguration(url: URL(filePath: goal)))
        try container.close()
    }

    @Test func bringsAStoreToTheSchemaOfAnother() async throws {
        try makeGoal(LitShelves.Shelf.self, LitShelves.Volume.self)
        await #expect(processExitsWith: .success) {
            [store = shelves.path as String, goal = goal as String] in
            runFaultlineTool(["migrate", store, "--to", goal, "--dry-run"])
        }
        let before = try ShelfStore.container(shelves.path)
        #expect(before.migrationReport.versions.isEmpty)
        try before.close()
        await #expect(processExitsWith: .success) {
            [store = shelves.path as String, goal = goal as String] in
            runFaultlineTool(["migrate", store, "--to", goal])
        }
        let container = try ModelContainer(
            for: LitShelves.Shelf.self, LitShelves.Volume.self,
            configurations: ModelConfiguration(url: URL(filePath: shelves.path)))
        #expect(container.migrationReport.versions.isEmpty)
        let found = try ModelContext(container).fetch(FetchDescriptor<LitShelves.Shelf>())
        #expect(found.count == 10 && found.allSatisfy { $0.light == nil && $0.volumes.count == 3 })
        try container.close()
    }

    @Test func takesASchemaFromAFile() async throws {
        try makeGoal(LitShelves.Shelf.self, LitShelves.Volume.self)
        let result = try await #require(processExitsWith: .success, observing: [\.standardOutputContent]) {
            [goal = goal as String] in
            runFaultlineTool(["schema", goal, "--json"])
        }
        let file = shelves.folder.path + "/goal.json"
        try Data(result.standardOutputContent).write(to: URL(filePath: file))
        await #expect(processExitsWith: .success) {
            [store = shelves.path as String, file = file as String] in
            runFaultlineTool(["migrate", store, "--to", file])
        }
        try Data("{}".utf8).write(to: URL(filePath: file))
        await #expect(processExitsWith: .exitCode(2)) {
            [store = shelves.path as String, file = file as String] in
            runFaultlineTool(["migrate", store, "--to", file])
        }
    }

    @Test func `tells whether a service can migrate while it saves`() async throws {
        try makeGoal(LitShelves.Shelf.self, LitShelves.Volume.self)
        for flags in [["--dry-run", "--copy"], []] {
            await #expect(processExitsWith: .success) {
                [store = shelves.path as String, goal = goal as String, flags = flags as [String]] in
                runFaultlineTool(["migrate", store, "--to", goal, "--online"] + flags)
            }
        }
        await #expect(processExitsWith: .exitCode(2)) { [store = shelves.path as String, goal = goal as String] in
            runFaultlineTool(["migrate", store, "--to", goal, "--online", "--grace", "1"])
        }
        let fewer = shelves.folder.path + "/fewer"
        try ModelContainer(
            for: NumberlessShelves.Shelf.self, configurations: ModelConfiguration(url: URL(filePath: fewer))
        ).close()
        let result = try await #require(processExitsWith: .exitCode(1), observing: [\.standardErrorContent]) {
            [store = shelves.path as String, goal = fewer as String] in
            runFaultlineTool(["migrate", store, "--to", goal, "--online", "--drop-data", "--dry-run"])
        }
        #expect(text(result.standardErrorContent).contains("The new version drops Volume"))
    }

    @Test func refusesWhatNeedsCodeAndSaysWhy() async throws {
        try makeGoal(NumberedShelves.Shelf.self)
        let result = try await #require(processExitsWith: .exitCode(1), observing: [\.standardErrorContent]) {
            [store = shelves.path as String, goal = goal as String] in
            runFaultlineTool(["migrate", store, "--to", goal])
        }
        #expect(text(result.standardErrorContent).contains("number"))
        await #expect(processExitsWith: .exitCode(1)) { [store = shelves.path as String] in
            runFaultlineTool(["migrate", store, "--resume"])
        }
        await #expect(processExitsWith: .exitCode(2)) { [store = shelves.path as String] in
            runFaultlineTool(["migrate", store])
        }
    }
}
