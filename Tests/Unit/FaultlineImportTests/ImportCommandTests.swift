#if Import
internal import Faultline
internal import FaultlineTool
internal import Foundation
internal import Testing

/// `faultline import`.
@Suite struct ImportCommandTests {
    private static func write(_ schema: Schema, beside source: SourceStore) throws -> String {
        let file = source.folder.appending(path: "photos.json")
        try JSONEncoder().encode(schema).write(to: file)
        return file.path
    }

    @Test func theCommandPrintsTheReport() async throws {
        let source = try SourceFileTests.source()
        source.close()
        let model = try Self.write(SourceFileTests.schema, beside: source)
        let line = "import \(source.url.path) \(source.destination.path) --model \(model) --json"
        let result = try await #require(processExitsWith: .success, observing: [\.standardOutputContent]) {
            [line = line as String] in runFaultlineTool(line.split(separator: " ").map(String.init))
        }
        let text = String(decoding: result.standardOutputContent, as: UTF8.self)
        #expect(text.contains("\"complete\":true") && text.contains("\"objects\":3"), "\(text)")
        // An existing store is refused.
        let refused = try await #require(processExitsWith: .exitCode(1), observing: [\.standardErrorContent]) {
            [line = line as String] in runFaultlineTool(line.split(separator: " ").map(String.init))
        }
        #expect(String(decoding: refused.standardErrorContent, as: UTF8.self).contains("exists"))
    }

    @Test func findingsEndWithStatusOneAndAList() async throws {
        let source = try SourceFileTests.source()
        source.run("UPDATE ZPHOTO SET ZNAME = x'01' WHERE Z_PK = 2")
        source.close()
        let model = try Self.write(SourceFileTests.schema, beside: source)
        let line = "import \(source.url.path) \(source.destination.path) --model \(model)"
        let result = try await #require(processExitsWith: .exitCode(1), observing: [\.standardOutputContent]) {
            [line = line as String] in runFaultlineTool(line.split(separator: " ").map(String.init))
        }
        let text = String(decoding: result.standardOutputContent, as: UTF8.self)
        #expect(text.contains("not carried over: Photo.name, wrongType, 1: 2"), "\(text)")
        #expect(FileManager.default.fileExists(atPath: source.destination.path + ".findings.jsonl"))
    }

    @Test func aFileThatIsNoStoreEndsWithStatusThree() async throws {
        let source = try SourceFileTests.source()
        let model = try Self.write(SourceFileTests.schema, beside: source)
        let line = "import \(model) \(source.destination.path) --model \(model)"
        let result = try await #require(processExitsWith: .exitCode(3), observing: [\.standardErrorContent]) {
            [line = line as String] in runFaultlineTool(line.split(separator: " ").map(String.init))
        }
        #expect(String(decoding: result.standardErrorContent, as: UTF8.self).contains("not an SQLite database"))
    }
}
#endif
