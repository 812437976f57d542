import FaultlineTestSupport
import FaultlineText
import Testing

@Suite struct MatcherTests {
    private let analyzer = TextAnalyzer()
    private static let fields = ["title", "caption"]

    private func match(_ query: String, _ document: String...) throws -> TextMatch? {
        let query = try TextQueryParser.parse(query, analyzer: analyzer, fields: Self.fields)
        return TextMatcher(query: query, analyzer: analyzer, fieldCount: 2).match(document)
    }

    private func highlights(_ query: String, _ text: String) throws -> [String]? {
        try match(query, text, "").map { match in
            let bytes = Array(text.utf8)
            return match.highlights(in: 0).map { String(decoding: bytes[$0], as: UTF8.self) }
        }
    }

    @Test func `words match in any case, form and order`() throws {
        #expect(try match("SEA straße", "Strasse am", "Ｓea") != nil)
        #expect(try match("sea winter", "the sea", "") == nil)
        #expect(try match("title:sea", "red", "the sea") == nil)
        #expect(try match("\"red boat\"", "a red", "boat") == nil)
    }

    @Test func `scripts without spaces match any part of a run`() throws {
        for query in ["東", "京タワ", "ワー", "ー", "東京タワー", "京*"] {
            #expect(try match(query, "高い東京タワー", "") != nil, "\(query)")
        }
        for query in ["京東", "東タ", "か"] {
            #expect(try match(query, "東京タワーが", "") == nil, "\(query)")
        }
        #expect(try match("がき", "か\u{3099}き", "") != nil)
    }

    @Test func `highlights cover phrases and join where they overlap`() throws {
        #expect(try highlights("\"red boat\" se*", "The red, Boat and seals, sea") == ["red, Boat", "seals", "sea"])
        #expect(try highlights("東京 京タ", "高い東京タワー") == ["東京タ"])
        #expect(try highlights("e\u{301}te", "l'été é") == ["été"])
        #expect(try highlights("a NOT b", "a a") == ["a", "a"])
        #expect(try highlights("NEAR(a c, 1)", "a x a b c x x x c a a") == ["a", "c", "c", "a", "a"])
        #expect(try highlights("(a b) OR c", "a c") == ["c"])
    }

