/// A part of a query that is found and ranked as a whole: a word, a prefix, or terms that follow each other.
package struct TextPhrase: Sendable, Hashable {
    package let terms: [TextTerm]
    /// The only field in which the phrase counts; nil for all.
    package let field: Int?

    package init(terms: [TextTerm], field: Int?) {
        self.terms = terms
        self.field = field
    }
}

extension TextQuery {
    /// The phrases that add to the rank of a document, from left to right: all that lie in no `not`.
    ///
    /// A phrase that is written twice is there twice, as FTS5 has it. `TextMatch` and `BM25` number phrases as this list
    /// does.
    package var phrases: [TextPhrase] {
        var phrases: [TextPhrase] = []
        collect(into: &phrases, field: nil)
        return phrases
    }

    private func collect(into phrases: inout [TextPhrase], field: Int?) {
        switch self {
        case .term(let term): phrases.append(TextPhrase(terms: [term], field: field))
        case .phrase(let terms): phrases.append(TextPhrase(terms: terms, field: field))
        case .near(let parts, distance: _): phrases += parts.map { TextPhrase(terms: $0, field: field) }
        case .and(let operands), .or(let operands):
            for operand in operands { operand.collect(into: &phrases, field: field) }
        case .field(let inner, let operand): operand.collect(into: &phrases, field: inner)
        case .not, .all, .none: break
        }
    }
}
