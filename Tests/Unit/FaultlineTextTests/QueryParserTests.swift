import FaultlineText
import Testing

@Suite struct QueryParserTests {
    private let fields = ["title", "caption", "größe"]

    private func parse(_ text: String) throws -> String { try query(text).text }

    private func query(_ text: String) throws(TextQueryError) -> TextQuery {
        try TextQueryParser.parse(text, analyzer: TextAnalyzer(), fields: fields)
    }

    private func error(_ text: String) -> TextQueryError? {
        do { _ = try query(text) } catch { return error }
        return nil
    }

    @Test func `words, prefixes and phrases`() throws {
        #expect(try parse("Sea") == "sea")
        #expect(try parse("sea* \"Red Boat\"") == "(sea* & [red boat])")
        #expect(try parse("\"red bo\"*") == "[red bo*]")
        #expect(try parse("“red boat” „a b“") == "([red boat] & [a b])")
        #expect(try parse("a\"b\"(c)") == "(a & b & c)")
        #expect(try parse("  sea\t\n") == "sea")
        #expect(try parse(" ") == "none")
    }

    @Test func `words of several terms are phrases`() throws {
        #expect(try parse("2026-11-28 10:30 1,234.5") == "([2026 11 28] & [10 30] & 1234.5)")
        #expect(try parse("don't example.com*") == "([don t] & [example com*])")
        #expect(try parse("C++ #tag") == "(c & tag)")
    }

    @Test func `letters of scripts without spaces are looked for as they are written`() throws {
        #expect(try parse("東京タワー") == "[東京 京タ タワ ワー]")
        #expect(try parse("東京* 東 東*") == "(東京 & 東* & 東*)")
        #expect(try parse("3월") == "[3 월*]")
    }

    @Test func `operators bind NOT before AND before OR`() throws {
        #expect(try parse("a b OR c AND d") == "((a & b) | (c & d))")
        #expect(try parse("a NOT b c") == "(a & !b & c)")
        #expect(try parse("a AND NOT (b OR c)") == "(a & !(b | c))")
        #expect(try parse("NOT a") == "(all & !a)")
        #expect(try parse("a OR NOT b") == "(a | (all & !b))")
        #expect(try parse("NOT NOT a") == "a")
        #expect(try parse("not and \"OR\" ORB") == "(not & and & or & orb)")
        #expect(try parse("a AND(b)") == "(a & b)")
    }

    @Test func `fields take the next part`() throws {
        #expect(try parse("title:sea boat") == "(0:sea & boat)")
        #expect(try parse("title: (a OR b) caption:\"red boat\"") == "(0:(a | b) & 1:[red boat])")
        #expect(try parse("größe:10 NOT title:a") == "(2:10 & !0:a)")
        #expect(try parse("title:NOT a") == "(all & !0:a)")
    }

    @Test func `near takes words, phrases and a number`() throws {
        #expect(try parse("NEAR(a b)") == "near(10: a, b)")
        #expect(try parse("NEAR( \"a b\" c* , 5 ) d") == "(near(5: [a b], c*) & d)")
        #expect(try parse("title:NEAR(a b,0)") == "0:near(0: a, b)")
        #expect(try parse("NEAR x near(a)") == "(near & x & near & a)")
    }

    @Test(arguments: [
        ("(a", "unbalanced", 0), ("a)", "unbalanced", 1), ("x \"a", "unbalanced", 2), ("a OR", "missingWord", 4),
        ("OR a", "missingWord", 0), ("a AND OR b", "missingWord", 6), ("()", "missingWord", 1),
        ("title:", "missingWord", 6), ("*", "misplacedAsterisk", 0), ("se*a", "misplacedAsterisk", 2),
        ("a **", "misplacedAsterisk", 2), ("-a", "misplacedMinus", 0), ("+", "noWord", 0), ("a \"\"", "noWord", 2),
        ("NEAR(a)", "invalidNear", 0), ("NEAR(a b, x)", "invalidNear", 10), ("NEAR(a (b))", "invalidNear", 7),
        ("NEAR(a AND b)", "invalidNear", 7), ("NEAR(title:a b)", "invalidNear", 5), ("NEAR(a b", "unbalanced", 0),
        ("NEAR(a b, 5 c)", "invalidNear", 12), ("NEAR(a b, 9999999)", "invalidNear", 10),
        ("color:red", "unknownField", 0), ("größe:a farbe:b", "unknownField", 10), ("NOT", "missingWord", 3),
    ])
    func `a text that is no query is refused with its place`(text: String, code: String, offset: Int) {
        let error = error(text)
        #expect(error?.code.rawValue == code, "\(text)")
        #expect(error?.offset == offset, "\(text)")
        #expect(error?.message.hasSuffix(".") == true)
    }

    @Test func `limits are errors`() {
        let word = String(repeating: "x", count: 255)
        #expect(error(word) == nil)
        #expect(error("a " + word + "y").map { "\($0.code) \($0.offset)" } == "wordTooLong 2")
        #expect(error(String(repeating: "ab ", count: 1_365) + "x") == nil)
        #expect(error(String(repeating: "ab ", count: 1_366))?.code == .queryTooLong)
        for nest in ["(", "NOT ", "title:", "title:(NOT "] {
            let count = 4_000 / nest.utf8.count
            #expect(error(String(repeating: nest, count: count))?.code == .tooDeep, "\(nest)")
        }
        #expect(error(String(repeating: "(", count: 63) + "a" + String(repeating: ")", count: 63)) == nil)
        #expect(TextQueryError.prefixTooShort(TextTerm(bytes: [97], isPrefix: true, offset: 3)).offset == 3)
    }

    @Test func `the error names the fields`() {
        #expect(error("color:red")?.message.contains("`title`, `caption`, `größe`") == true)
        #expect(error("color:red").map(String.init(describing:))?.hasSuffix("(byte 0 of the query)") == true)
    }
}

extension TextQuery {
    /// A short form for tests.
    var text: String {
        func words(_ terms: [TextTerm]) -> String {
            terms.count == 1 ? "\(terms[0])" : "[" + terms.map(\.description).joined(separator: " ") + "]"
        }
        switch self {
        case .term(let term): return words([term])
        case .phrase(let terms): return words(terms)
        case .near(let parts, let distance):
            return "near(\(distance): " + parts.map(words).joined(separator: ", ") + ")"
        case .and(let operands): return "(" + operands.map(\.text).joined(separator: " & ") + ")"
        case .or(let operands): return "(" + operands.map(\.text).joined(separator: " | ") + ")"
        case .not(let operand): return "!" + operand.text
        case .field(let number, let operand): return "\(number):" + operand.text
        case .all: return "all"
        case .none: return "none"
        }
    }
}
