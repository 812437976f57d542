import Foundation
import Testing

private let hasPython = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains {
    FileManager.default.isExecutableFile(atPath: "\($0)/python3")
}

/// Tests `.ci/compat`, which compiles sources with `import SwiftData` against the built library.
///
/// `.ci/run` installs Python, so that the gate never leaves them out.
@Suite(.enabled(if: hasPython, "python3 is not installed")) struct CompatTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "faultline-compat-\(UUID())")

    private func write(_ path: String, _ text: String) throws {
        let file = folder.appending(path: path)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }

    private func model(_ name: String, _ property: String = "var name = \"\"") -> String {
        "import SwiftData\n@Model final class \(name) {\n    \(property)\n    init() {}\n}\n"
    }

    /// Runs the script, and returns its status with the lines of both outputs.
    private func run(_ arguments: String...) throws -> (status: Int32, lines: [String]) {
        let root = (0..<4).reduce(URL(filePath: #filePath)) { path, _ in path.deletingLastPathComponent() }
        let built = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        let process = Process()
        process.executableURL = root.appending(path: ".ci/compat")
        process.arguments = [folder.path, "--build", built.path] + arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let lines = String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
        return (process.terminationStatus, lines)
    }

    private func cleanUp() { try? FileManager.default.removeItem(at: folder) }

    @Test func eachFileHasALineAndTheSumIsJSON() throws {
        defer { cleanUp() }
        // An app with tests; its names have spaces.
        try write("a whole one/My App/Item 1.swift", model("Item"))
        try write(
            "a whole one/My App/Store.swift",
            "@_exported public import SwiftData\nimport UIKit\nlet all = SwiftData.FetchDescriptor<Item>()\n")
        try write(
            "a whole one/My AppTests/ItemTests.swift",
            "import Testing\n@testable import My_App\n@Test func item() { #expect(Item().name.isEmpty) }\n")
        // Two products declare a class of the same name.
        try write("broken/Item.swift", model("Item"))
        try write("broken/Widget/Item.swift", model("Item", "var count = 0"))
        try write("broken/Bad.swift", model("Bad", "var count: Int = \"\""))
        try write("broken/NeedsBad.swift", "func bad() -> Bad { Bad() }\n")
        try Data([0x2F, 0x2F, 0xFF, 0x0A]).write(to: folder.appending(path: "broken/Bytes.swift"))
        try write("views/List.swift", "import SwiftUI\nstruct List: View { var body: some View { EmptyView() } }\n")
        try write("views/Model.swift", model("Item", "@Transient var list: List?"))
        try write("views/Network.swift", "import Foundation\nfunc ask(_ request: URLRequest) {}\n")
        try write("views/Phone.swift", "#if os(iOS)\nimport SwiftData\n#endif\n")

        let (status, lines) = try run()
        #expect(status == 0)
        #expect(
            lines == [
                "a whole one/My App/Item 1.swift: compiled",
                "a whole one/My App/Store.swift: compiled, without the import of UIKit",
                "a whole one/My AppTests/ItemTests.swift: compiled",
                "broken/Bad.swift: error: cannot convert value of type 'String' to specified type 'Int', line 3",
                "broken/Bytes.swift: error: the file is not UTF-8; convert it",
                "broken/Item.swift: compiled",
                "broken/NeedsBad.swift: error: needs 'Bad' of Bad.swift, which does not compile",
                "broken/Widget/Item.swift: compiled",
                "views/List.swift: not for Linux: SwiftUI",
                "views/Model.swift: not for Linux: needs 'List' of List.swift, which is not for Linux",
                "views/Network.swift: not for Linux: URLSession, which is in FoundationNetworking; "
                    + "cannot find type 'URLRequest' in scope, line 2",
                "views/Phone.swift: not for Linux: all of it is under a condition that does not hold",
                #"{"files":8,"compiled":5,"repositories":2,"whole":1}"#,
            ])
    }

    @Test func aCrashOfATestHidesNoOtherTest() throws {
        defer { cleanUp() }
        try write("a/App/Item.swift", model("Item"))
        // The statements of an app do not run.
        try write("a/App/main.swift", "import SwiftData\nfatalError()\n")
        try write(
            "a/AppTests/Swift Tests.swift",
            """
            import SwiftData
            import Testing
            @testable import App
            @Suite struct Items {
                @Test func passes() throws {
                    let container = try ModelContainer(for: Item.self)
                    let context = ModelContext(container)
                    context.insert(Item())
                    try context.save()
                    try #expect(context.fetchCount(FetchDescriptor<Item>()) == 1)
                }
                @Test(arguments: [1, 2]) func fails(_ number: Int) { #expect(number == 1, "is it?") }
                @Test func crashes() { fatalError("ended") }
                @Test(.disabled("later")) func waits() {}
                @Test func takesLong() async throws { try await Task.sleep(for: .seconds(600)) }
                @Test func exits() { exit(0) }
            }
            """)
        let (status, lines) = try run("--tests", "--test-seconds", "10")
        #expect(status == 0)
        let tests = "a/AppTests/Swift Tests.swift: Items"
        #expect(
            Set(lines.filter { $0.hasPrefix(tests) }) == [
                "\(tests)/passes(): passed",
                "\(tests)/fails(_:): failed: Expectation failed: (number → 2) == 1: is it?, line 12",
                "\(tests)/crashes(): failed: crashed: Fatal error: ended, line 13",
                "\(tests)/waits(): not run: Test waits() skipped: \"later\"",
                "\(tests)/takesLong(): failed: took more than 10 s",
                "\(tests)/exits(): failed: the process ended with status 0 before the test did",
            ])
        #expect(lines.last?.hasSuffix(#""whole":1,"tests":6,"passed":1,"failed":4}"#) == true)
    }

    @Test("S51: a property with observers is persisted, and its observers are not called")
    func observedPropertiesArePersisted() throws {
        defer { cleanUp() }
        try write(
            "a/App/Inbox.swift",
            """
            import SwiftData
            @Model final class Inbox {
                var count = 0 { didSet { calls += 1 } }
                var newest: Envelope? {
                    willSet { calls += 1 }
                    didSet { calls += 1 }
                }
                @Attribute(.unique) var name: String { didSet { calls += 1 } }
                @Transient var calls = 0
                init(_ name: String) { self.name = name }
            }
            @Model final class Envelope {
                var text: String
                @Relationship(inverse: \\Inbox.newest) var inbox: Inbox?
                init(_ text: String) { self.text = text }
            }
            """)
        try write(
            "a/AppTests/InboxTests.swift",
            """
            import SwiftData
            import Testing
            @testable import App
            @Test func isStored() throws {
                let container = try ModelContainer(
                    for: Inbox.self, Envelope.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
                let context = ModelContext(container)
                let inbox = Inbox("mine")
                context.insert(inbox)
                inbox.count = 3
                inbox.newest = Envelope("hello")
                inbox.name = "ours"
                #expect(inbox.newest?.inbox === inbox)
                try context.save()
                #expect(inbox.calls == 0)
                let found = try #require(try ModelContext(container).fetch(FetchDescriptor<Inbox>()).first)
                #expect(found.count == 3 && found.newest?.text == "hello" && found.name == "ours")
                let entity = Schema([Inbox.self]).entitiesByName["Inbox"]
                #expect(entity?.properties.map(\\.name) == ["count", "newest", "name"])
            }
            """)
        #expect(try run("--tests").lines.contains("a/AppTests/InboxTests.swift: isStored(): passed"))
    }

    @Test func theTestsOfAClassAreThoseThatAppleRuns() throws {
        defer { cleanUp() }
        try write(
            "a/AppTests/XCTests.swift",
            """
            import XCTest
            class Base: XCTestCase {
                func testHome() {
                    let file = FileManager.default.homeDirectoryForCurrentUser.appending(path: "mark")
                    XCTAssertFalse(FileManager.default.fileExists(atPath: file.path))
                    XCTAssertTrue(FileManager.default.createFile(atPath: file.path, contents: nil))
                }
            }
            final class Heir: Base {
                @MainActor func testFails() async throws { XCTAssertEqual(1, 2) }
                func testCrashes() { preconditionFailure("ended") }
                func testSkips() throws { throw XCTSkip("later") }
                func testTakes(_ argument: Int) {}
                private func testPrivate() {}
            }
            private final class Hidden: XCTestCase { func testHidden() {} }
            """)
        try write("a/AppTests/Phone.swift", "import UIKit\nimport XCTest\nlet c = UIColor.red\nfunc testRed() {}\n")
        let (status, lines) = try run("--tests")
        #expect(status == 0)
        let tests = "a/AppTests/XCTests.swift: "
        #expect(
            Set(lines.filter { $0.contains("(): ") }) == [
                "\(tests)Base/testHome(): passed",
                "\(tests)Heir/testHome(): passed",
                "\(tests)Heir/testFails(): failed: XCTAssertEqual failed: (\"1\") is not equal to (\"2\"), line 10",
                "\(tests)Heir/testCrashes(): failed: crashed: Fatal error: ended, line 11",
                "\(tests)Heir/testSkips(): not run: Test skipped - later",
                "\(tests)Hidden/testHidden(): not run: its class is private",
                "a/AppTests/Phone.swift: testRed(): not run: its file: not for Linux: UIKit",
            ])
        #expect(lines.last?.hasSuffix(#""whole":1,"tests":7,"passed":2,"failed":2}"#) == true)
    }

    @Test func theLanguageModeIsChosen() throws {
        defer { cleanUp() }
        try write("a/Shared.swift", "import SwiftData\nvar shared: [Int] = []\n")
        try write("a/Sent.swift", "class Plain {}\nfunc send(_ plain: Plain) { Task { @MainActor in _ = plain } }\n")
        #expect(try run().lines.last == #"{"files":2,"compiled":2,"repositories":1,"whole":1}"#)
        #expect(try run("--swift", "6").lines.last == #"{"files":2,"compiled":0,"repositories":1,"whole":0}"#)
        let flagged = try run("--swift", "6", "--", "-swift-version", "5")
        #expect(flagged.lines.last == #"{"files":2,"compiled":2,"repositories":1,"whole":1}"#)
    }

    @Test func inputThatCannotBeUsedIsRefusedWithTheRemedy() throws {
        defer { cleanUp() }
        let remedy = "Give a folder that has a folder for each repository."
        #expect(try run().lines == ["\(folder.path) is no folder. \(remedy)"])
        try write("empty/README.md", "")
        let (status, lines) = try run()
        #expect(status == 2)
        #expect(lines == ["\(folder.path) has no Swift files. \(remedy)"])
        try write("a/Item.swift", model("Item"))
        #expect(try run("--build", folder.path).lines.last?.contains("Run `swift build` first") == true)
    }

    @Test func aCompilerThatTakesTooLongIsEnded() throws {
        defer { cleanUp() }
        try write("a/Item.swift", model("Item"))
        let (status, lines) = try run("--seconds", "0")
        #expect(status == 0)
        #expect(lines.last == #"{"files":1,"compiled":0,"repositories":1,"whole":0}"#)
    }
}
