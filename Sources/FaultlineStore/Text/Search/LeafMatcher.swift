internal import FaultlineText

/// Finds the phrases of a leaf in the places of its words in one object.
struct LeafMatcher: Sendable {
    /// By word, ascending: the places of each in the object.
    typealias Lists = UnsafeBufferPointer<UnsafeBufferPointer<UInt64>>

    /// For each phrase: its words, as numbers of lists.
    private let phrases: [[Int]]
    /// The lists of a single phrase of two words.
    private let pair: (first: Int, second: Int)?
    private let fields: UInt32
    private let fieldCount: Int
    private let distance: Int

    /// - Parameters:
    ///   - leaf: A leaf of a plan.
    ///   - plan: The plan.
    ///   - lists: For each atom of the plan that the leaf has: the number of its list.
    init(_ leaf: TextPlan.Leaf, of plan: TextPlan, lists: [Int: Int]) {
        phrases = leaf.phrases.map { plan.phrases[$0].atoms.map { lists[$0] ?? 0 } }
        pair = phrases.count == 1 && phrases[0].count == 2 ? (phrases[0][0], phrases[0][1]) : nil
        fields = plan.phrases[leaf.phrases[0]].fields
        fieldCount = plan.fieldCount
        distance = leaf.distance
    }

    /// Counts each phrase in each field.
    ///
    /// - Parameters:
    ///   - lists: The places of the words.
    ///   - counts: For each field, each phrase: gets how often it counts; zeros before.
    /// - Returns: Whether the object has the leaf.
    func count(in lists: Lists, into counts: UnsafeMutablePointer<Int>) -> Bool {
        if let pair { return countPair(lists[pair.first], lists[pair.second], into: counts) }
        return phrases.count == 1 ? countPhrase(in: lists, into: counts) : countNear(in: lists, into: counts)
    }

    private func countPair(
        _ first: UnsafeBufferPointer<UInt64>, _ second: UnsafeBufferPointer<UInt64>,
        into counts: UnsafeMutablePointer<Int>
    ) -> Bool {
        var isFound = false
        var passed = 0
        for start in first {
            while passed < second.count, second[passed] <= start { passed &+= 1 }
            if passed == second.count { break }
            if second[passed] == start &+ 1, hasField(of: start) {
                counts[AtomPlaces.field(of: start)] += 1
                isFound = true
            }
        }
        return isFound
    }

    /// Whether the leaf may be in the field of a place.
    @inline(__always)
    private func hasField(of place: UInt64) -> Bool {
        fields >> UInt32(truncatingIfNeeded: AtomPlaces.field(of: place)) & 1 != 0
    }

    private func countPhrase(in lists: Lists, into counts: UnsafeMutablePointer<Int>) -> Bool {
        var isFound = false
        forEachStart(in: lists) { start in
            guard hasField(of: start) else { return }
            counts[AtomPlaces.field(of: start)] += 1
            isFound = true
        }
        return isFound
    }

    /// Calls `body` with each place at which the words of the first phrase follow each other.
    @inline(__always)
    private func forEachStart(in lists: Lists, _ body: (UInt64) -> Void) {
        phrases[0].withUnsafeBufferPointer { words in
            // How many places of each word were passed.
            withUnsafeTemporaryAllocation(of: Int.self, capacity: words.count) { passed in
                passed.initialize(repeating: 0)
                search: for start in lists[words[0]] {
                    for word in 1..<max(words.count, 1) {
                        let list = lists[words[word]], wanted = start &+ UInt64(truncatingIfNeeded: word)
                        var place = passed[word]
                        while place < list.count, list[place] < wanted { place &+= 1 }
                        passed[word] = place
                        if place == list.count { return }
                        if list[place] != wanted { continue search }
                    }
                    body(start)
                }
            }
        }
    }

    private func countNear(in lists: Lists, into counts: UnsafeMutablePointer<Int>) -> Bool {
        let starts = phrases.map { Self.starts(of: $0, in: lists) }
        var isFound = false
        for field in 0..<fieldCount where fields >> UInt32(field) & 1 != 0 {
            let inField = starts.map { starts in
                starts.filter { AtomPlaces.field(of: $0) == field }.map(AtomPlaces.position)
            }
            if inField.contains(where: \.isEmpty) { continue }
            let found = TextNear.counts(starts: inField, lengths: phrases.map(\.count), distance: distance)
            guard found[0] > 0 else { continue }
            for (phrase, count) in found.enumerated() { counts[field * phrases.count + phrase] = count }
            isFound = true
        }
        return isFound
    }

    /// The places at which the words of a phrase follow each other.
    private static func starts(of phrase: [Int], in lists: Lists) -> [UInt64] {
        var starts = Array(lists[phrase[0]])
        for (offset, word) in phrase.enumerated().dropFirst() where !starts.isEmpty {
            var rest = lists[word][...]
            starts.removeAll { start in
                let wanted = start + UInt64(offset)
                rest = rest.drop { $0 < wanted }
                return rest.first != wanted
            }
        }
        return starts
    }
}
