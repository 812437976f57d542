import Faultline
import FaultlineMigration
import FaultlineStore
import FaultlineTestSupport
import FaultlineTool
import Testing

/// Volumes with a name and a number, and their pages in a separate entity.
enum CoveredShelves {
    @Model final class Shelf {
        @Attribute(.unique) var label: String
        @Relationship(deleteRule: .cascade, inverse: \CoveredShelves.Volume.shelf) var volumes:
            [CoveredShelves.Volume] =
                []
        init(label: String) { self.label = label }
    }

    @Model final class Volume {
        var name: String
        var number: Int
        var kind: String
        var place: String?
        var shelf: CoveredShelves.Shelf?
        var cover: CoveredShelves.Cover?
        init(name: String, number: Int, kind: String) {
            self.name = name
            self.number = number
            self.kind = kind
        }
    }

    @Model final class Cover {
        var bytes: Data
        @Relationship(inverse: \CoveredShelves.Volume.cover) var volume: CoveredShelves.Volume?
        init(bytes: Data) { self.bytes = bytes }
    }
}

/// `faultline migrate` with mappings as values.
struct MigrateByMappingTests {
    private let shelves: ShelfStore
    private var goal: String { shelves.folder.path + "/goal" }
    private var file: String { shelves.folder.path + "/mapping.json" }

    init() throws {
        shelves = try ShelfStore()
        let container = try ModelContainer(
            for: CoveredShelves.Shelf.self, CoveredShelves.Volume.self, CoveredShelves.Cover.self,
            configurations: ModelConfiguration(url: URL(filePath: goal)))
        try container.close()
    }

    private static let whole = """
        {"mappings": [
            {"from": "Volume", "to": "Volume", "name": "volumes",
             "where": {"not": {"key": "title", "equals": "volume-0-0"}},
             "attributes": {
                 "name": {"source": "title"},
                 "number": {"split": "title", "separator": "-", "part": 1},
                 "kind": {"constant": "book"},
                 "place": {"join": ["shelf.label", "title"], "separator": "/"}},
             "relationships": {"cover": {"counterparts": "covers"}}},
            {"from": "Volume", "to": "Cover", "name": "covers", "attributes": {"bytes": {"source": "pages"}}}
        ]}
        """

    private func write(_ text: String) throws { try Data(text.utf8).write(to: URL(filePath: file)) }

