import Faultline
import FaultlineTestSupport
import FaultlineTool
import Testing

struct BackupCommandTests {
    private let shelves: ShelfStore
    private var store: String { shelves.path }
    private var backups: String { shelves.folder.path + "/backups" }
    private var restored: String { shelves.folder.path + "/new" }

    init() throws { shelves = try ShelfStore() }

    private func lines(_ arguments: [String]) async throws -> [[String: Any]] {
        let result = try await #require(processExitsWith: .success, observing: [\.standardOutputContent]) {
            [line = arguments.joined(separator: "\u{1F}") as String] in
            runFaultlineTool(line.split(separator: "\u{1F}").map(String.init))
        }
        return try jsonLines(result.standardOutputContent)
    }

    private func labels(_ path: String) throws -> [String] {
        let container = try ShelfStore.container(path)
        let labels = try ModelContext(container).fetch(FetchDescriptor<Shelf>()).map(\.label).sorted()
        try container.close()
        return labels
    }

    @Test func `each backup, and a transaction between two, is restored`() async throws {
        let first = try #require(try await lines(["backup", store, backups, "--json"]).first)
        #expect(first["backup"] as? Int == 1 && first["copiedBytes"] as? Int ?? 0 > 3_000_000)
        // The store is open for writing meanwhile.
        let container = try ShelfStore.container(store)
        let context = ModelContext(container)
        for number in 0..<3 {
            context.insert(Shelf(label: "new \(number)"))
            try context.save()
        }
        let second = try #require(try await lines(["backup", store, backups, "--incremental", "--json"]).first)
        #expect(second["backup"] as? Int == 2 && second["copiedFiles"] as? Int ?? .max < 4)
        try container.close()

        let list = try await lines(["restore", backups, "--json"])
        let ends = list.compactMap { ($0["last"] as? [String: Any])?["transaction"] as? Int }
        try #require(ends.count == 2 && ends[1] == ends[0] + 3)
        _ = try await lines(["restore", backups, restored, "--transaction", "\(ends[0] + 2)", "--json"])
        #expect(try labels(restored).filter { $0.hasPrefix("new") } == ["new 0", "new 1"])
        let third = try #require(
            try await lines(["restore", backups, restored + "2", "--backup", "1", "--json"]).first)
        #expect((third["last"] as? [String: Any])?["transaction"] as? Int == ends[0])
        #expect(try labels(restored + "2").count == 10)
        let newest = ISO8601DateFormatter().string(from: Date())
        _ = try await lines(["restore", backups, restored + "3", "--at", newest, "--json"])
        #expect(try labels(restored + "3").count == 13)
    }

    @Test func `a directory without backups, and one with files, are refused`() async throws {
        await #expect(processExitsWith: .exitCode(3)) { [store = store as String] in
            runFaultlineTool(["restore", store + "/nothing"])
        }
        await #expect(processExitsWith: .exitCode(3)) { [backups = backups as String] in
            runFaultlineTool(["backup", backups + "/nothing", backups])
        }
        _ = try await lines(["backup", store, backups, "--json"])
        await #expect(processExitsWith: .exitCode(1)) { [store = store as String, backups = backups as String] in
            runFaultlineTool(["backup", store, backups])
        }
        await #expect(processExitsWith: .exitCode(1)) { [store = store as String, backups = backups as String] in
            runFaultlineTool(["restore", backups, store])
        }
        for time in ["yesterday", "9999-01-01T00:00:00Z"] {
            await #expect(processExitsWith: .exitCode(2)) { [backups = backups as String, time = time as String] in
                runFaultlineTool(["restore", backups, backups + "-new", "--at", time])
            }
        }
    }
}
