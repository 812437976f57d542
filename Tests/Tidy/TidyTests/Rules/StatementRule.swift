/// Each statement of docs/Conformance.md has a test with its number: `S49` in the name of a test.
struct StatementRule: TidyRule {
    static let page = "docs/Conformance.md"

    func violations(in files: [RepositoryFile]) -> [Violation] {
        guard let page = files.first(where: { $0.path == Self.page }) else { return [] }
        var tested: Set<String> = []
        for file in files where file.path.hasPrefix("Tests/") && file.path.hasSuffix(".swift") {
            for line in file.lines where Self.namesATest(line) { tested.formUnion(Self.numbers(in: line)) }
        }
        return page.lines.enumerated().flatMap { index, line -> [Violation] in
            Self.statements(of: line).filter { !tested.contains($0) }.map {
                Violation(
                    path: Self.page, line: index + 1,
                    message: "has the statement \($0), and no test has this number in its name; add it")
            }
        }
    }

    private static func namesATest(_ line: Substring) -> Bool {
        line.contains("@Test") || line.contains("func `") || line.contains("@Suite")
    }

    /// The numbers of the statements in the first cell of a row: `C9, C10` are two, `S57 to S70` fourteen.
    static func statements(of line: Substring) -> [String] {
        guard line.hasPrefix("| "), let cell = line.split(separator: "|").first else { return [] }
        let numbers = numbers(in: cell)
        guard cell.contains(" to "), numbers.count == 2, let first = Int(numbers[0].dropFirst()),
            let last = Int(numbers[1].dropFirst()), first < last
        else { return numbers }
        return (first...last).map { "\(numbers[0].prefix(1))\($0)" }
    }

    private static func numbers(in text: Substring) -> [String] {
        text.split { !$0.isLetter && !$0.isNumber }.map(String.init).filter { word in
            (2...3).contains(word.count) && "CS".contains(word.prefix(1)) && word.dropFirst().allSatisfy(\.isNumber)
        }
    }
}
