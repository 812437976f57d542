import FaultlineText
import Foundation
import Testing

/// Matches and ranks beside those of SQLite's FTS5, which `Fixtures/text/bm25.txt` has.
@Suite struct BM25Tests {
    private static let fields = ["title", "caption"]
    private static let weights = [2.5, 1]

    private struct Reference {
        var documents: [[String]] = []
        var queries: [(text: String, results: [Int: Double])] = []
    }

    private static func reference() throws -> Reference {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Fixtures/text/bm25.txt").standardizedFileURL
        var reference = Reference()
        for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
            if line.hasPrefix("? ") {
                reference.queries.append((String(line.dropFirst(2)), [:]))
            } else if line.hasPrefix("= ") {
                let parts = line.split(separator: " ")
                let number = try #require(Int(parts[1]))
                reference.queries[reference.queries.count - 1].results[number] = Double(String(parts[2])) ?? .nan
            } else if !line.hasPrefix("#") {
                reference.documents.append(
                    line.split(separator: "|", omittingEmptySubsequences: false).map(String.init))
            }
        }
        return reference
    }

    /// How many documents have a phrase.
    private func frequency(of phrase: TextPhrase, in documents: [[String]], _ analyzer: TextAnalyzer) -> Int {
        let terms: TextQuery = phrase.terms.count == 1 ? .term(phrase.terms[0]) : .phrase(phrase.terms)
        let query = phrase.field.map { .field($0, terms) } ?? terms
        let matcher = TextMatcher(query: query, analyzer: analyzer, fieldCount: Self.fields.count)
        return documents.count { matcher.match($0) != nil }
    }

    @Test func `matches and ranks are those of FTS5, to six digits`() throws {
        let reference = try Self.reference()
        let analyzer = TextAnalyzer()
        var statistics = BM25.Statistics(documentCount: reference.documents.count, termCounts: [0, 0])
        for document in reference.documents {
            for (field, text) in document.enumerated() { statistics.termCounts[field] += analyzer.terms(text).count }
        }
        #expect(reference.documents.count == 60 && reference.queries.count == 32)
        let ranking = BM25(weights: Self.weights, fieldCount: 2)
        for (text, expected) in reference.queries {
            let query = try TextQueryParser.parse(text, analyzer: analyzer, fields: Self.fields)
            let phrases = query.phrases
            let frequencies = phrases.map { frequency(of: $0, in: reference.documents, analyzer) }
            let matcher = TextMatcher(query: query, analyzer: analyzer, fieldCount: 2)
            var results: [Int: Double] = [:]
            for (number, document) in reference.documents.enumerated() {
                guard let match = matcher.match(document) else { continue }
                results[number] = ranking.score(
                    frequencies: match.frequencies(phraseCount: phrases.count), lengths: match.lengths,
                    documentFrequencies: frequencies, statistics: statistics)
            }
            #expect(results.keys.sorted() == expected.keys.sorted(), "\(text)")
            for (number, rank) in expected {
                let found = results[number] ?? .nan
                #expect(abs(found - rank) <= abs(rank) * 1e-6, "\(text), document \(number): \(found), not \(rank)")
            }
        }
    }

    @Test func `a rank is a number for any statistics`() {
        let ranking = BM25(weights: [], fieldCount: 1)
        for counts in [(0, 0), (1, 0), (0, 5), (3, 9)] {
            let statistics = BM25.Statistics(documentCount: counts.0, termCounts: [counts.1])
            let rank = ranking.score(
                frequencies: [[1]], lengths: [1], documentFrequencies: [1], statistics: statistics)
            #expect(rank.isFinite && rank > 0)
        }
        #expect(BM25(weights: [3], fieldCount: 2).weights == [3, 1])
    }
}

extension TextMatcher {
    func match(_ document: [String]) -> TextMatch? { match(document.map { Array($0.utf8) }) }

    func match(_ document: [[UInt8]]) -> TextMatch? {
        withBuffers(document[...], []) { match(fields: $0) }
    }
}

/// Calls a closure with the bytes of all texts, valid during the call.
func withBuffers<R>(
    _ texts: ArraySlice<[UInt8]>, _ found: [UnsafeBufferPointer<UInt8>], _ body: ([UnsafeBufferPointer<UInt8>]) -> R
) -> R {
    guard let text = texts.first else { return body(found) }
    return text.withUnsafeBufferPointer { withBuffers(texts.dropFirst(), found + [$0], body) }
}
