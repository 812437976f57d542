import Faultline
import FaultlineCommands
import FaultlineLog
import FaultlineStore
import FaultlineTool
import Foundation
import Testing

/// The same shelves, with volumes without pages.
enum BareShelves {
    @Model final class Shelf {
        @Attribute(.unique) var label: String
        @Relationship(deleteRule: .cascade, inverse: \BareShelves.Volume.shelf) var volumes: [BareShelves.Volume] = []
        init(label: String) { self.label = label }
    }

    @Model final class Volume {
        var title: String
        var shelf: BareShelves.Shelf?
        init(title: String) { self.title = title }
    }
}

struct CompactCommandTests {
    private let shelves: ShelfStore

    /// Most volumes are deleted, and the store is closed as it is.
    init() throws {
        shelves = try ShelfStore()
        let container = try ShelfStore.container(shelves.path)
        let context = ModelContext(container)
        for volume in try context.fetch(FetchDescriptor<Volume>()) where !volume.title.hasSuffix("-0") {
            context.delete(volume)
        }
        try context.save()
        container.rowStore.log.abandonForTests()
        // A container would compact a store of this size when it is closed.
        try OpenedStore.openForWriting(shelves.path).log.close()
    }

    @Test func givesSpaceBackAndSaysHowMuch() async throws {
        let result = try await #require(
            processExitsWith: .success, observing: [\.standardOutputContent, \.standardErrorContent]
        ) { [store = shelves.path as String] in
            runFaultlineTool(["compact", store, "--json"])
        }
        let outcome = try lastLine(result.standardOutputContent)
        let before = try #require(outcome["bytes_before"] as? Int)
        let after = try #require(outcome["bytes"] as? Int)
        #expect(before > 3_000_000)
        #expect(after < 1_200_000)
        #expect(outcome["moved_bytes"] as? Int ?? 0 > 1_000_000)
        #expect(outcome["reclaimed_bytes"] as? Int ?? 0 > 1_800_000)
        #expect(outcome["predicted_bytes"] as? Int ?? 0 > 1_800_000)
        #expect(outcome["live_share_before"] as? Double ?? 1 < 0.5)
        #expect(outcome["live_share"] as? Double ?? 0 > 0.9)
        #expect((outcome["damage"] as? [Any])?.isEmpty == true)
        #expect(text(result.standardErrorContent).isEmpty)
        // The remaining data is intact.
        await #expect(processExitsWith: .success) { [store = shelves.path as String] in
            runFaultlineTool(["verify", store])
        }
    }

    @Test func comparesBeforeAndAfterForPeople() async throws {
        let result = try await #require(
            processExitsWith: .success, observing: [\.standardOutputContent]
        ) { [store = shelves.path as String] in
            runFaultlineTool(["compact", store])
        }
        let lines = text(result.standardOutputContent).split(separator: "\n").map(String.init)
        #expect(lines.count == 6)
        #expect(lines.dropFirst(2).first?.hasPrefix("before  2.9") == true)
        #expect(lines.dropFirst(3).first?.hasPrefix("after   ") == true)
        #expect(lines.dropFirst(4).first?.contains("segments dropped") == true)
        #expect(lines.last?.hasPrefix("\(shelves.path): compacted; ") == true)
    }

    @Test func writesObjectsInTheirNewFormFirst() async throws {
        var configuration = ModelConfiguration(url: URL(filePath: shelves.path, directoryHint: .isDirectory))
        configuration.options.migration.unhandledData = .drop
        let container = try ModelContainer(for: BareShelves.Shelf.self, configurations: configuration)
        let count = try ModelContext(container).fetchCount(FetchDescriptor<BareShelves.Volume>())
        try container.close()
        let result = try await #require(
            processExitsWith: .success, observing: [\.standardOutputContent]
        ) { [store = shelves.path as String] in
            runFaultlineTool(["compact", store, "--rewrite", "--json"])
        }
        let outcome = try lastLine(result.standardOutputContent)
        #expect(count > 0 && outcome["rewritten"] as? Int == count)
        #expect(outcome["bytes"] as? Int ?? .max < 300_000)
        await #expect(processExitsWith: .success) { [store = shelves.path as String] in
            runFaultlineTool(["verify", store])
        }
    }

    @Test func refusesAStoreThatIsOpenElsewhere() async throws {
        let container = try ShelfStore.container(shelves.path)
        defer { try? container.close() }
        await #expect(processExitsWith: .exitCode(3)) { [store = shelves.path as String] in
            runFaultlineTool(["compact", store])
        }
    }
}
