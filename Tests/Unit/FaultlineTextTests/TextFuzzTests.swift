import FaultlineTestSupport
import FaultlineText
import Testing

/// Any bytes: nothing traps, and all results lie in the text.
@Suite struct TextFuzzTests {
    static let pieces = [
        "a", "sea", "B", "é", "e\u{301}", "東", "京", "か\u{3099}", "한", "\u{1112}\u{1161}", "ก็", "1,234", "12", ".", ",",
        "'", "\"", "“", "(", ")", "*", ":", "title:", "caption:", " ", " ", "AND ", "OR ", "NOT ", "NEAR(", ", 5)", "-",
        "_",
        "\u{0}", "\u{200D}", "\u{301}", "👍🏽", "🇩🇪", "ש\"", "\n", "x*", "ﷺ", "㍿",
    ]

    private func text(_ random: inout Seed, _ most: Int) -> String {
        (0..<random.below(most)).map { _ in random.pick(Self.pieces) }.joined()
    }

    @Test(arguments: Seed.list(20, unoptimized: 2)) func `the parser takes any text`(seed: Seed) {
        var random = seed
        var count = 0
        for round in 0..<2_000 {
            let query =
                round % 4 == 0
                ? String(decoding: random.bytes(random.below(64)), as: UTF8.self)
                : text(&random, round % 97 == 0 ? 3_000 : 12)
            do throws(TextQueryError) {
                let parsed = try TextQueryParser.parse(query, analyzer: TextAnalyzer(), fields: ["title", "caption"])
                #expect(
                    parsed.isNormal(isOperand: false), "\(query.debugDescription): \(parsed.text), \(seed.replayLine)")
                count += 1
                let matcher = TextMatcher(query: parsed, analyzer: TextAnalyzer(), fieldCount: 2)
                _ = matcher.match([text(&random, 30), text(&random, 10)])
            } catch {
                let size = query.utf8.count
                #expect(error.offset >= 0 && error.offset <= size, "\(query.debugDescription), \(seed.replayLine)")
            }
        }
        #expect(count > 100)
    }

    @Test(arguments: Seed.list(20, unoptimized: 2)) func `the analyzer takes any bytes`(seed: Seed) {
        var random = seed
        for round in 0..<1_000 {
            var bytes = round % 2 == 0 ? random.bytes(random.below(80)) : Array(text(&random, 40).utf8)
            if round % 4 == 1, !bytes.isEmpty { bytes[random.below(bytes.count)] = UInt8(random.below(256)) }
            check(TextAnalyzer().terms(bytes), bytes, seed, isOrdered: true)
            let custom = TextAnalyzer(name: "wild", version: 1, tokenizer: WildTokenizer(seed: random.next()))
            check(custom.terms(bytes), bytes, seed, isOrdered: false)
        }
    }

    private func check(_ found: [TextAnalyzer.FoundTerm], _ bytes: [UInt8], _ seed: Seed, isOrdered: Bool) {
        var start = 0
        for (index, term) in found.enumerated() {
            let size = term.term.utf8.count
            let isSound =
                term.position == index && term.range.lowerBound >= start && !term.range.isEmpty
                && term.range.upperBound <= bytes.count && size > 0 && size <= TextAnalyzer.termByteCountMax
                && !term.term.contains("\0") && !term.term.contains("\u{FFFD}")
            #expect(isSound, "\(term) of \(bytes), \(seed.replayLine)")
            if isOrdered { start = term.range.lowerBound }
        }
    }

    /// A tokenizer that returns words at random, in the text and beyond it.
    private struct WildTokenizer: TextTokenizer {
        let seed: UInt64

        func forEachWord(in text: UnsafeBufferPointer<UInt8>, _ body: (Range<Int>) -> Void) {
            var random = Seed(seed)
            for _ in 0..<8 {
                let start = random.below(text.count + 4) - 2
                body(start..<start + random.below(20))
            }
        }
    }
}

extension TextQuery {
    /// Whether the query has the shape that the parser promises.
    func isNormal(isOperand: Bool) -> Bool {
        switch self {
        case .term(let term): return !term.bytes.isEmpty
        case .phrase(let terms): return terms.count > 1
        case .near(let parts, let distance): return parts.count > 1 && distance >= 0 && !parts.contains([])
        case .and(let operands):
            let isPositive = operands.contains { if case .not = $0 { false } else { true } }
            return operands.count > 1 && isPositive && operands.allSatisfy { $0.isNormal(isOperand: true) }
        case .or(let operands): return operands.count > 1 && operands.allSatisfy { $0.isNormal(isOperand: false) }
        case .not(let operand): return isOperand && operand.isNormal(isOperand: false)
        case .field(let number, let operand): return number < 2 && operand.isNormal(isOperand: false)
        case .all: return isOperand
        case .none: return !isOperand
        }
    }
}
