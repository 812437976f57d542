import Faultline
import FaultlineTestSupport
import FaultlineTool
import Testing

struct DumpCommandTests {
    private let shelves: ShelfStore

    init() throws { shelves = try ShelfStore() }

    /// The values of each object by entity and number.
    private func values(_ lines: [[String: Any]], of entity: String) -> [Int: [String: Any]] {
        var values: [Int: [String: Any]] = [:]
        for line in lines where line["entity"] as? String == entity {
            if let id = line["id"] as? Int { values[id] = line["values"] as? [String: Any] }
        }
        return values
    }

    @Test func writesEveryObjectWithItsRelationships() async throws {
        let result = try await #require(
            processExitsWith: .success, observing: [\.standardOutputContent, \.standardErrorContent]
        ) { [store = shelves.path as String] in
            runFaultlineTool(["dump", store])
        }
        let lines = try jsonLines(result.standardOutputContent)
        #expect(lines.count == 40)
        #expect(lines.allSatisfy { $0["damage"] == nil })
        #expect(text(result.standardErrorContent).isEmpty)
        let found = values(lines, of: "Shelf")
        let volumes = values(lines, of: "Volume")
        #expect(found.count == 10 && volumes.count == 30)
        for (id, shelf) in found {
            let members = try #require(shelf["volumes"] as? [Int])
            let label = try #require(shelf["label"] as? String)
            let number = try #require(label.split(separator: "-").last)
            #expect(members.map { volumes[$0]?["title"] as? String } == (0..<3).map { "volume-\(number)-\($0)" })
            #expect(members.allSatisfy { volumes[$0]?["shelf"] as? Int == id })
        }
        // Blobs are named, not read.
        for volume in volumes.values {
            let pages = try #require(volume["pages"] as? [String: Any])
            #expect(Set(pages.keys) == ["blob", "bytes"])
            #expect(pages["bytes"] as? Int == 100_000)
        }
    }

    @Test func choosesEntitiesAndHowMany() async throws {
        let result = try await #require(
            processExitsWith: .success, observing: [\.standardOutputContent]
        ) { [store = shelves.path as String] in
            runFaultlineTool(["dump", store, "--entity", "Volume", "--limit", "7"])
        }
        let lines = try jsonLines(result.standardOutputContent)
        #expect(lines.map { $0["entity"] as? String } == Array(repeating: "Volume", count: 7))
        #expect(lines.compactMap { $0["id"] as? Int } == Array(1...7))
        await #expect(processExitsWith: .exitCode(2)) { [store = shelves.path as String] in
            runFaultlineTool(["dump", store, "--entity", "Pamphlet"])
        }
        await #expect(processExitsWith: .exitCode(2)) { [store = shelves.path as String] in
            runFaultlineTool(["dump", store, "--limit=-1"])
        }
        await #expect(processExitsWith: .exitCode(3)) { [store = shelves.path as String] in
            runFaultlineTool(["dump", store + "/nothing"])
        }
    }

    @Test func writesBlobsIntoTheLinesOrIntoAFolder() async throws {
        let inLines = try await #require(
            processExitsWith: .success, observing: [\.standardOutputContent]
        ) { [store = shelves.path as String] in
            runFaultlineTool(["dump", store, "--entity", "Volume", "--blobs", "base64"])
        }
        let folder = shelves.folder.path + "/pages"
        let inFiles = try await #require(
            processExitsWith: .success, observing: [\.standardOutputContent]
        ) { [store = shelves.path as String, folder = folder as String] in
            runFaultlineTool(["dump", store, "--entity", "Volume", "--blobs", folder])
        }
        let volumes = values(try jsonLines(inLines.standardOutputContent), of: "Volume")
        let filed = values(try jsonLines(inFiles.standardOutputContent), of: "Volume")
        #expect(volumes.count == 30 && filed.count == 30)
        for (id, volume) in volumes {
            let parts = try #require(volume["title"] as? String).split(separator: "-").compactMap { Int($0) }
            let expected = ShelfStore.pages(parts[0], parts[1])
            let pages = try #require(volume["pages"] as? [String: Any])
            let isSame = Data(base64Encoded: try #require(pages["base64"] as? String)) == expected
            #expect(isSame, "in the line of \(id)")
            let file = try #require((filed[id]?["pages"] as? [String: Any])?["file"] as? String)
            let isFiled = try Data(contentsOf: URL(filePath: folder + "/" + file)) == expected
            #expect(isFiled, "in \(file)")
        }
        // Existing files are not replaced, and the store is not written to.
        await #expect(processExitsWith: .exitCode(2)) { [store = shelves.path as String, folder = folder as String] in
            runFaultlineTool(["dump", store, "--blobs", folder])
        }
        await #expect(processExitsWith: .exitCode(2)) { [store = shelves.path as String] in
            runFaultlineTool(["dump", store, "--blobs", store + "/pages"])
        }
        #expect(!FileManager.default.fileExists(atPath: shelves.path + "/pages"))
    }

    @Test func goesOnPastDamage() async throws {
        try shelves.rot(Data("shelf-number-7".utf8), inFilesOf: "s-")
        try shelves.rot(ShelfStore.pages(2, 1)[70_000..<70_100], inFilesOf: "b-")
        let result = try await #require(
            processExitsWith: .exitCode(1), observing: [\.standardOutputContent, \.standardErrorContent]
        ) { [store = shelves.path as String] in
            runFaultlineTool(["dump", store, "--blobs", "base64"])
        }
        let lines = try jsonLines(result.standardOutputContent)
        #expect(lines.count == 40)
        #expect(text(result.standardErrorContent).contains("2 lines say of damage"))
        let damaged = lines.filter { $0["damage"] != nil }
        #expect(damaged.count == 2)
        let shelf = try #require(damaged.first { $0["entity"] as? String == "Shelf" })
        let fault = try #require((shelf["damage"] as? [[String: Any]])?.first)
        #expect(shelf["values"] == nil)
        #expect((fault["path"] as? String)?.hasPrefix(shelves.path + "/s-") == true)
        #expect(fault["offset"] as? Int ?? 0 > 0)
        let volume = try #require(damaged.first { $0["entity"] as? String == "Volume" })
        let values = try #require(volume["values"] as? [String: Any])
        #expect(values["title"] as? String == "volume-2-1")
        #expect((volume["damage"] as? [[String: Any]])?.first?["property"] as? String == "pages")
        // Bytes before the damaged chunk are not lost.
        let base64 = try #require((values["pages"] as? [String: Any])?["base64"] as? String)
        let whole = ShelfStore.pages(2, 1)
        let isPrefix = Data(base64Encoded: base64).map { whole.starts(with: $0) && $0.count < whole.count } ?? false
        #expect(isPrefix)
        #expect(self.values(lines, of: "Shelf").count == 9)
        #expect(self.values(lines, of: "Volume").count == 30)
    }

    @Test func leavesNoHalfFileOfADamagedBlob() async throws {
        try shelves.rot(ShelfStore.pages(2, 1)[70_000..<70_100], inFilesOf: "b-")
        let folder = shelves.folder.path + "/pages"
        await #expect(processExitsWith: .exitCode(1)) { [store = shelves.path as String, folder = folder as String] in
            runFaultlineTool(["dump", store, "--blobs", folder])
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 29)
    }

    @Test func saysWhenTheOutputTakesNoMore() async throws {
        await #expect(processExitsWith: .exitCode(1)) { [store = shelves.path as String] in
            let full = open("/dev/full", O_WRONLY)
            dup2(full, 1)
            runFaultlineTool(["dump", store])
        }
    }
}
