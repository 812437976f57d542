package import FaultlineText

/// The texts of one object, evaluated without an index: of a row that is set aside, has unsaved values, or is read
/// because there is no index.
package struct TextDocument: Sendable {
    private let plan: TextPlan
    private let analyzer: TextAnalyzer
    /// By atom, then by field: the places of its words.
    private var positions: [[[UInt32]]]
    /// Words of each field.
    private(set) var lengths: [Int]

    package init(_ plan: TextPlan, _ analyzer: TextAnalyzer) {
        self.plan = plan
        self.analyzer = analyzer
        positions = plan.atoms.map { _ in Array(repeating: [], count: plan.fieldCount) }
        lengths = Array(repeating: 0, count: plan.fieldCount)
    }

    /// Forgets the texts of an earlier object.
    mutating func removeAll() {
        for field in lengths.indices {
            for atom in positions.indices where !positions[atom][field].isEmpty {
                positions[atom][field].removeAll(keepingCapacity: true)
            }
            lengths[field] = 0
        }
    }

    /// Adds the text of a field.
    mutating func add(_ text: UnsafeRawBufferPointer, field: Int) {
        analyzer.forEachTerm(in: text.assumingMemoryBound(to: UInt8.self)) { term, position, _ in
            guard TextTerms.isTerm(term) else { return }
            lengths[field] += 1
            for (place, atom) in plan.atoms.enumerated() where atom.matches(term) {
                positions[place][field].append(UInt32(clamping: position))
            }
        }
    }

    /// Whether an object has a phrase.
    func has(_ phrase: Int) -> Bool {
        let leaf = TextPlan.Leaf(phrases: [phrase], distance: 0)
        return lengths.indices.contains { field in
            plan.forEachCount(of: leaf, field: field, { positions[$0][field] }, { _, _ in })
        }
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
            var isFound = false
            for field in lengths.indices {
                let hasLeaf = plan.forEachCount(of: leaf, field: field, { positions[$0][field] }) { place, count in
                    guard let rank = plan.phrases[leaf.phrases[place]].rank else { return }
                    counts.add(count, rank: rank, field: field)
                }
                if hasLeaf { isFound = true }
            }
            return isFound
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

    mutating func removeAll() { for place in numbers.indices { numbers[place] = 0 } }

    mutating func add(_ count: Int, rank: Int, field: Int) {
        numbers[rank * fieldCount + field] &+= UInt32(clamping: count)
    }

    mutating func add(_ other: PhraseCounts) {
        for place in numbers.indices { numbers[place] &+= other.numbers[place] }
    }
}
