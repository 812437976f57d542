import Faultline
import FaultlineTool
import Testing

struct VerifyCommandTests {
    private let shelves: ShelfStore

    init() throws { shelves = try ShelfStore() }

    @Test func findsASoundStoreSound() async throws {
        let result = try await #require(
            processExitsWith: .success, observing: [\.standardOutputContent, \.standardErrorContent]
        ) { [store = shelves.path as String] in
            runFaultlineTool(["verify", store])
        }
        #expect(text(result.standardOutputContent).hasPrefix("\(shelves.path): sound; 40 objects, "))
        // Standard error is no terminal: no progress.
        #expect(text(result.standardErrorContent).isEmpty)
    }

    @Test func namesFileOffsetAndRemedyAndGoesOn() async throws {
        try shelves.rot(Data("shelf-number-7".utf8), inFilesOf: "s-")
        try shelves.rot(Data("volume-3-1".utf8), inFilesOf: "s-")
        let result = try await #require(
            processExitsWith: .exitCode(1), observing: [\.standardOutputContent]
        ) { [store = shelves.path as String] in
            runFaultlineTool(["verify", store, "--json"])
        }
        let lines = try jsonLines(result.standardOutputContent)
        let findings = lines.dropLast().filter { $0["kind"] as? String == "damage" && $0["object"] != nil }
        #expect(findings.count == 2)
        for finding in findings {
            #expect((finding["path"] as? String)?.hasPrefix(shelves.path + "/s-") == true)
            #expect(finding["offset"] as? Int ?? 0 > 0)
            #expect((finding["remedy"] as? String)?.contains("faultline salvage") == true)
            #expect((finding["message"] as? String)?.contains("salvage") == false)
        }
        #expect(lines.last?["verify"] as? String == "failed")
        #expect(lines.last?["findings"] as? Int == lines.count - 1)
        // The rows behind the damaged ones are examined too.
        #expect(lines.last?["objects"] as? Int == 38)
    }

    @Test func saysWhatToDoOncePerKind() async throws {
        try shelves.rot(Data("shelf-number-7".utf8), inFilesOf: "s-")
        try shelves.rot(Data("volume-3-1".utf8), inFilesOf: "s-")
        let result = try await #require(
            processExitsWith: .exitCode(1), observing: [\.standardOutputContent]
        ) { [store = shelves.path as String] in
            runFaultlineTool(["verify", store])
        }
        let output = text(result.standardOutputContent)
        #expect(output.components(separatedBy: "faultline salvage").count == 2)
        #expect(output.contains("offset "))
        // An entry for a record that cannot be read counts as right.
        #expect(!output.contains("contradiction"))
        #expect(output.contains("38 objects"))
    }

    /// A reader meets a damaged byte of a run's block; the opening meets one of the footer, and continues without the
    /// run.
    @Test(arguments: [70, -10]) func knowsThatDerivedFilesAreMadeAgain(place: Int) async throws {
        let name = try #require(
            try FileManager.default.contentsOfDirectory(atPath: shelves.path).first { $0.hasPrefix("r-") })
        let url = URL(filePath: shelves.path + "/" + name)
        var bytes = try Data(contentsOf: url)
        bytes[place < 0 ? bytes.count + place : place] ^= 1
        try bytes.write(to: url)
        let result = try await #require(
            processExitsWith: .exitCode(1), observing: [\.standardOutputContent]
        ) { [store = shelves.path as String] in
            runFaultlineTool(["verify", store, "--json"])
        }
        let finding = try #require(
            try jsonLines(result.standardOutputContent).first { ($0["path"] as? String)?.hasSuffix(name) == true })
        #expect((finding["remedy"] as? String)?.hasPrefix("Open the store again") == true)
    }
}
