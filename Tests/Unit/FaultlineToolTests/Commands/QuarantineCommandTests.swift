import Faultline
import FaultlineTestSupport
import FaultlineTool
import Testing

private enum Guests1 {
    @Model final class Guest {
        var email: String
        var stays: [Int] = [1, 2]
        @Attribute(.externalStorage) var photo: Data?
        var host: Guests1.Guest?
        init(email: String) { self.email = email }
    }
}

private enum Guests2 {
    @Model final class Guest {
        @Attribute(.unique) var email: String
        var stays: [Int] = []
        @Attribute(.externalStorage) var photo: Data?
        var host: Guests2.Guest?
        init(email: String) { self.email = email }
    }
}

struct QuarantineCommandTests {
    private let folder: TemporaryDirectory
    private var path: String { folder.path + "/guests" }

    /// Two guests have the same email: the second one is quarantined, and the third refers to it.
    init() throws {
        folder = TemporaryDirectory()
        var configuration = ModelConfiguration(url: URL(filePath: path))
        let first = try ModelContainer(for: Guests1.Guest.self, configurations: configuration)
        let context = ModelContext(first)
        let guests = ["a", "a", "b"].map(Guests1.Guest.init)
        guests.forEach(context.insert)
        try context.save()
        guests[1].photo = Data(repeating: 7, count: 900_000)
        guests[2].host = guests[1]
        try context.save()
        try first.close()
        configuration.options.migration.onFailure = .quarantine()
        try ModelContainer(for: Guests2.Guest.self, configurations: configuration).close()
    }

    @Test func listsObjectsWithTheirReasons() async throws {
        let result = try await #require(processExitsWith: .success, observing: [\.standardOutputContent]) {
            [store = path as String] in runFaultlineTool(["quarantine", store])
        }
        let output = text(result.standardOutputContent)
        #expect(output.hasPrefix("1  Guest 2  1.0.0 → 1.0.0  duplicate: Objects 1 and 2 of Guest have the same values"))
        let json = try await #require(processExitsWith: .success, observing: [\.standardOutputContent]) {
            [store = path as String] in runFaultlineTool(["quarantine", store, "--json"])
        }
        let line = try lastLine(json.standardOutputContent)
        #expect(
            line["entity"] as? String == "Guest" && line["id"] as? Int == 2 && line["rule"] as? String == "duplicate")
        #expect(line["values"] == nil)
    }

    @Test func theDoctorFindsThem() async throws {
        let result = try await #require(processExitsWith: .exitCode(1), observing: [\.standardOutputContent]) {
            [store = path as String] in runFaultlineTool(["doctor", store])
        }
        let output = text(result.standardOutputContent)
        #expect(output.contains("quarantine  objects: 1, files: 0\nchecked"))
        #expect(output.contains("quarantined objects: 1 object is in the quarantine"))
        #expect(output.contains("-> `faultline quarantine \(path)` lists them"))
    }

    @Test func dumpsValuesAndRelationships() async throws {
        let result = try await #require(processExitsWith: .success, observing: [\.standardOutputContent]) {
            [store = path as String, blobs = (folder.path + "/blobs") as String] in
            runFaultlineTool(["quarantine", store, "--dump", "--blobs", blobs])
        }
        let lines = text(result.standardOutputContent).split(separator: "\n").map(String.init)
        try #require(lines.count == 2)
        #expect(
            lines[0].hasSuffix(
                "\"values\":{\"email\":\"a\",\"stays\":[1,2],\"photo\":{\"bytes\":900000,\"file\":\"1.2.blob\"},\"host\":null}}"
            ), "\(lines[0])")
        #expect(lines[1] == "{\"referred_to\":1,\"entity\":\"Guest\",\"property\":\"host\",\"ids\":[3]}")
        let photo = try Data(contentsOf: URL(filePath: folder.path + "/blobs/1.2.blob"))
        #expect(photo == Data(repeating: 7, count: 900_000))
        await #expect(processExitsWith: .exitCode(2)) { [store = path as String] in
            runFaultlineTool(["quarantine", store, "--blobs", "base64"])
        }
    }

    @Test func removesWhatIsSettled() async throws {
        await #expect(processExitsWith: .success) { [store = path as String] in
            runFaultlineTool(["quarantine", store, "--remove", "1"])
        }
        await #expect(processExitsWith: .exitCode(1)) { [store = path as String] in
            runFaultlineTool(["quarantine", store, "--remove", "1"])
        }
        let result = try await #require(processExitsWith: .success, observing: [\.standardOutputContent]) {
            [store = path as String] in runFaultlineTool(["quarantine", store])
        }
        #expect(text(result.standardOutputContent) == "The quarantine is empty.\n")
        await #expect(processExitsWith: .success) { [store = path as String] in
            runFaultlineTool(["verify", store])
        }
    }

    @Test func aSalvagedStoreHasTheQuarantine() async throws {
        let copy = folder.path + "/copy"
        await #expect(processExitsWith: .success) { [store = path as String, copy = copy as String] in
            runFaultlineTool(["salvage", store, copy])
        }
        let result = try await #require(processExitsWith: .success, observing: [\.standardOutputContent]) {
            [copy = copy as String] in runFaultlineTool(["quarantine", copy, "--dump", "--blobs", "base64"])
        }
        let output = text(result.standardOutputContent)
        #expect(output.contains(Data(repeating: 7, count: 900_000).base64EncodedString()))
        #expect(output.contains("referred_to"))
    }
}
