package import FaultlineText

/// The texts of one object, evaluated without an index: of a row that is set aside, has unsaved values, or is read
/// because there is no index.
package struct TextDocument: Sendable {
    private let plan: TextPlan
    private let analyzer: TextAnalyzer
    /// By leaf, and by phrase.
    private let leaves: [LeafMatcher]
    private let phrases: [LeafMatcher]
    /// By atom: the places of its words, ascending, because the texts come in the order of their fields.
    private var places: [[UInt64]]
    /// Words of each field.
    private(set) var lengths: [Int]

    package init(_ plan: TextPlan, _ analyzer: TextAnalyzer) {
        self.plan = plan
        self.analyzer = analyzer
        let lists = Dictionary(uniqueKeysWithValues: plan.atoms.indices.map { ($0, $0) })
        leaves = plan.leaves.map { LeafMatcher($0, of: plan, lists: lists) }
        phrases = plan.phrases.indices.map { phrase in
            LeafMatcher(TextPlan.Leaf(phrases: [phrase], distance: 0), of: plan, lists: lists)
        }
        places = plan.atoms.map { _ in [] }
        lengths = Array(repeating: 0, count: plan.fieldCount)
    }

    /// Forgets the texts of an earlier object.
    mutating func removeAll() {
        for atom in places.indices { places[atom].removeAll(keepingCapacity: true) }
        for field in lengths.indices { lengths[field] = 0 }
    }

    /// Adds the text of a field, which is behind those that were added before.
    mutating func add(_ text: UnsafeRawBufferPointer, field: Int) {
        analyzer.forEachTerm(in: text.assumingMemoryBound(to: UInt8.self)) { term, position, _ in
            guard TextTerms.isTerm(term) else { return }
            lengths[field] += 1
            for (number, atom) in plan.atoms.enumerated() where atom.matches(term) {
                places[number].append(AtomPlaces.place(field: field, position: UInt32(clamping: position)))
            }
        }
    }

    /// Whether an object has a phrase.
    func has(_ phrase: Int) -> Bool { count(phrases[phrase], phraseCount: 1) != nil }

    /// For each field, each phrase of a leaf: how often it counts; nil if the object does not have the leaf.
    private func count(_ matcher: LeafMatcher, phraseCount: Int) -> [Int]? {
        var counts = Array(repeating: 0, count: max(plan.fieldCount * phraseCount, 1))
        // The lists are in one memory while they are compared.
        let all = places.flatMap { $0 }
        let isFound = all.withUnsafeBufferPointer { all in
            var end = 0
            let lists = places.map { list in
                defer { end += list.count }
                return UnsafeBufferPointer(rebasing: all[end..<end + list.count])
            }
            return lists.withUnsafeBufferPointer { lists in
                counts.withUnsafeMutableBufferPointer { counts in
                    counts.baseAddress.map { matcher.count(in: lists, into: $0) } ?? false
                }
            }
        }
        return isFound ? counts : nil
    }

    /// Whether the query selects the object.
    package var isMatch: Bool {
        var ignored = PhraseCounts(plan)
        return matches(&ignored)
    }

    /// Whether the query selects the object.
    ///
    /// - Parameter counts: Gets how often its fields have the phrases that count for the rank.
    /// - Returns: Whether it does.
    func matches(_ counts: inout PhraseCounts) -> Bool { matches(plan.root, &counts) }

    /// How often the fields of the object have the phrases of a leaf; nil if they do not have it.
    func counts(of leaf: Int) -> PhraseCounts? {
        var counts = PhraseCounts(plan)
        return matches(.leaf(leaf), &counts) ? counts : nil
    }

    private func matches(_ node: TextPlan.Node, _ counts: inout PhraseCounts) -> Bool {
        switch node {
        case .leaf(let place):
            let leaf = plan.leaves[place]
            guard let found = count(leaves[place], phraseCount: leaf.phrases.count) else { return false }
            for (place, phrase) in leaf.phrases.enumerated() {
                guard let rank = plan.phrases[phrase].rank else { continue }
                for field in lengths.indices {
                    counts.add(found[field * leaf.phrases.count + place], rank: rank, field: field)
                }
            }
            return true
        case .and(let nodes):
            // A part that does not match adds nothing.
            var found = counts
            guard nodes.allSatisfy({ matches($0, &found) }) else { return false }
            counts = found
            return true
        case .or(let nodes): return nodes.reduce(false) { matches($1, &counts) || $0 }
        case .not(let node):
            var ignored = counts
            return !matches(node, &ignored)
        case .all: return true
        case .none: return false
        }
    }
}

/// How often the fields of an object have the phrases that count for the rank.
struct PhraseCounts {
    /// For each phrase, each field.
    private(set) var numbers: [UInt32]
    private let fieldCount: Int

    init(_ plan: TextPlan) {
        fieldCount = plan.fieldCount
        numbers = Array(repeating: 0, count: plan.ranked.count * fieldCount)
    }

    mutating func add(_ count: Int, rank: Int, field: Int) {
        numbers[rank * fieldCount + field] &+= UInt32(clamping: count)
    }

    /// Adds the counts to those of other parts of a query.
    func add(to others: UnsafeMutableBufferPointer<UInt32>) {
        for place in numbers.indices { others[place] &+= numbers[place] }
    }
}
