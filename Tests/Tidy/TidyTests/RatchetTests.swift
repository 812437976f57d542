import Foundation
import SourceSymbols
import Testing

/// Checks the limits against the repository.
///
/// With `FAULTLINE_RATCHET=lower` (`make ratchet`), the lists are lowered to the current sizes first.
@Suite(.serialized) struct RatchetTests {
    private static let isLowering = ProcessInfo.processInfo.environment["FAULTLINE_RATCHET"] == "lower"

    @Test(arguments: Ratchet.all.indices) func offendersOnlyShrink(_ index: Int) throws {
        let ratchet = Ratchet.all[index]
        var files = Repository.files
        if Self.isLowering, let place = files.firstIndex(where: { $0.path == ratchet.listPath }) {
            let list = try #require(RatchetList(files[place].text ?? ""), "\(ratchet.listPath) is no list")
            let lowered = list.lowered(to: ratchet.measure(files), limit: ratchet.limit)
            try Data(lowered.text.utf8).write(to: URL(fileURLWithPath: "\(Repository.path)/\(ratchet.listPath)"))
            files[place] = RepositoryFile(ratchet.listPath, lowered.text)
        }
        report(ratchet.violations(in: files))
    }

    @Test(arguments: Ratchet.all.indices) func listsNeverGrow(_ index: Int) throws {
        let ratchet = Ratchet.all[index]
        guard let history = Self.history() else { return }
        let text = try #require(Repository.files.first { $0.path == ratchet.listPath }?.text)
        let list = try #require(RatchetList(text), "\(ratchet.listPath) is no list")
        let earlier = try history.totals(of: ratchet.listPath)
        report(ratchet.violations(total: list.total, earlier: earlier))
    }

    @Test(arguments: Ratchet.all.indices) func eachEntrySaysWhyItStays(_ index: Int) throws {
        let path = Ratchet.all[index].listPath
        let list = try #require(RatchetList(Repository.files.first { $0.path == path }?.text ?? ""))
        report(
            list.unexplained.map {
                Violation(
                    path: path, line: 0, message: "\($0) stays without a reason: write ` # ` and the reason behind it")
            })
    }

    #if DEBUG
    /// Without it, circles of files are not measured.
    @Test func aDebugBuildHasTheReaderOfSymbols() { #expect(FileSymbols.canBeRead) }
    #endif

    /// Prints the circles of files, if `FAULTLINE_CIRCLES=1` asks for them.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["FAULTLINE_CIRCLES"] == "1"))
    func circlesArePrinted() throws {
        for (target, graph) in try FileGraph.ofTargets(Repository.files) {
            for circle in graph.circles {
                print("circle of \(circle.count) files of \(target)\n\(graph.description(of: circle))")
            }
        }
    }

    @Test func subjectsFitALine() throws {
        guard let history = Self.history() else { return }
        let text = Repository.files.first { $0.path == SubjectRule.listPath }?.text ?? ""
        let known = text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map(String.init)
        report(SubjectRule().violations(in: try history.subjects(), known: Set(known)))
    }

    /// Records each violation, and prints it for test runners that omit the comments of issues.
    private func report(_ violations: [Violation]) {
        for violation in violations {
            print("ratchet: \(violation)")
            Issue.record("\(violation)")
        }
    }

    private static func history() -> History? {
        do { return try History() } catch {
            print("ratchet: \(error)")
            return nil
        }
    }
}

/// Tests that each ratchet fails for a new violation, for a larger one, and for an entry that is too high.
@Suite struct RatchetRuleTests {
    private func messages(_ ratchet: Ratchet, _ list: String, _ files: RepositoryFile...) -> [String] {
        ratchet.violations(in: files + [RepositoryFile(ratchet.listPath, list)]).map(\.description)
    }

    private func function(lines: Int, parameters: Int = 0) -> String {
        let labels = (0..<parameters).map { "p\($0): [Int: (Int, B<C, D>)] = f(1, 2)" }.joined(separator: ",\n")
        let body = repeatElement("    g()\n", count: lines - 2 - max(0, parameters - 1)).joined()
        return "struct A {\n// func {\nfunc f<T>(\(labels)) async throws -> [T] where T: A {\n\(body)}\n}\n"
    }

