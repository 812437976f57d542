/// Evaluates a query over the text of one document, without an index.
///
/// Searches use it for documents that an index does not have, predicates for rows, and results for their highlights. Its
/// answers define those of an index.
package struct TextMatcher: Sendable {
    private let analyzer: TextAnalyzer
    private let fieldCount: Int
    private let query: MatchNode
    private let phrases: [MatchPhrase]
    private let terms: QueryTerms

    /// Prepares a query.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - analyzer: Finds the terms of texts.
    ///   - fieldCount: The number of fields of a document: at most 32.
    ///   - fields: Bit k: field k is searched, unless a part of the query names its own.
    package init(query: TextQuery, analyzer: TextAnalyzer, fieldCount: Int, fields: UInt32 = .max) {
        var builder = MatchBuilder()
        self.query = builder.node(query, fields: fields, isScored: true)
        phrases = builder.phrases
        terms = builder.terms
        self.analyzer = analyzer
        self.fieldCount = fieldCount
    }

    /// Matches a document.
    ///
    /// - Parameter fields: The UTF-8 of each field, valid during the call. An absent field is empty.
    /// - Returns: The occurrences, or nil if the query does not match the document.
    /// - Complexity: Linear in the text; allocates memory for each occurrence of a term of the query.
    package func match(fields: [UnsafeBufferPointer<UInt8>]) -> TextMatch? {
        var document = MatchDocument(termCount: terms.count, fieldCount: fieldCount)
        for (field, text) in fields.prefix(fieldCount).enumerated() {
            analyzer.forEachTerm(in: text) { term, position, range in
                document.lengths[field] = position + 1
                terms.forEachMatch(of: term) { number in
                    document.add(number, field: field, MatchOccurrence(position: position, range: range))
                }
            }
        }
        var hits: [TextMatch.Hit] = []
        guard evaluate(query, document, &hits) else { return nil }
        return TextMatch(hits: hits, lengths: document.lengths)
    }

    /// Adds the occurrences of a part of the query, and returns whether the document matches it.
    ///
    /// Of a part that does not match, none are added.
    private func evaluate(_ node: MatchNode, _ document: MatchDocument, _ hits: inout [TextMatch.Hit]) -> Bool {
        let start = hits.count
        switch node {
        case .all:
            return true
        case .none:
            return false
        case .phrase(let number):
            for field in 0..<fieldCount {
                add(document.instances(of: phrases[number], field: field), of: number, field: field, to: &hits)
            }
            return hits.count > start
        case .near(let numbers, let distance):
            let near = MatchNear(distance: distance)
            var found = numbers.map { _ in [TextMatch.Hit]() }
            for field in 0..<fieldCount {
                let instances = numbers.map { document.instances(of: phrases[$0], field: field) }
                for (index, kept) in near.filter(instances, lengths: numbers.map { phrases[$0].terms.count })
                    .enumerated()
                {
                    add(kept, of: numbers[index], field: field, to: &found[index])
                }
            }
            for part in found { hits += part }
            return !found[0].isEmpty
        case .and(let operands):
            guard operands.allSatisfy({ evaluate($0, document, &hits) }) else {
                hits.removeSubrange(start...)
                return false
            }
            return true
        case .or(let operands):
            return operands.reduce(false) { evaluate($1, document, &hits) || $0 }
        case .not(let operand):
            defer { hits.removeSubrange(start...) }
            return !evaluate(operand, document, &hits)
        }
    }

    private func add(_ instances: [MatchOccurrence], of number: Int, field: Int, to hits: inout [TextMatch.Hit]) {
        let phrase = phrases[number]
        for instance in instances {
            hits.append(
                TextMatch.Hit(
                    phrase: phrase.number, field: field,
                    positions: instance.position..<instance.position + phrase.terms.count, range: instance.range))
        }
    }
}
