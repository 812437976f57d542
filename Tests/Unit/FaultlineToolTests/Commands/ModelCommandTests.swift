import FaultlineTestSupport
import FaultlineTool
import Foundation
import Testing

/// `faultline model`: versions, changes, findings, and files of classes.
struct ModelCommandTests {
    private let folder = TemporaryDirectory()
    private var package: String { folder.path + "/Library.xcdatamodeld" }
    private var classes: String { folder.path + "/Models" }

    private static let pages = "<attribute name=\"pages\" attributeType=\"Integer 16\" defaultValueString=\"0\"/>"
    private static let code = "<attribute name=\"code\" attributeType=\"Integer 16\"/>"
    private static let bounded = """
        <attribute name="pages" attributeType="Integer 32" defaultValueString="0" minValueString="0"/>
        """

    /// Three versions: the second adds a value, the third needs a default and changes a type.
    private func write(bounds: Bool = false) throws {
        try LibraryModel.write(
            [
                "Library": "", "Library 2": Self.pages,
                "Library 3": (bounds ? Self.bounded : Self.pages) + Self.code,
            ], current: "Library 2", to: package)
    }

    @Test func `shows versions and the kind of each step`() async throws {
        try write()
        let result = try await #require(
            processExitsWith: .success, observing: [\.standardOutputContent]
        ) { [package = package as String] in runFaultlineTool(["model", package]) }
        let lines = text(result.standardOutputContent)
        #expect(lines.contains("Library 2  current         2           3              2"))
        #expect(lines.contains("Library to Library 2: lightweight\n    Book.pages was added. Stored objects take the"))
        #expect(lines.contains("Library 2 to Library 3: needs a default value\n    Book.code was added (needs a"))
        #expect(!lines.contains("not carried over"))
    }

    @Test func `lists findings once for all versions, as JSON each, and ends with 1`() async throws {
        try write(bounds: true)
        let people = try await #require(
            processExitsWith: .exitCode(1), observing: [\.standardOutputContent]
        ) { [package = package as String] in runFaultlineTool(["model", package]) }
        #expect(
            text(people.standardOutputContent).contains(
                "not carried over:\n    Book.pages: minimum: The least value, 0"))
        let result = try await #require(
            processExitsWith: .exitCode(1), observing: [\.standardOutputContent]
        ) { [package = package as String] in
            runFaultlineTool(["model", package, "--from", "Library", "--to", "Library 3", "--json"])
        }
        let line = try lastLine(result.standardOutputContent)
        #expect(line["current"] as? String == "Library 2")
        #expect(
            (line["versions"] as? [[String: Any]])?.map { $0["version"] as? String } == [
                "Library", "Library 2", "Library 3",
            ])
        let steps = try #require(line["steps"] as? [[String: Any]])
        #expect(steps.count == 1 && steps.first?["to"] as? String == "Library 3")
        #expect(steps.first?["migration"] as? String == "needs a default value")
        let findings = try #require(line["findings"] as? [[String: Any]])
        #expect(findings.map { $0["name"] as? String } == ["minimum"])
        #expect(findings.first?["line"] as? Int == 9 && findings.first?["version"] as? String == "Library 3")
    }

    @Test func `writes classes of a version, and never over another file`() async throws {
        try write()
        await #expect(processExitsWith: .success) { [package = package as String, classes = classes as String] in
            runFaultlineTool(["model", package, "--swift", classes])
        }
        let book = try String(contentsOf: URL(filePath: classes + "/Book.swift"), encoding: .utf8)
        #expect(book.contains("    var pages: Int16 = 0\n") && book.contains("@Model\nfinal class Book {"))
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: classes).sorted() == ["Author.swift", "Book.swift"])
        // The same text again changes nothing.
        await #expect(processExitsWith: .success) { [package = package as String, classes = classes as String] in
            runFaultlineTool(["model", package, "--swift", classes])
        }
        let result = try await #require(
            processExitsWith: .exitCode(1), observing: [\.standardErrorContent]
        ) { [package = package as String, classes = classes as String] in
            runFaultlineTool(["model", package, "--to", "Library", "--swift", classes])
        }
        #expect(text(result.standardErrorContent).contains("/Author.swift exists and is another file."))
        #expect(try String(contentsOf: URL(filePath: classes + "/Book.swift"), encoding: .utf8) == book)
    }

    @Test func `a wrong version ends with 2, and a damaged package with 3 and its place`() async throws {
        try write()
        let wrong = try await #require(
            processExitsWith: .exitCode(2), observing: [\.standardErrorContent]
        ) { [package = package as String] in runFaultlineTool(["model", package, "--from", "Library 9"]) }
        #expect(text(wrong.standardErrorContent).contains("It has: Library, Library 2, Library 3."))
        try Data("<model><entity></model>".utf8)
            .write(to: URL(filePath: package + "/Library 3.xcdatamodel/contents"))
        let damaged = try await #require(
            processExitsWith: .exitCode(3), observing: [\.standardErrorContent]
        ) { [package = package as String] in runFaultlineTool(["model", package]) }
        #expect(text(damaged.standardErrorContent).contains("Library 3.xcdatamodel/contents:1:"))
    }
}