    @Test func longFilesAreFound() {
        let long = RepositoryFile("Sources/A/A.swift", String(repeating: "\n", count: 401))
        let short = RepositoryFile("Sources/A/A.swift", String(repeating: "\n", count: 400))
        let path = "Sources/A/A.swift"
        #expect(messages(.files, "", long) == ["\(path): 401 lines, more than 400; split the file by ideas"])
        #expect(messages(.files, "401 \(path)\n", long) == [])
        #expect(
            messages(.files, "402 \(path)\n", long) == [
                "\(path): shrank from 402 to 401 lines: write `401 \(path)` in Tests/Ratchet/files.txt (make ratchet)"
            ])
        #expect(messages(.files, "", short) == [])
        #expect(
            messages(.files, "401 \(path)\n", short) == [
                "\(path): keeps the limit of 400 lines now: delete its line in Tests/Ratchet/files.txt (make ratchet)"
            ])
    }

    @Test func anOffenderThatGrowsIsFound() {
        let file = RepositoryFile("Tests/A/A.swift", function(lines: 70))
        let name = "Tests/A/A.swift f()"
        #expect(messages(.functions, "70 \(name)\n", file) == [])
        #expect(
            messages(.functions, "# remark\n69 \(name)\n", file) == [
                "\(name): 70 lines, and Tests/Ratchet/functions.txt allows 69; split the function by steps"
            ])
        #expect(messages(.functions, "", RepositoryFile("Tests/A/A.swift", function(lines: 60))) == [])
        #expect(messages(.functions, "", RepositoryFile("Tests/A/A.swift", function(lines: 61))).count == 1)
    }

    @Test func longListsOfParametersAreFound() {
        let eight = RepositoryFile("Sources/A/A.swift", function(lines: 20, parameters: 8))
        let seven = RepositoryFile("Sources/A/A.swift", function(lines: 20, parameters: 7))
        let name = "Sources/A/A.swift f(p0:p1:p2:p3:p4:p5:p6:p7:)"
        #expect(
            messages(.parameters, "", eight) == ["\(name): 8 parameters, more than 7; pass a value that owns them"])
        #expect(messages(.parameters, "8 \(name)\n", eight) == [])
        #expect(messages(.parameters, "", seven) == [])
    }

    @Test func typesWithManyPropertiesAreFound() {
        let lines = [
            "struct A {", "    static let a = 1", "    var b: Int { 1 }", "    var c: Int {", "        let d = 1",
            "        return d", "    }", "    struct B { let e = 1 }", "    func f(class: Int) {}",
        ]
        let stored = [
            "    @E(f) private(set) var g: [Int] = h {", "        1", "    }", "    var i = 0 {", "        didSet {}",
            "    }", "    let j:", "        (Int) -> Int",
        ]
        let many = (0..<23).map { "    let k\($0): Int" }
        let text = (lines + stored + many + ["}"]).joined(separator: "\n")
        let file = RepositoryFile("Sources/A/A.swift", text)
        let name = "Sources/A/A.swift A"
        #expect(
            messages(.properties, "", file) == [
                "\(name): 26 stored properties, more than 25; give the parts types of their own"
            ])
        #expect(messages(.properties, "26 \(name)\n", file) == [])
    }

    @Test func fullFoldersAreFound() {
        let files = (0..<21).map { RepositoryFile("Tests/A/F\($0).swift", "") }
        let list = RepositoryFile(Ratchet.folders.listPath, "")
        #expect(
            Ratchet.folders.violations(in: files + [list]).map(\.description) == [
                "Tests/A: 21 files, more than 20; give the parts folders of their own"
            ])
        #expect(Ratchet.folders.violations(in: files.dropLast() + [list]) == [])
    }

    @Test func wordsAreCounted() {
        let text = "// A value that no" + "body reads, what" + "\n// is left of it, and what" + "ever they do.\n"
        let file = RepositoryFile("docs/A.md", text)
        #expect(messages(.persons, "2 docs/A.md\n", file) == [])
        #expect(messages(.persons, "1 docs/A.md\n", file).count == 1)
        #expect(messages(.whatClauses, "1 docs/A.md\n", file) == [])
        #expect(messages(.whatClauses, "", file).count == 1)
        #expect(messages(.persons, "", RepositoryFile("Fixtures/A.md", text)) == [])
    }

    @Test(.enabled(if: FileSymbols.canBeRead)) func circlesOfFilesAreFound() throws {
        // B names A by a type, A names B by a member of an extension, and C names both and is named by none.
        let a = "struct A { var size = 0 }\nextension Int { func f(_ b: String) -> Int { b.bytesOfB + count } }"
        let b = "extension String { var bytesOfB: Int { A().size } }"
        let c = "func g<B>(_ b: B) -> A? { \"\".bytesOfB == 0 ? A() : nil }"
        let symbols = try FileSymbols.read([a, b, c])
        let graph = FileGraph(zip(["A", "B", "C"], symbols).map { ($0, $1) }, lower: [])
        #expect(graph.edges == [[1: ["bytesOfB"]], [0: ["A"]], [0: ["A"], 1: ["bytesOfB"]]])
        #expect(graph.circles == [[0, 1]])
        #expect(graph.description(of: [0, 1]) == "A\n    B: bytesOfB\nB\n    A: A")
        // A lower module has a member of the same name.
        let lower = try FileSymbols.read(["struct D { let bytesOfB: Int }"])
        #expect(FileGraph(zip(["A", "B"], symbols).map { ($0, $1) }, lower: lower).circles == [])
        // Bound and private names, members of types, and names that two files declare do not count.
        let texts = [
            "func f(_ d: Int, D: Int) { let c = d + D; e.g(c.x.z) }\nextension Int { private var y: Int { 0 }; var z: Int { 0 } }",
            "struct D { var x = 0 }\nextension D { func g() { y(); self.z() }\nprivate func z() {} }",
            "extension Int { func g() {} }\nprivate struct E {}\nstruct F { struct E {} }",
            "let e: E? = nil",
        ]
        #expect(FileGraph(try FileSymbols.read(texts).map { ("", $0) }, lower: []).edges == [[:], [:], [:], [:]])
    }

    @Test func longSubjectsAreFound() {
        let long = String(repeating: "x", count: 73)
        let rule = SubjectRule()
        #expect(rule.violations(in: [("a", long), ("b", String(long.dropLast()))], known: []).map(\.path) == ["a"])
        #expect(rule.violations(in: [("a", long)], known: [long]) == [])
        #expect(rule.violations(in: [], known: [long]).map(\.path) == [SubjectRule.listPath])
    }

    @Test func listsThatGrowAreFound() {
        #expect(Ratchet.files.violations(total: 10, earlier: [("a", 9), ("b", 11)]).count == 1)
        #expect(Ratchet.files.violations(total: 9, earlier: [("a", 9), ("b", 11)]) == [])
        #expect(Ratchet.files.violations(total: 9, earlier: []) == [])
    }

    @Test func listsAreLoweredAndNeverRaised() {
        let list = RatchetList("# remark\n70 a # of old\n80 b\n90 c\n")
        #expect(list?.unexplained == ["b", "c"])
        #expect(
            list?.lowered(to: ["a": 75, "b": 61, "c": 60, "d": 99], limit: 60).text == "# remark\n70 a # of old\n61 b\n"
        )
        #expect(RatchetList("a 70\n") == nil)
        #expect(RatchetList("70 a\n71 a\n") == nil)
    }

    @Test func functionsAreFoundByTheirBrackets() {
        let text = """
            protocol P { func a(_ b: Int)
                init(c: Int)
                func d() -> Int }
            extension P {
                func a(_ b: Int) { let c = "}"; return }
                subscript<T>(key: T, default value: () -> T) -> Int { get { self.init(c: 1) } }
                static func < (a: Self, b: Self) -> Bool { a.value < b.value }
                init?(_ c: Dictionary<Int, Int>, @Sendable _ d: @escaping () -> Void = {}) {
                    func e() {
                    }
                }
            }
            """
        #expect(
            RepositoryFile("A.swift", text).functions == [
                SwiftFunction(name: "a(_:)", lineCount: 1, parameterCount: 1),
                SwiftFunction(name: "subscript(key:default:)", lineCount: 1, parameterCount: 2),
                SwiftFunction(name: "<(a:b:)", lineCount: 1, parameterCount: 2),
                SwiftFunction(name: "init(_:_:)", lineCount: 4, parameterCount: 2),
                SwiftFunction(name: "e()", lineCount: 2, parameterCount: 0),
            ])
    }
}
