import FaultlineCoreData
import FaultlineTestSupport
import Testing

/// Expressions and conditions: their text, and their archives.
struct MappingExpressionTests {
    /// The expression of a text, as a path of a relationship has it; nil if it cannot be read.
    private func read(_ text: String) throws -> MappingExpression? {
        let escaped = text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
        let mapping = WrittenMapping(
            from: "A", to: "B", properties: [.init(name: "x", isRelationship: true, path: escaped, mapping: "M")])
        let file = try MappingModelFile(xml: MappingText.model([mapping]), name: "AB")
        guard file.findings.isEmpty,
            case .function(_, _, let arguments) = try #require(file.mappings[0].relationships[0].expression)
        else { return nil }
        return arguments[1]
    }

    /// The condition of a text; nil if it cannot be read, or selects all.
    private func condition(_ text: String) throws -> MappingPredicate? {
        let mapping = WrittenMapping(from: "A", to: "B", condition: text)
        let file = try MappingModelFile(xml: MappingText.model([mapping]), name: "AB")
        return file.findings.isEmpty ? file.mappings[0].filter : nil
    }

    @Test(arguments: [
        ("$source.author.name", "$source.author.name"), ("$source", "$source"), ("42", "42"), ("-1.5e2", "-150.0"),
        ("'it''", ""), ("\"a \\\"b\\\"\"", "\"a \\\"b\\\"\""), ("nil", "nil"), ("NULL", "nil"), ("TRUE", "YES"),
        ("$source.books.@sum.price", "$source.books.@sum.price"), ("$source.first.#size", "$source.first.size"),
        ("1 + 2 * 3 - $source.a / 4", "((1 + (2 * 3)) - ($source.a / 4))"), ("(1 + 2) * 3", "((1 + 2) * 3)"),
        ("2 ** 3", "(2 ** 3)"), ("-$source.a", "(0 - $source.a)"), ("{1, 'b', {}}", "{1, \"b\", {}}"),
        ("uppercase:($source.name)", "uppercase:($source.name)"),
        ("lowercase($source.name)", "lowercase:($source.name)"),
        ("now()", "now()"), ("sum({1, 2})", "sum:({1, 2})"), ("add:to:(1, 2)", "(1 + 2)"),
        ("CAST($source.day, 'NSDate')", "CAST($source.day, \"NSDate\")"),
        ("FUNCTION($entityPolicy, 'convert:', $source.a)", "FUNCTION($entityPolicy, \"convert:\", $source.a)"),
        ("TERNARY(a > 1 AND b == nil, 1, 2)", "TERNARY(a > 1 AND b == nil, 1, 2)"),
        ("SUBQUERY($source.books, $b, $b.pages > 3)", "SUBQUERY($source.books, $b, $b.pages > 3)"),
        ("FETCH($manager, $source, NO)", "FETCH($manager, $source, NO)"), ("$", ""), ("a b", ""), ("(1", ""),
        ("FUNCTION($source)", ""), ("1 +", ""), ("a[0]", ""), ("%@", ""), ("a == 1", ""), ("TERNARY(1, 2, 3)", ""),
    ]) func `text gives an expression, and its description reads the same`(text: String, expected: String) throws {
        // A path of a relationship that begins without a variable begins in the old object.
        let found = try read(text)
        #expect((found?.description ?? "") == expected)
        if let found { #expect(try read(found.description) == found) }
    }

    @Test(arguments: [
        ("isTemplate = 1", "isTemplate == 1"), ("a <> 1 || b => 2 && !(c =< 3)", "a != 1 OR (b >= 2 AND (NOT c <= 3))"),
        ("NOT NOT a == 1", "a == 1"), ("name LIKE[cd] 'a*' or x in {1, 2}", "name LIKE[cd] \"a*\" OR x IN {1, 2}"),
        ("ANY books.pages > 10", "ANY books.pages > 10"),
        ("NONE books.pages BETWEEN {1, 2}", "NONE books.pages BETWEEN {1, 2}"),
        ("(a == 1) and (b == 2 or c == 3)", "a == 1 AND (b == 2 OR c == 3)"), ("3 < a", "3 < a"),
        ("title MATCHES '[a-h].*'", "title MATCHES \"[a-h].*\""),
        ("TRUEPREDICATE AND a == 1", "TRUEPREDICATE AND a == 1"),
        ("FALSEPREDICATE", "FALSEPREDICATE"), ("SELF.a ENDSWITH 'x'", "a ENDSWITH \"x\""), ("a ==", ""), ("a", ""),
        ("a == 1 b", ""), ("a LIKE[x] 'b'", ""), ("ANY a", ""), ("a == 1 AND 2", ""),
    ]) func `text gives a condition, and its description reads the same`(text: String, expected: String) throws {
        let found = try condition(text)
        #expect((found?.description ?? "") == expected)
        if let found { #expect(try condition(found.description) == found) }
    }

    @Test func `deep, long and endless texts are refused, and never trap`() throws {
        #expect(try read(String(repeating: "(", count: 60) + "1" + String(repeating: ")", count: 60)) != nil)
        #expect(try read(String(repeating: "(", count: 65) + "1" + String(repeating: ")", count: 65)) == nil)
        #expect(try read(String(repeating: "(", count: 60_000)) == nil)
        #expect(try read("1" + String(repeating: "+1", count: 256)) != nil)
        #expect(try read("1" + String(repeating: "+1", count: 257)) == nil)
        #expect(try condition(String(repeating: "NOT ", count: 15_001) + "a == 1")?.description == "NOT a == 1")
        #expect(try condition("a == 1" + String(repeating: " AND a == 1", count: 5_000)) != nil)
        #expect(try condition("a == '" + String(repeating: "x", count: 64 << 10) + "'") == nil)
        let whole = "ANY a.b >= FUNCTION($source, 'x:', {1, 2.5}) AND NOT (c LIKE[c] 'd*' OR e == nil)"
        for length in 0..<whole.count { _ = try condition(String(whole.prefix(length))) }
        for offset in 0..<whole.count {
            for sign in "()[]{}$@#\".,'" {
                var changed = Array(whole)
                changed[offset] = sign
                _ = try condition(String(changed))
            }
        }
    }

    // MARK: Archives

    private static func value(_ seed: inout Seed) -> ModelVersion.Value? {
        switch Int.random(in: 0..<10, using: &seed) {
        case 0: nil
        case 1: .flag(.random(using: &seed))
        case 2: .integer(.random(in: -9...9, using: &seed))
        case 3: .number(0.5)
        case 4: .date(Date(timeIntervalSinceReferenceDate: 86_400))
        case 5: .data(Data([1, 2, 3]))
        case 6: .decimal(7)
        case 7: URL(string: "https://a.b/c").map(ModelVersion.Value.url)
        default: .text("t\(Int.random(in: 0..<9, using: &seed))")
        }
    }

    private static func expression(_ seed: inout Seed, depth: Int) -> MappingExpression {
        func part() -> MappingExpression { expression(&seed, depth: depth + 1) }
        let condition = MappingPredicate.comparison(
            .init(left: .keyPath(nil, "a.b"), sign: .equal, right: .constant(.integer(3))))
        switch Int.random(in: 0..<(depth > 3 ? 4 : 12), using: &seed) {
        case 0: return .constant(value(&seed))
        case 1: return .variable("source")
        case 2: return .keyPath(.variable("source"), "a.@sum.b")
        case 3: return .object
        case 4: return .keyPath(nil, "name")
        case 5: return .function(part(), "convert:", [part()])
        case 6: return .call("add:to:", [part(), part()])
        case 7: return .list([part(), part(), part()])
        case 8: return .subquery(part(), "x", condition)
        case 9: return .conditional(.constant(false), part(), part())
        case 10: return .fetch(part(), part(), countsOnly: .random(using: &seed))
        default: return .call("now", [])
        }
    }

    @Test func `archives give the expressions that they were made of`() throws {
        var seed = Seed(42)
        let expressions = (0..<60).map { _ in Self.expression(&seed, depth: 0) }
        let mapping = WrittenMapping(
            name: "M", from: "A", to: "B",
            properties: expressions.enumerated().map { .attribute("p\($0)", $1) })
        let file = try MappingModelFile(compiled: ArchiveWriter.mappingModel([mapping]), name: "AB")
        #expect(file.findings == [])
        for (property, expression) in zip(file.mappings[0].attributes, expressions) {
            #expect(property.expression == expression, "\(expression)")
        }
        let text = try MappingModelFile(xml: MappingText.model([mapping]), name: "AB")
        #expect(text.mappings[0].attributes.map(\.expression) == expressions)
    }
}