    @Test func `snippets show the most phrases, in their middle`() throws {
        let text = "sea 1 2 3 4 5 6 7 8 red sea boat 9 10 11 12 13 14 sea sea sea sea."
        let found = try #require(try match("sea OR red OR boat", text, ""))
        func snippet(_ count: Int, _ field: Int? = nil) -> (String, [String], Bool, Bool)? {
            withBuffers([Array(text.utf8), []][...], []) { fields in
                found.snippet(termCount: count, fields: fields, field: field, analyzer: analyzer)
            }.map { snippet in
                let bytes = Array(text.utf8)
                func part(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
                return (part(snippet.range), snippet.highlights.map(part), snippet.isCut.before, snippet.isCut.after)
            }
        }
        #expect(try #require(snippet(5)) == ("8 red sea boat 9", ["red", "sea", "boat"], true, true))
        #expect(try #require(snippet(1)) == ("sea", ["sea"], false, true))
        #expect(try #require(snippet(100)).0 == text)
        #expect(try #require(snippet(3, 1)) == ("", [], false, false))
        #expect(snippet(3, 2) == nil)
    }

    // MARK: Against a plain evaluation

    /// A document of terms, and the evaluation of a query over it by the definitions alone.
    private struct Reference {
        let document: [[String]]

        /// The starts of a phrase's occurrences in a field.
        func starts(_ terms: [TextTerm], _ field: Int) -> [Int] {
            document[field].indices.filter { start in
                terms.indices.allSatisfy { index in
                    guard start + index < document[field].count else { return false }
                    let wanted = String(decoding: terms[index].bytes, as: UTF8.self)
                    let term = document[field][start + index]
                    return terms[index].isPrefix ? Array(term.utf8).starts(with: wanted.utf8) : term == wanted
                }
            }
        }

        /// The number of occurrences of each scored phrase, or nil.
        func counts(_ query: TextQuery, _ field: Int?) -> [Int]? {
            let fields = field.map { [$0] } ?? Array(document.indices)
            switch query {
            case .all: return []
            case .none: return nil
            case .term(let term): return counts(.phrase([term]), field)
            case .phrase(let terms):
                let count = fields.reduce(0) { $0 + starts(terms, $1).count }
                return count > 0 ? [count] : nil
            case .near(let parts, let distance):
                var kept = parts.map { _ in Set<[Int]>() }
                for field in fields {
                    let all = parts.map { starts($0, field) }
                    for clump in Self.choices(all) where Self.isClump(clump, parts.map(\.count), distance) {
                        for part in parts.indices { kept[part].insert([field, clump[part]]) }
                    }
                }
                return kept.contains([]) ? nil : kept.map(\.count)
            case .and(let operands):
                let all = operands.map { counts($0, field) }
                return all.contains(nil) ? nil : all.flatMap { $0 ?? [] }
            case .or(let operands):
                let all = operands.map { counts($0, field) }
                guard all.contains(where: { $0 != nil }) else { return nil }
                return zip(all, operands).flatMap { $0 ?? $1.phrases.map { _ in 0 } }
            case .not(let operand): return counts(operand, field) == nil ? [] : nil
            case .field(let inner, let operand): return counts(operand, inner)
            }
        }

        private static func choices(_ lists: [[Int]]) -> [[Int]] {
            lists.reduce([[]]) { chosen, list in chosen.flatMap { part in list.map { part + [$0] } } }
        }

        private static func isClump(_ starts: [Int], _ lengths: [Int], _ distance: Int) -> Bool {
            let last = starts.max() ?? 0
            return zip(starts, lengths).allSatisfy { last - ($0 + $1) <= distance }
        }
    }

    private func phrase(_ random: inout Seed) -> [TextTerm] {
        (0..<(random.oneIn(3) ? 2 + random.below(2) : 1)).map { _ in
            TextTerm(bytes: Array(random.pick(["a", "b", "ab", "abc", "é", "дом"]).utf8), isPrefix: random.oneIn(4))
        }
    }

    private func query(_ random: inout Seed, depth: Int) -> TextQuery {
        switch random.below(depth > 2 ? 4 : 9) {
        case 0...3:
            let terms = phrase(&random)
            return terms.count == 1 ? .term(terms[0]) : .phrase(terms)
        case 4: return .near([phrase(&random), phrase(&random)], distance: random.below(4))
        case 5: return .and([query(&random, depth: depth + 1), query(&random, depth: depth + 1)])
        case 6: return .or([query(&random, depth: depth + 1), query(&random, depth: depth + 1)])
        case 7: return .and([query(&random, depth: depth + 1), .not(query(&random, depth: depth + 1))])
        default: return .field(random.below(2), query(&random, depth: depth + 1))
        }
    }

    @Test(arguments: Seed.list(20, unoptimized: 4)) func `matches are those of a plain evaluation`(seed: Seed) {
        var random = seed
        var found = 0
        for _ in 0..<2_000 {
            let document = (0..<2).map { _ in
                (0..<random.below(9)).map { _ in random.pick(["a", "b", "ab", "abc", "abd", "e", "дом", "дома"]) }
            }
            let query = query(&random, depth: 0)
            let matcher = TextMatcher(query: query, analyzer: analyzer, fieldCount: 2)
            let match = matcher.match(document.map { $0.joined(separator: ", ") })
            let expected = Reference(document: document).counts(query, nil)
            let phraseCount = query.phrases.count
            let counts = match.map { match in match.frequencies(phraseCount: phraseCount).map { $0[0] + $0[1] } }
            #expect(counts == expected, "\(query.text) on \(document), \(seed.replayLine)")
            if match != nil { found += 1 }
        }
        #expect(found > 100)
    }
}
