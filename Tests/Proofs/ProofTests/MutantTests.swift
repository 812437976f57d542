import Foundation
import MutantSimulation
import Testing

/// Checks the lists of mutants against the source code, and tests the insertion of mutants.
struct MutantTests {
    private static var repository: URL {
        URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..").standardizedFileURL
    }

    /// Detects changed code without running `make mutants` after each change.
    @Test func `each mutant finds its lines, exactly once`() throws {
        let mutants = try MutantBuild.mutants(of: Self.repository)
        let engine = mutants.filter { $0.module == "FaultlineLog" }
        let above = mutants.filter { $0.module != "FaultlineLog" }
        #expect(engine.count >= 60 && above.count >= 60)
        #expect(engine.count { $0.isChosen } == 10 && above.count { $0.isChosen } == 10)
        #expect(Set(mutants.map(\.name)).count == mutants.count)
        let files = try MutantBuild.changedFiles(mutants) { name in
            try String(contentsOf: Self.repository.appending(path: "Sources/\(name)"), encoding: .utf8)
        }
        #expect(files.count > 20)
    }

    @Test func `the tests that must kill a mutant exist`() throws {
        let tests = try Self.tests()
        #expect(tests.count > 1_000)
        for mutant in try MutantBuild.mutants(of: Self.repository) {
            guard case .tests(let words) = mutant.killer else { continue }
            for word in words.split(separator: "|") {
                #expect(tests.contains { $0.contains("/" + word) }, "\(mutant.name): no test matches \(word)")
            }
        }
    }

    /// The tests of all files, as "/Suite/function".
    private static func tests() throws -> [String] {
        let tests = try #require(FileManager.default.enumerator(atPath: repository.appending(path: "Tests").path))
        var names: [String] = []
        for case let path as String in tests where path.hasSuffix("Tests.swift") {
            let file = repository.appending(path: "Tests/\(path)")
            var suite = Substring()
            for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
                let words = line.split(separator: " ")
                if !line.hasPrefix(" "), let type = words.first(where: { $0.first?.isUppercase == true }) {
                    suite = type.prefix { $0.isLetter || $0.isNumber }
                }
                guard let place = line.range(of: "func ") else { continue }
                names.append("/\(suite)/\(line[place.upperBound...].prefix { $0 != "(" })")
            }
        }
        return names
    }

    private static let entry = """
        # A remark.
        mutant two
        rule   two is two
        file   A.swift
        killer crash 3-4 images 5
        chosen
         one
        -two
        +three
        """

    @Test func `an entry says all that is needed, once`() throws {
        let mutant = try #require(try MutantList.parse(Self.entry).first)
        #expect(mutant.name == "two" && mutant.rule == "two is two" && mutant.file == "A.swift" && mutant.isChosen)
        #expect(mutant.killer == .proof(.crash, seeds: 3...4, imageCount: 5))
        #expect(try MutantList.parse("\n\n" + Self.entry + "\n\n" + Self.entry).count == 2)
        for (part, other) in [
            ("rule   two is two\n", ""), ("rule", "role"), ("chosen", "file B.swift"), ("3-4", "4-3"),
            ("images 5", "5"),
            ("crash 3-4 images 5", "CrashTests"), ("\n one\n-two\n+three", ""), ("\n-two\n+three", ""),
        ] {
            #expect(throws: MutantList.Fault.self) {
                try MutantList.parse(Self.entry.replacing(part, with: other))
            }
        }
    }

    @Test func `a change becomes a branch, or its own text`() throws {
        let mutant = try #require(try MutantList.parse(Self.entry).first)
        var text = MutatedText("one\ntwo\nfour")
        try text.add(mutant, number: 7)
        #expect(text.text == "one\nif mutant == 7 {\nthree\n} else {\ntwo\n}\nfour")
        // The same line again, missing lines, and lines that occur twice.
        #expect(throws: MutatedText.Fault.self) { try text.add(mutant, number: 8) }
        for other in ["one\nthree", "one\ntwo\none\ntwo"] {
            var text = MutatedText(other)
            #expect(throws: MutatedText.Fault.self) { try text.add(mutant, number: 7) }
        }

        let condition = try #require(
            try MutantList.parse(Self.entry.replacing("+three", with: "+isMutant || two\n+three")).first)
        text = MutatedText("one\ntwo\nfour")
        try text.add(condition, number: 9)
        #expect(text.text == "one\n(mutant == 9) || two\nthree\nfour")

        let insertion = try #require(try MutantList.parse(Self.entry.replacing("-two\n", with: "")).first)
        text = MutatedText("one\ntwo")
        try text.add(insertion, number: 3)
        #expect(text.text == "one\nif mutant == 3 {\nthree\n}\ntwo")
    }

    @Test(arguments: ["one\ntwo\n    && four", "one\ntwo\n    .four()", "one\nlet two = 2\nfour"])
    func `a change that cannot be a branch is refused before the compiler sees it`(_ source: String) throws {
        let original = source.contains("let") ? "-let two = 2" : "-two"
        let mutant = try #require(try MutantList.parse(Self.entry.replacing("-two", with: original)).first)
        var text = MutatedText(source)
        #expect(throws: MutatedText.Fault.self) { try text.add(mutant, number: 1) }

        let condition = try #require(
            try MutantList.parse(
                Self.entry.replacing("-two", with: original).replacing("+three", with: "+isMutant")
            ).first)
        try text.add(condition, number: 1)
    }
}
