import Faultline
import FaultlineTestSupport
import FaultlineTool
import Testing

struct SalvageCommandTests {
    private let shelves: ShelfStore
    private var store: String { shelves.path }
    private var rescued: String { shelves.folder.path + "/new" }

    init() throws { shelves = try ShelfStore() }

    private func removeFiles(_ suffix: String) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: store) where name.hasSuffix(suffix) {
            try FileManager.default.removeItem(atPath: store + "/" + name)
        }
    }

    @Test func losesNothingOfAStoreWithoutManifestAndIdentity() async throws {
        try removeFiles(".flm")
        try removeFiles("IDENTITY")
        let result = try await #require(
            processExitsWith: .success, observing: [\.standardOutputContent]
        ) { [store = store as String, rescued = rescued as String] in
            runFaultlineTool(["salvage", store, rescued, "--json"])
        }
        let summary = try lastLine(result.standardOutputContent)
        #expect(summary["salvage"] as? String == "ok")
        #expect(summary["objects"] as? Int == 40)
        #expect(summary["blobs"] as? Int == 30)
        #expect(summary["findings"] as? Int == 0)

        let container = try ShelfStore.container(rescued)
        let context = ModelContext(container)
        for number in 0..<10 {
            let label = "shelf-number-\(number)"
            let shelf = try #require(
                try context.fetch(FetchDescriptor<Shelf>(predicate: #Predicate { $0.label == label })).first)
            #expect(shelf.volumes.map(\.title) == (0..<3).map { "volume-\(number)-\($0)" })
            let isRight = shelf.volumes.map(\.pages) == (0..<3).map { ShelfStore.pages(number, $0) }
            #expect(isRight, "\(label)")
        }
        try container.close()
    }

    @Test func namesWhatIsLostAndRescuesTheRest() async throws {
        try shelves.rot(Data("shelf-number-7".utf8), inFilesOf: "s-")
        try shelves.rot(ShelfStore.pages(2, 1)[100..<200], inFilesOf: "b-")
        let result = try await #require(
            processExitsWith: .exitCode(1), observing: [\.standardOutputContent]
        ) { [store = store as String, rescued = rescued as String] in
            runFaultlineTool(["salvage", store, rescued, "--json"])
        }
        let summary = try lastLine(result.standardOutputContent)
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

        let container = try ShelfStore.container(rescued)
        let context = ModelContext(container)
        let shelves = try context.fetch(FetchDescriptor<Shelf>())
        #expect(Set(shelves.map(\.label)) == Set((0..<10).filter { $0 != 7 }.map { "shelf-number-\($0)" }))
        for volume in try context.fetch(FetchDescriptor<Volume>()) {
            let parts = volume.title.split(separator: "-").compactMap { Int($0) }
            #expect((volume.shelf == nil) == (parts[0] == 7))
            let isRight = volume.pages == (parts == [2, 1] ? Data() : ShelfStore.pages(parts[0], parts[1]))
            #expect(isRight, "\(volume.title)")
        }
        try container.close()
    }

    @Test func saysThatTheCatalogIsLost() async throws {
        try shelves.rot(Data("encodingVersion".utf8), inFilesOf: "s-")
        let result = try await #require(
            processExitsWith: .exitCode(1), observing: [\.standardOutputContent]
        ) { [store = store as String, rescued = rescued as String] in
            runFaultlineTool(["salvage", store, rescued, "--json"])
        }
        let summary = try lastLine(result.standardOutputContent)
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
        await #expect(processExitsWith: .exitCode(3)) { [folder = shelves.folder.path as String] in
            runFaultlineTool(["salvage", folder + "/nothing", folder + "/new"])
        }
        let container = try ShelfStore.container(store)
        await #expect(processExitsWith: .exitCode(3)) { [store = store as String, rescued = rescued as String] in
            runFaultlineTool(["salvage", store, rescued])
        }
        try container.close()
        #expect(try FileManager.default.contentsOfDirectory(atPath: shelves.folder.path) == ["old"])
    }
}
