import Faultline
import FaultlineTool
import Glibc
import Testing

@Model final class Shelf {
    @Attribute(.unique) var label: String
    @Relationship(deleteRule: .cascade, inverse: \Volume.shelf) var volumes: [Volume] = []
    init(label: String) { self.label = label }
}

@Model final class Volume {
    var title: String
    var pages: Data
    var shelf: Shelf?
    init(title: String, pages: Data, shelf: Shelf) {
        self.title = title
        self.pages = pages
        self.shelf = shelf
    }
}

struct SalvageCommandTests {
    private let folder: TemporaryFolder
    private var store: String { folder.path + "/old" }
    private var rescued: String { folder.path + "/new" }

    /// Ten shelves with three volumes each, and 100,000 bytes in each volume.
    init() throws {
        folder = try TemporaryFolder()
        let container = try Self.container(folder.path + "/old")
        let context = ModelContext(container)
        for number in 0..<10 {
            let shelf = Shelf(label: "shelf-number-\(number)")
            context.insert(shelf)
            for place in 0..<3 {
                context.insert(
                    Volume(title: "volume-\(number)-\(place)", pages: Self.pages(number, place), shelf: shelf))
            }
        }
        try context.save()
        try container.close()
    }

    private static func container(_ path: String) throws -> ModelContainer {
        try ModelContainer(
            for: Shelf.self, Volume.self, configurations: ModelConfiguration(url: URL(filePath: path)))
    }

    /// Bytes that do not compress, so that they stand in the file as they are.
    private static func pages(_ number: Int, _ place: Int) -> Data {
        var state = UInt64(number * 3 + place + 1)
        return Data(
            (0..<100_000).map { _ in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return UInt8(truncatingIfNeeded: state >> 56)
            })
    }

    /// Changes the byte in the middle of the only place where a file of a kind has these bytes.
    private func rot(_ bytes: Data, inFilesOf letter: String) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: store) where name.hasPrefix(letter) {
            let url = URL(filePath: store + "/" + name)
            var content = try Data(contentsOf: url)
            guard let range = content.range(of: bytes) else { continue }
            content[range.lowerBound + bytes.count / 2] ^= 4
            return try content.write(to: url)
        }
        Issue.record("no file of \(letter) has the bytes")
    }

    private func removeFiles(_ suffix: String) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: store) where name.hasSuffix(suffix) {
            try FileManager.default.removeItem(atPath: store + "/" + name)
        }
    }

    /// The last line of what a run printed.
    private func summary(_ output: [UInt8]?) throws -> [String: Any] {
        let line = try #require(String(decoding: output ?? [], as: UTF8.self).split(separator: "\n").last)
        return try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }

    @Test func losesNothingOfAStoreWithoutManifestAndIdentity() async throws {
        try removeFiles(".flm")
        try removeFiles("IDENTITY")
        let result = try await #require(
            processExitsWith: .success, observing: [\.standardOutputContent]
        ) { [store = store as String, rescued = rescued as String] in
            runFaultlineTool(["salvage", store, rescued, "--json"])
        }
        let summary = try summary(result.standardOutputContent)
        #expect(summary["salvage"] as? String == "ok")
        #expect(summary["objects"] as? Int == 40)
        #expect(summary["blobs"] as? Int == 30)
        #expect(summary["findings"] as? Int == 0)

        let container = try Self.container(rescued)
        let context = ModelContext(container)
        for number in 0..<10 {
            let label = "shelf-number-\(number)"
            let shelf = try #require(
                try context.fetch(FetchDescriptor<Shelf>(predicate: #Predicate { $0.label == label })).first)
            #expect(shelf.volumes.map(\.title) == (0..<3).map { "volume-\(number)-\($0)" })
            let isRight = shelf.volumes.map(\.pages) == (0..<3).map { Self.pages(number, $0) }
            #expect(isRight, "\(label)")
        }
        try container.close()
    }

    @Test func namesWhatIsLostAndRescuesTheRest() async throws {
        try rot(Data("shelf-number-7".utf8), inFilesOf: "s-")
        try rot(Self.pages(2, 1)[100..<200], inFilesOf: "b-")
        let result = try await #require(
            processExitsWith: .exitCode(1), observing: [\.standardOutputContent]
        ) { [store = store as String, rescued = rescued as String] in
            runFaultlineTool(["salvage", store, rescued, "--json"])
        }
        let summary = try summary(result.standardOutputContent)
        #expect(summary["salvage"] as? String == "lost")
        #expect(summary["objects"] as? Int == 39)
        #expect(summary["blobs"] as? Int == 29)
        #expect(summary["lost_blobs"] as? Int == 1)
        #expect(summary["lost_objects"] as? Int == 1)
        #expect(summary["lost_ranges"] as? Int == 1)
        // Three volumes refer to the shelf, one to the blob.
        #expect(summary["dangling"] as? Int == 3)
        #expect(summary["findings"] as? Int == 1)
        let entities = try #require(summary["entities"] as? [[String: Any]])
        let counts = try #require(entities.first { $0["name"] as? String == "Shelf" })
        #expect(counts["objects"] as? Int == 9)
        #expect(counts["lost"] as? Int == 1)

        let container = try Self.container(rescued)
        let context = ModelContext(container)
        let shelves = try context.fetch(FetchDescriptor<Shelf>())
        #expect(Set(shelves.map(\.label)) == Set((0..<10).filter { $0 != 7 }.map { "shelf-number-\($0)" }))
        for volume in try context.fetch(FetchDescriptor<Volume>()) {
            let parts = volume.title.split(separator: "-").compactMap { Int($0) }
            #expect((volume.shelf == nil) == (parts[0] == 7))
            let isRight = volume.pages == (parts == [2, 1] ? Data() : Self.pages(parts[0], parts[1]))
            #expect(isRight, "\(volume.title)")
        }
        try container.close()
    }

    @Test func saysThatTheCatalogIsLost() async throws {
        try rot(Data("encodingVersion".utf8), inFilesOf: "s-")
        let result = try await #require(
            processExitsWith: .exitCode(1), observing: [\.standardOutputContent]
        ) { [store = store as String, rescued = rescued as String] in
            runFaultlineTool(["salvage", store, rescued, "--json"])
        }
        let summary = try summary(result.standardOutputContent)
        #expect(summary["schema"] as? Bool == false)
        #expect(summary["objects"] as? Int == 40)
        #expect(summary["blobs"] as? Int == 30)
    }

    @Test func refusesWhatItCannotReadAndWhereItCannotWrite() async throws {
        await #expect(processExitsWith: .exitCode(2)) { [store = store as String] in
            runFaultlineTool(["salvage", store, store])
        }
        await #expect(processExitsWith: .exitCode(2)) { [store = store as String] in
            runFaultlineTool(["salvage", store, store + "/inside"])
        }
        await #expect(processExitsWith: .exitCode(2)) { [store = store as String] in
            runFaultlineTool(["salvage", store])
        }
        await #expect(processExitsWith: .exitCode(3)) { [folder = folder.path as String] in
            runFaultlineTool(["salvage", folder + "/nothing", folder + "/new"])
        }
        let container = try Self.container(store)
        await #expect(processExitsWith: .exitCode(3)) { [store = store as String, rescued = rescued as String] in
            runFaultlineTool(["salvage", store, rescued])
        }
        try container.close()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["old"])
    }
}
