internal import FaultlineLog
package import FaultlineText

/// A query over the texts of an entity, in the form in which it is evaluated.
package struct TextPlan: Sendable {
    /// A word, or the beginning of words.
    struct Atom: Sendable, Hashable {
        let term: TextTerm

        /// Whether a word of a text is the term, or begins with it.
        func matches(_ word: UnsafeBufferPointer<UInt8>) -> Bool {
            let count = term.bytes.count
            guard term.isPrefix ? word.count >= count : word.count == count else { return false }
            return term.bytes.withUnsafeBytes { bytes in
                KeyBytes.order(bytes, UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: word[..<count]))) == 0
            }
        }
    }

    /// Words that follow each other.
    struct Phrase: Sendable {
        /// Places in `atoms`; at least one.
        let atoms: [Int]
        /// Bit k: field k may have it.
        let fields: UInt32
        /// Its place among the phrases that count for the rank; nil if it is negated.
        let rank: Int?
    }

    /// The smallest part of a query: a phrase, or several that are close to each other.
    struct Leaf: Sendable {
        /// Places in `phrases`; at least one.
        let phrases: [Int]
        /// The greatest number of words between several phrases.
        let distance: Int
    }

    indirect enum Node: Sendable {
        /// A place in `leaves`.
        case leaf(Int)
        case and([Node])
        case or([Node])
        case not(Node)
        case all
        case none
    }

    private(set) var atoms: [Atom] = []
    private(set) var phrases: [Phrase] = []
    private(set) var leaves: [Leaf] = []
    private(set) var root: Node = .none
    /// Places of the phrases that count for the rank, in the order of the query.
    private(set) var ranked: [Int] = []
    package let fieldCount: Int

    /// Prepares a query.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - fieldCount: The number of fields of the index.
    ///   - fields: Bit k: field k is searched, unless a part of the query names its own.
    package init(_ query: TextQuery, fieldCount: Int, fields: UInt32 = .max) {
        self.fieldCount = fieldCount
        root = node(query, fields, isNegated: false)
    }

    private mutating func node(_ query: TextQuery, _ fields: UInt32, isNegated: Bool) -> Node {
        switch query {
        case .term(let term): return leaf([[term]], 0, fields, isNegated)
        case .phrase(let terms): return leaf([terms], 0, fields, isNegated)
        case .near(let phrases, let distance): return leaf(phrases, distance, fields, isNegated)
        case .and(let parts): return .and(parts.map { node($0, fields, isNegated: isNegated) })
        case .or(let parts): return .or(parts.map { node($0, fields, isNegated: isNegated) })
        case .not(let part): return .not(node(part, fields, isNegated: true))
        case .field(let field, let part):
            guard (0..<fieldCount).contains(field) else { return .none }
            return node(part, 1 << UInt32(field), isNegated: isNegated)
        case .all: return .all
        case .none: return .none
        }
    }

    private mutating func leaf(_ parts: [[TextTerm]], _ distance: Int, _ fields: UInt32, _ isNegated: Bool) -> Node {
        guard !parts.isEmpty, !parts.contains(where: \.isEmpty) else { return .none }
        let places = parts.map { terms in
            let atoms = terms.map { add(Atom(term: $0)) }
            phrases.append(Phrase(atoms: atoms, fields: fields, rank: isNegated ? nil : ranked.count))
            if !isNegated { ranked.append(phrases.count - 1) }
            return phrases.count - 1
        }
        leaves.append(Leaf(phrases: places, distance: distance))
        return .leaf(leaves.count - 1)
    }

    /// Adds an atom, or finds an equal one.
    private mutating func add(_ atom: Atom) -> Int {
        if let place = atoms.firstIndex(of: atom) { return place }
        atoms.append(atom)
        return atoms.count - 1
    }
}

extension TextPlan {
    /// The ranked phrases whose objects are among those of the query, each with the leaf that it is.
    ///
    /// The query is one phrase, or one of several.
    var freelyCounted: [(rank: Int, leaf: Int)] {
        let nodes = if case .or(let nodes) = root { nodes } else { [root] }
        return nodes.compactMap { node in
            guard case .leaf(let place) = node, leaves[place].phrases.count == 1 else { return nil }
            return phrases[leaves[place].phrases[0]].rank.map { ($0, place) }
        }
    }

    /// The term of a phrase that is one word in any field: each object that has an entry of it has the phrase.
    func wholeTerm(_ phrase: Int) -> [UInt8]? {
        let phrase = phrases[phrase]
        guard phrase.atoms.count == 1, phrase.fields & allFields == allFields else { return nil }
        let term = atoms[phrase.atoms[0]].term
        return term.isPrefix ? nil : term.bytes
    }

    /// Bit k: the index has field k.
    var allFields: UInt32 { UInt32.max >> UInt32(32 - min(max(fieldCount, 1), 32)) }
}
