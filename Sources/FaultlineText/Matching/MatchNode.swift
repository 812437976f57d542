/// A query whose phrases and terms are numbers.
indirect enum MatchNode: Sendable {
    case phrase(Int)
    case near([Int], distance: Int)
    case and([MatchNode])
    case or([MatchNode])
    case not(MatchNode)
    case all
    case none
}

/// A phrase of a query, with the numbers of its terms.
struct MatchPhrase: Sendable {
    let terms: [Int]
    /// Bit k: field k may have it.
    let fields: UInt32
    /// Its place in `TextQuery.phrases`; 0 in a `not`, whose occurrences are dropped.
    let number: Int
}

/// Numbers the phrases and terms of a query.
struct MatchBuilder {
    private(set) var phrases: [MatchPhrase] = []
    private(set) var terms = QueryTerms()
    private var scoredCount = 0

    mutating func node(_ query: TextQuery, fields: UInt32, isScored: Bool) -> MatchNode {
        switch query {
        case .term(let term): .phrase(phrase([term], fields, isScored))
        case .phrase(let terms): .phrase(phrase(terms, fields, isScored))
        case .near(let parts, let distance): .near(parts.map { phrase($0, fields, isScored) }, distance: distance)
        case .and(let operands): .and(operands.map { node($0, fields: fields, isScored: isScored) })
        case .or(let operands): .or(operands.map { node($0, fields: fields, isScored: isScored) })
        case .not(let operand): .not(node(operand, fields: fields, isScored: false))
        case .field(let inner, let operand):
            node(operand, fields: (0..<32).contains(inner) ? 1 << UInt32(inner) : 0, isScored: isScored)
        case .all: .all
        case .none: .none
        }
    }

    private mutating func phrase(_ terms: [TextTerm], _ fields: UInt32, _ isScored: Bool) -> Int {
        let numbers = terms.map { self.terms.number(of: $0) }
        phrases.append(MatchPhrase(terms: numbers, fields: fields, number: isScored ? scoredCount : 0))
        if isScored { scoredCount += 1 }
        return phrases.count - 1
    }
}

/// The different terms of a query, found by their first byte.
struct QueryTerms: Sendable {
    private var terms: [TextTerm] = []
    private var numbers: [TextTerm: Int] = [:]
    private var byFirstByte = [[Int]](repeating: [], count: 256)

    var count: Int { terms.count }

    mutating func number(of term: TextTerm) -> Int {
        if let number = numbers[term] { return number }
        let number = terms.count
        terms.append(term)
        numbers[term] = number
        if let first = term.bytes.first { byFirstByte[Int(first)].append(number) }
        return number
    }

    /// Calls a closure with the number of each term of the query that a term of a document is, or begins with.
    func forEachMatch(of term: UnsafeBufferPointer<UInt8>, _ body: (Int) -> Void) {
        guard let first = term.first else { return }
        for number in byFirstByte[Int(first)] {
            let wanted = terms[number]
            guard wanted.isPrefix ? wanted.bytes.count <= term.count : wanted.bytes.count == term.count else {
                continue
            }
            if wanted.bytes.elementsEqual(term.prefix(wanted.bytes.count)) { body(number) }
        }
    }
}