    @Test func `objects are split, related and filtered without a line of code`() async throws {
        try write(Self.whole)
        let dry = try await #require(processExitsWith: .success, observing: [\.standardOutputContent]) {
            [store = shelves.path as String, goal = goal as String, file = file as String] in
            runFaultlineTool(["migrate", store, "--to", goal, "--mapping", file, "--dry-run", "--json"])
        }
        #expect(try MigrationReport(json: text(dry.standardOutputContent)).objectsWritten == 59)
        let report = shelves.folder.path + "/report.json"
        await #expect(processExitsWith: .success) {
            [store = shelves.path as String, goal = goal as String, file = file as String, report = report as String] in
            runFaultlineTool([
                "migrate", store, "--to", goal, "--mapping", file, "--memory", "16", "--report", report,
            ])
        }
        #expect(try MigrationReport(json: String(contentsOf: URL(filePath: report), encoding: .utf8)).blobsMoved == 30)
        let container = try ModelContainer(
            for: CoveredShelves.Shelf.self, CoveredShelves.Volume.self, CoveredShelves.Cover.self,
            configurations: ModelConfiguration(url: URL(filePath: shelves.path)))
        #expect(container.migrationReport.versions.isEmpty)
        let context = ModelContext(container)
        let volumes = try context.fetch(FetchDescriptor<CoveredShelves.Volume>())
        #expect(volumes.count == 29 && volumes.allSatisfy { $0.kind == "book" })
        for volume in volumes {
            let parts = volume.name.split(separator: "-").compactMap { Int($0) }
            #expect(volume.number == parts[0] && volume.shelf?.label == "shelf-number-\(parts[0])")
            #expect(volume.place == "shelf-number-\(parts[0])/\(volume.name)")
            #expect(volume.cover?.bytes == ShelfStore.pages(parts[0], parts[1]))
        }
        #expect(try context.fetchCount(FetchDescriptor<CoveredShelves.Cover>()) == 30)
        try container.close()
    }

    @Test func `without the file the change is refused, and a number that is none stops it by name`() async throws {
        await #expect(processExitsWith: .exitCode(1)) { [store = shelves.path as String, goal = goal as String] in
            runFaultlineTool(["migrate", store, "--to", goal])
        }
        try write(Self.whole.replacingOccurrences(of: "\"part\": 1", with: "\"part\": 0"))
        let result = try await #require(processExitsWith: .exitCode(1), observing: [\.standardErrorContent]) {
            [store = shelves.path as String, goal = goal as String, file = file as String] in
            runFaultlineTool(["migrate", store, "--to", goal, "--mapping", file])
        }
        #expect(text(result.standardErrorContent).contains("\"volume\" is no number"))
        let container = try ShelfStore.container(shelves.path)
        #expect(container.migrationReport.versions.isEmpty)
        try container.close()
    }

    @Test("A4: filters of a mapping file are bounded in depth, and not in number")
    func manyFilters() throws {
        let schema = Schema([Shelf.self, Volume.self])
        let leaf = #"{"key": "title", "equals": "x"}"#
        func read(_ filter: String) throws {
            let text = #"{"mappings": [{"from": "Volume", "where": \#(filter)}]}"#
            _ = try MappingFile.model(text, from: schema, to: schema)
        }
        func nested(_ depth: Int) -> String {
            String(repeating: #"{"not": "#, count: depth - 1) + leaf + String(repeating: "}", count: depth - 1)
        }
        try read(nested(64))
        let error = #expect(throws: MappingFileError.self) { try read(nested(65)) }
        #expect(error?.code == .tooLarge)
        try read(#"{"all": [\#(Array(repeating: leaf, count: 2_000).joined(separator: ", "))]}"#)
    }

    @Test(arguments: [
        ("{", MappingFileError.Code.syntax, ""),
        ("{\"mapping\": []}", .unknownKey, ""),
        ("{}", .missingKey, ""),
        ("{\"mappings\": {}}", .wrongValue, "mappings"),
        ("{\"mappings\": [{\"name\": \"x\"}]}", .missingKey, "mappings[0]"),
        ("{\"mappings\": [{\"from\": 3}]}", .wrongValue, "mappings[0].from"),
        (
            "{\"mappings\": [{\"from\": \"Volume\", \"to\": \"Volume\", \"attributes\": {\"number\": {\"constant\": \"7\"}}}]}",
            .wrongValue, "mappings[0].attributes.number.constant"
        ),
        (
            "{\"mappings\": [{\"from\": \"Volume\", \"to\": \"Volume\", \"attributes\": {\"number\": {\"number\": \"titel\"}}}]}",
            .unknownProperty, "mappings[0].attributes.number.number"
        ),
        (
            "{\"mappings\": [{\"from\": \"Volume\", \"to\": \"Volume\", \"attributes\": {\"kind\": {\"sorce\": \"title\"}}}]}",
            .unknownKey, "mappings[0].attributes.kind"
        ),
        (
            "{\"mappings\": [{\"from\": \"Volume\", \"to\": \"Volume\", \"attributes\": {\"kind\": {\"source\": \"title\", \"part\": 1}}}]}",
            .unknownKey, "mappings[0].attributes.kind"
        ),
        (
            "{\"mappings\": [{\"from\": \"Volume\", \"where\": {\"all\": [{\"key\": \"title\", \"less\": null}]}}]}",
            .wrongValue, "mappings[0].where.all[0].less"
        ),
        ("{\"mappings\": [{\"from\": \"Volume\", \"where\": {\"equals\": 1}}]}", .missingKey, "mappings[0].where"),
    ])
    func `each mistake in a file is named with its place`(
        text: String, code: MappingFileError.Code, path: String
    ) throws {
        let old = Schema([Shelf.self, Volume.self])
        let new = Schema([CoveredShelves.Shelf.self, CoveredShelves.Volume.self, CoveredShelves.Cover.self])
        let error = #expect(throws: MappingFileError.self) { try MappingFile.model(text, from: old, to: new) }
        #expect(error?.code == code && error?.path == path, "\(error as Any)")
    }
}
