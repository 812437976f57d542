/// A query over the terms of a document, as `TextQueryParser` makes it of a text.
///
/// `not` stands only in `and`, beside at least one operand that is no `not`: a query for all documents without a word is
/// `and([all, not(word)])`. `and` and `or` have at least two operands. Fields are numbers, in the order of the names
/// that the parser was given.
package indirect enum TextQuery: Sendable, Hashable {
    /// A word, or a prefix.
    case term(TextTerm)
    /// At least two terms at positions that follow each other, in one field. Any of them may be a prefix.
    case phrase([TextTerm])
    /// At least two phrases, each of one term or more, in one field and in any order, with at most `distance` terms
    /// between the end of the first one and the start of the last one.
    case near([[TextTerm]], distance: Int)
    case and([TextQuery])
    case or([TextQuery])
    case not(TextQuery)
    /// A query whose terms are looked for in one field only. The innermost field counts.
    case field(Int, TextQuery)
    /// All documents.
    case all
    /// No document: a query without a word.
    case none

    /// Most bytes of a query's text.
    package static let byteCountMax = 4_096
    /// Most terms that a prefix may stand for in an index.
    package static let expansionMax = 1_024
    /// Most parts of a query's text that lie in each other.
    package static let depthMax = 64
    /// Positions that `NEAR` allows in between if no number is given.
    package static let nearDistance = 10
    /// Most positions that `NEAR` allows in between.
    package static let nearDistanceMax = 999_999
}

// Queries of the promised shape. Only `negation` and `restriction` may be a `not`, as an operand of `conjunction`.
extension TextQuery {
    /// The query for terms that follow each other.
    static func sequence(of terms: [TextTerm]) -> TextQuery {
        terms.isEmpty ? .none : terms.count == 1 ? .term(terms[0]) : .phrase(terms)
    }

    static func conjunction(of operands: [TextQuery]) -> TextQuery {
        var all = operands
        if operands.allSatisfy(\.isNegation) { all.insert(.all, at: 0) }
        return all.count == 1 ? all[0] : .and(all)
    }

    static func disjunction(of operands: [TextQuery]) -> TextQuery {
        operands.isEmpty ? .none : operands.count == 1 ? operands[0] : .or(operands)
    }

    static func negation(of operand: TextQuery) -> TextQuery {
        if case .not(let twice) = operand { twice } else { .not(operand) }
    }

    static func restriction(of operand: TextQuery, to field: Int) -> TextQuery {
        if case .not(let inner) = operand { .not(.field(field, inner)) } else { .field(field, operand) }
    }

    /// The query with other numbers of its fields: of field k the one at place k.
    func numbered(_ numbers: [Int]) -> TextQuery {
        switch self {
        case .and(let operands): .and(operands.map { $0.numbered(numbers) })
        case .or(let operands): .or(operands.map { $0.numbered(numbers) })
        case .not(let operand): .not(operand.numbered(numbers))
        case .field(let field, let operand): .field(numbers[field], operand.numbered(numbers))
        case .term, .phrase, .near, .all, .none: self
        }
    }

    private var isNegation: Bool { if case .not = self { true } else { false } }
}
