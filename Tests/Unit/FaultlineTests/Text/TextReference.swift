import Faultline
import FaultlineText

/// A search that evaluates each text by itself.
struct TextReference {
    struct Hit {
        let serial: Int
        let score: Double
    }

    private let query: TextQuery
    private let analyzer = TextAnalyzer()

    init(_ text: String, fields: [String]) throws {
        query = try TextQueryParser.parse(text, analyzer: TextAnalyzer(), fields: fields)
    }

    /// The documents that the query selects, best first, then in the order given.
    func hits(_ documents: [(serial: Int, texts: [String?])], weights: [Double]) -> [Hit] {
        let fieldCount = weights.count
        func match(_ query: TextQuery, _ texts: [String?]) -> TextMatch? {
            let matcher = TextMatcher(query: query, analyzer: analyzer, fieldCount: fieldCount)
            let bytes = texts.map { Array(($0 ?? "").utf8) }
            return bytes.flatMap { $0 }.withUnsafeBufferPointer { all in
                var start = 0
                return matcher.match(
                    fields: bytes.map { text in
                        defer { start += text.count }
                        return UnsafeBufferPointer(rebasing: all[start..<start + text.count])
                    })
            }
        }
        var statistics = BM25.Statistics(
            documentCount: documents.count, termCounts: Array(repeating: 0, count: fieldCount))
        var matches: [(serial: Int, match: TextMatch)] = []
        for document in documents {
            for (field, length) in (match(.all, document.texts)?.lengths ?? []).enumerated() {
                statistics.termCounts[field] += length
            }
            if let found = match(query, document.texts) { matches.append((document.serial, found)) }
        }
        let phrases = query.phrases
        let frequencies = phrases.map { phrase in
            let terms: TextQuery = phrase.terms.count == 1 ? .term(phrase.terms[0]) : .phrase(phrase.terms)
            let query = phrase.field.map { TextQuery.field($0, terms) } ?? terms
            return documents.count { match(query, $0.texts) != nil }
        }
        let ranking = BM25(weights: weights, fieldCount: fieldCount)
        let hits = matches.map { found in
            Hit(
                serial: found.serial,
                score: ranking.score(
                    frequencies: found.match.frequencies(phraseCount: phrases.count), lengths: found.match.lengths,
                    documentFrequencies: frequencies, statistics: statistics))
        }
        return hits.enumerated().sorted { left, right in
            left.element.score != right.element.score
                ? left.element.score > right.element.score : left.offset < right.offset
        }.map(\.element)
    }
}
