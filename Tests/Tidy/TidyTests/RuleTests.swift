import Testing

/// Tests each rule on a few lines, with and without violations.
@Suite struct RuleTests {
    @Test func importsAreHeldAgainstTheTable() {
        let rule = ImportRule()
        let text = """
            import Glibc
            package import FaultlineDisk
            @_exported public import FaultlineStore
            import struct Foundation.Data
            // import FaultlineModel
            import CLZ4
            import struct CLZ4.Stream
            let text = "import Foundation"
            """
        #expect(rule.lines("Sources/FaultlineLog/Log.swift", text) == [3, 4])
        #expect(
            rule.lines("Sources/FaultlineObjects/Context.swift", "import Foundation\nimport FaultlineMigration") == [2])
        #expect(rule.lines("Sources/FaultlineMacros/Model.swift", "import SwiftSyntaxMacros\nimport Foundation") == [2])
        #expect(rule.lines("Sources/Faultline/Exports.swift", "@_exported import FaultlineDisk") == [])
        #expect(rule.lines("Sources/Other/X.swift", "") == [0])
        #expect(rule.lines("Tests/XTests/X.swift", "import FaultlineLog") == [])
        #expect(
            rule.violations(in: [RepositoryFile("Sources/FaultlineDisk/A.swift", "import CLZ4")]).map(\.description)
                == [
                    "Sources/FaultlineDisk/A.swift:1: FaultlineDisk may not import CLZ4, only CFaultline; move the code to the layer that may"
                ]
        )
    }

    @Test func everyRowOnlyNamesRowsBelowIt() {
        for (place, row) in LayerTable.rows.enumerated() {
            #expect(row.targets.isSubset(of: LayerTable.rows[..<place].map(\.target)), "\(row.target)")
        }
    }

    @Test func testableIsFound() {
        #expect(TestableRule().lines("Tests/A.swift", "import Testing\n@testable import X\n// @testable") == [2])
    }

    @Test func taskLocalClosuresAreFound() {
        let text = "@TaskLocal static var f: @Sendable () -> Void = {}\n@TaskLocal static var n = 1\n// @TaskLocal ->"
        #expect(TaskLocalRule().lines("Tests/A.swift", text) == [1])
    }

    @Test func locksThatTheThreadSanitizerDoesNotSeeAreFound() {
        let text = "let a = Mutex(0)\nlet b = Guarded<Int>(0)\n// Mutex\nlet c: Mutex<Int>\nlet name = \"Mutex\""
        #expect(SeenLockRule().lines("Tests/Unit/A.swift", text) == [1, 4])
        #expect(SeenLockRule().lines("Sources/FaultlineLog/A.swift", text) == [1, 4])
        #expect(SeenLockRule().lines("Sources/FaultlineDisk/Guarded.swift", text) == [])
        #expect(SeenLockRule().lines("Examples/Notes/A.swift", text) == [])
    }

    @Test func closuresOnSharedQueuesAreFound() {
        let text = """
            DispatchQueue.global().async(group: group) {}
            DispatchQueue.global().asyncAfter(deadline: end, execute: limit)
            DispatchQueue.concurrentPerform(iterations: 2) { _ in }
            threads.run {}
            """
        #expect(OwnThreadRule().lines("Tests/Unit/A.swift", text) == [1])
        #expect(OwnThreadRule().lines("Sources/FaultlineLog/A.swift", text) == [])
    }

    @Test func trapsAndPrintsAreFound() {
        let text = """
            let a = try! f()
            fatalError("x")
            print (a)
            table.print(a)
            func print(_ a: Int) {}
            // fatalError()
            let text = "print(1)"
            reprint(a)
            """
        #expect(TrapRule().lines("Sources/FaultlineLog/A.swift", text) == [1, 2, 3])
        #expect(TrapRule().lines("Sources/FaultlineCommands/A.swift", text) == [1, 2])
        #expect(TrapRule().lines("Sources/FaultlineTool/A.swift", text) == [])
        #expect(TrapRule().lines("Tests/A.swift", text) == [])
    }

    @Test func remindersAreFound() {
        let mark = "TO" + "DO"
        #expect(
            ToDoRule().lines("Sources/A/A.swift", "// \(mark): more\nlet \(mark) = \"\(mark)\"\n/* a\n FIX" + "ME */")
                == [1, 4]
        )
    }

    @Test func promisesWithoutReasonAreFound() {
        let text = """
            final class A: @unchecked Sendable {}
            /// A thing.
            ///
            // Safe because nothing changes.
            @frozen
            final class B: @unchecked Sendable {}
            // Safe because nothing changes.

            final class C: @unchecked Sendable {}
            // Surely fine.
            nonisolated(unsafe) var d = 1
            // @unchecked Sendable
            """
        #expect(SafeBecauseRule().lines("Sources/A/A.swift", text) == [1, 9, 11])
    }

    @Test func synonymsAreFound() {
        let text = """
            let vacuumCount = 1
            func openLogFile() {}
            case attachments
            let gcRun = logFileless
            let eventLog = file
            struct ProxyFault {}
            use(timestamp)
            let walrus = 1
            """
        #expect(GlossaryRule().lines("Sources/FaultlineLog/A.swift", text) == [1, 2, 3, 4, 6])
    }

    @Test func emptyNamesAreFound() {
        let text =
            "struct DiskManager {}\nfinal class LogHelper {}\nenum Faultline {}\nlet manager = 1\nclass func baseline() {}"
        #expect(TypeNameRule().lines("Sources/FaultlineLog/A.swift", text) == [1, 2, 3])
        #expect(TypeNameRule().lines("Sources/FaultlineMigration/A.swift", "public class MigrationManager {}") == [])
    }

    @Test func filesWithoutTheirTypeAreFound() {
        let rule = FileNameRule()
        #expect(rule.lines("Sources/FaultlineLog/Segment.swift", "package struct Segment: Sendable {}") == [])
        #expect(rule.lines("Sources/FaultlineLog/Segment+Reading.swift", "extension Segment {}") == [])
        #expect(rule.lines("Sources/FaultlineLog/Segments.swift", "struct Segment {}") == [0])
        #expect(rule.lines("Sources/FaultlineLog/A B.swift", "struct A {}") == [0])
        #expect(rule.lines("Tests/LogTests/Anything.swift", "") == [])
    }

    @Test func titlesAreCounted() {
        #expect(MarkdownTitleRule().lines("docs/A.md", "# A\n\n## B\n```sh\n# remark\n```\n") == [])
        #expect(MarkdownTitleRule().lines("docs/A.md", "# A\n\n# B\n") == [3])
        #expect(MarkdownTitleRule().lines("docs/A.md", "text\n") == [1])
    }

    @Test func wideProseIsFound() {
        let wide = String(repeating: "x", count: 101)
        #expect(MarkdownWidthRule().lines("docs/A.md", "# A\n\(wide)\n\(wide.dropLast())\n| \(wide) |\n") == [2])
        #expect(MarkdownWidthRule().lines("Sources/A/A.swift", wide) == [])
    }

    @Test func longArticlesAndThoseWithoutAUseAreFound() {
        let words = String(repeating: "word ", count: ArticleRule.wordCountMax - 2)
        let path = SnippetRule.articles + "A.md"
        #expect(ArticleRule().lines(path, "# A\n\n\(words)") == [])
        #expect(ArticleRule().lines(path, "# A\n\n\(words)one more\n") == [1])
        #expect(ArticleRule().lines(path, "# A\n\n## B\n\nWords.\n") == [2])
        #expect(ArticleRule().lines(SnippetRule.articles + "Errors.md", "# A\n\n| \(words)| one |\n") == [])
        #expect(ArticleRule().lines("docs/A.md", "# A\n") == [])
    }

    @Test func referencesThatLeadNowhereAreFound() {
        let text = """
            # A
            [b](B.md), [c](../Sources/C/C.swift), [out](https://example.org), [here](#a-part-of-it)
            [no](C.md)
            ## A `part` of it!
            [head](B.md#the-b), [folder](../Sources)
            [no head](B.md#the-c)
            `Sources/C/C.swift`, `Sources/C`, `a/b`, `swift build`, `Sources/*`
            `Sources/D.swift`
            ```
            [no](D.md) `Sources/D.swift`
            ```
            [no head here](#b)
            """
        let files = [
            RepositoryFile("docs/A.md", text), RepositoryFile("docs/B.md", "# The B"),
            RepositoryFile("Sources/C/C.swift", ""),
        ]
        #expect(MarkdownReferenceRule().violations(in: files).map(\.line) == [3, 6, 8, 12])
    }

    @Test func codeThatIsNotRunIsFound() {
        let source = """
            struct Guide {
                // snippet
                let a = 1
                // snippet
                let b = 2
                // end
                // end
                // snippet
                let c = 3
                // end
            }
            """
        let article = """
            # A
            ```swift
            import Faultline

            let a = 1
            let b = 2
            ```
            ```swift
            let b = 3
            ```
            ```swift
            // swift-tools-version: 6.2
            ```
            """
        let files = [
            RepositoryFile("\(SnippetRule.articles)A.md", article),
            RepositoryFile("\(SnippetRule.sources)A.swift", source),
        ]
        #expect(
            SnippetRule().violations(in: files).map { "\($0.path.suffix(7)):\($0.line)" } == [
                "cc/A.md:8", "A.swift:4", "A.swift:8",
            ])
    }

    @Test func statementsWithoutTestsAreFound() {
        let page = "| | statement | |\n| C1 to C3 | a | so |\n| S8, S9 | b, and C7 | so |"
        let tests = "    @Test func `C1, C3: both`() {}\n    // S8\n    @Test(\"S9 (otherwise): it is\") func nine() {}"
        let found = StatementRule().violations(in: [
            RepositoryFile(StatementRule.page, page), RepositoryFile("Tests/A/A.swift", tests),
        ])
        #expect(found.map(\.line) == [2, 3])
        #expect(found.map(\.message).map { $0.contains("C2") || $0.contains("S8") } == [true, true])
    }

    @Test func errorsWithoutDocumentationAreFound() {
        let text = """
            /// Reads.
            public func a() throws {}
            /// Reads.
            ///
            /// - Throws: `E`.
            @discardableResult
            public func b(
                _ c: Int
            ) throws(E) -> Int { 1 }
            /// Calls `body`.
            public func c(_ body: () throws -> Void) -> Int { 1 }
            /// Reads.
            public convenience init(
                d: Int
            ) throws {}
            public init(from decoder: any Decoder) throws {}
            func e() throws {}
            """
        #expect(ErrorDocumentationRule().lines("Sources/FaultlineModel/A.swift", text) == [2, 13])
        #expect(ErrorDocumentationRule().lines("Sources/FaultlineLog/A.swift", text) == [])
    }

    /// The messages of the catalogue's rule over an error with two codes, one without a code, and an article.
    private func catalogue(_ article: String) -> [String] {
        let sources = [
            RepositoryFile(
                "Sources/FaultlineModel/SaveError.swift",
                "public struct SaveError: Error, Sendable {\n    public enum Code {\n        case full, lost\n    }\n}"),
            RepositoryFile("Sources/FaultlineModel/Plain.swift", "public struct Plain: Sendable, Error {}"),
            // Not public, or of no product.
            RepositoryFile("Sources/FaultlineModel/Inner.swift", "package struct Inner: Error {}"),
            RepositoryFile("Sources/FaultlineDisk/DiskError.swift", "public struct DiskError: Error {}"),
            RepositoryFile("Sources/FaultlineObjects/Model/SwiftDataError.swift", ""),
            RepositoryFile("Sources/FaultlineObjects/Model/ValidationFinding.swift", ""),
        ]
        return ErrorCatalogueRule().violations(
            in: sources + [RepositoryFile(ErrorCatalogueRule.article, "# Errors\n\n" + article)]
        ).map(\.message)
    }

    @Test func codesWithoutARowAreFound() {
        let safe = "Not lost: everything.\n"
        let head = "\n| code | means | do |\n|---|---|---|\n"
        let rows = "| `full` | x | y |\n| `lost` | x | y |\n"
        let plain = "\n## Errors without a code\n\n| error | means | do |\n|---|---|---|\n| `Plain` | x | y |\n"
        #expect(catalogue("## SaveError\n" + safe + head + rows + plain) == [])
        #expect(
            catalogue("## SaveError\n" + safe + head + rows + "| `gone` | x | y |\n" + plain) == [
                "has a row for SaveError.gone; no source declares it: remove the row"
            ])
        #expect(
            catalogue("## SaveError\n" + safe + head + "| `full` | x | y |\n" + plain) == [
                "has no row for SaveError.lost; describe it"
            ])
        #expect(
            catalogue("## SaveError\n" + safe + head + rows) == [
                "has no row for Errors without a code.Plain; describe it"
            ])
        #expect(
            catalogue("## SaveError\n" + head + rows + plain).map { $0.prefix(34) } == [
                "does not say which data is safe wi"
            ])
        #expect(
            catalogue("## SaveError\n" + safe + head + "| `full` | x | |\n| `lost` | x | y |\n" + plain) == [
                "has an empty or missing cell for SaveError.full; fill it in"
            ])
        #expect(
            catalogue("## SaveError\n" + safe + head + rows + plain + "\n## Old\n| `a` |\n") == [
                "has a table for Old, which no source declares; remove it"
            ])
    }

    @Test func namesThatNoSourceDeclaresAreFound() {
        let files = [
            RepositoryFile("docs/Architecture.md", "# A\n`Log.write`, `TidyTests`\n`Log.read`\n`Gone`\n"),
            RepositoryFile("Sources/FaultlineLog/Log.swift", "struct Log {\n    func write() {}\n}"),
            RepositoryFile("Tests/Tidy/TidyTests/A.swift", "struct Gone {}"),
        ]
        #expect(ArchitectureNameRule().violations(in: files).map(\.line) == [3, 4])
    }

    @Test func largeFilesAreFound() {
        let large = String(repeating: "x", count: (64 << 10) + 1)
        #expect(FileSizeRule().lines("docs/A.md", large) == [0])
        #expect(FileSizeRule().lines("docs/A.md", String(large.dropLast())) == [])
        #expect(FileSizeRule().lines("Fixtures/format-1/a", large) == [])
    }

    @Test func machinePathsAreFound() {
        let folder = "/" + "home"
        let lines = [
            "see \(folder)/me/x", "(\(folder))", "https://example.org\(folder)/", "\(folder)stead", "$HOME/.cache",
            "\"\(folder)\"", "a\(folder)\(folder) b",
        ]
        #expect(MachinePathRule().lines("docs/A.md", lines.joined(separator: "\n")) == [1, 2, 6])
    }

    @Test func fixturesWithoutWordsAreFound() {
        let files = [
            RepositoryFile("Fixtures/README.md", "# Fixtures\n`empty` holds nothing"),
            RepositoryFile("Fixtures/format-1/empty/MANIFEST", ""),
            RepositoryFile("Fixtures/format-1/torn-tail/MANIFEST", ""),
            RepositoryFile("Fixtures/format-1/torn-tail/LOG", ""),
        ]
        #expect(FixtureListRule().violations(in: files).map(\.path) == ["Fixtures/format-1/torn-tail"])
    }

    @Test func swiftTextTellsCodeCommentsAndLiteralsApart() {
        let text = #"""
            let a = "x \(f("y")) // z" // one
            let b = """
                import Foundation "
                """ /* two /* three */ four */ + c
            let d = #"raw \ " "# + "\\" + e
            """#
        let swift = SwiftText(text)
        #expect(swift.code[0].trimmed == "let a =")
        #expect(swift.comments[0].trimmed == "// one")
        #expect(swift.code[2].trimmed == "")
        #expect(swift.code[3].trimmed == "+ c")
        #expect(swift.comments[3].trimmed == "/* two /* three */ four */")
        #expect(swift.code[4].words == ["let", "d", "e"])
    }

    @Test func camelCaseIsCutIntoWords() {
        #expect("openLogFile".camelWords == ["open", "log", "file"])
        #expect("CRC32CTable".camelWords == ["crc32c", "table"])
        #expect("LSNRange".camelWords == ["lsn", "range"])
        #expect("snake_case".camelWords == ["snake", "case"])
    }
}
