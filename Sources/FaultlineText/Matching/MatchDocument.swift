/// A term or phrase in a text.
struct MatchOccurrence: Equatable {
    let position: Int
    let range: Range<Int>
}

/// The occurrences of a query's terms in one document.
struct MatchDocument {
    /// The number of terms in each field.
    var lengths: [Int]
    /// By term and field, in the order of positions.
    private var occurrences: [[MatchOccurrence]]

    init(termCount: Int, fieldCount: Int) {
        lengths = [Int](repeating: 0, count: fieldCount)
        occurrences = [[MatchOccurrence]](repeating: [], count: termCount * fieldCount)
    }

    mutating func add(_ term: Int, field: Int, _ occurrence: MatchOccurrence) {
        occurrences[term * lengths.count + field].append(occurrence)
    }

    /// Where the terms of a phrase follow each other in a field.
    func instances(of phrase: MatchPhrase, field: Int) -> [MatchOccurrence] {
        guard phrase.fields >> UInt32(field) & 1 != 0 else { return [] }
        let lists = phrase.terms.map { occurrences[$0 * lengths.count + field] }
        guard let firsts = lists.first, lists.allSatisfy({ !$0.isEmpty }) else { return [] }
        guard lists.count > 1 else { return firsts }
        var places = [Int](repeating: 0, count: lists.count)
        return firsts.compactMap { first in
            var end = first.range.upperBound
            for index in 1..<lists.count {
                let list = lists[index]
                let wanted = first.position + index
                while places[index] < list.count, list[places[index]].position < wanted { places[index] += 1 }
                guard places[index] < list.count, list[places[index]].position == wanted else { return nil }
                end = max(end, list[places[index]].range.upperBound)
            }
            return MatchOccurrence(position: first.position, range: first.range.lowerBound..<end)
        }
    }
}

/// Finds occurrences of phrases that lie close together.
///
/// A *clump* has one occurrence of each phrase, in one field. The number of terms between the end of any of them and the
/// start of the last one is at most `distance`: FTS5's definition.
struct MatchNear {
    let distance: Int

    /// The occurrences that are part of a clump, of each phrase.
    ///
    /// - Parameters:
    ///   - instances: The occurrences of each phrase.
    ///   - lengths: The number of terms of each phrase.
    /// - Returns: For each phrase a part of its occurrences; none at all if there is no clump.
    func filter(_ instances: [[MatchOccurrence]], lengths: [Int]) -> [[MatchOccurrence]] {
        var isKept = instances.map { [Bool](repeating: false, count: $0.count) }
        guard instances.allSatisfy({ !$0.isEmpty }) else { return instances.map { _ in [] } }
        let starts = Set(instances.joined().map(\.position)).sorted()
        // The first occurrences that lie in the window before a start, and the first that are not yet marked.
        var lower = [Int](repeating: 0, count: instances.count)
        var upper = lower
        var marked = lower
        for start in starts {
            for (phrase, list) in instances.enumerated() {
                while upper[phrase] < list.count, list[upper[phrase]].position <= start { upper[phrase] += 1 }
                while lower[phrase] < upper[phrase], list[lower[phrase]].position + lengths[phrase] + distance < start {
                    lower[phrase] += 1
                }
            }
            guard instances.indices.allSatisfy({ lower[$0] < upper[$0] }) else { continue }
            let atStart = instances.indices.filter { instances[$0][upper[$0] - 1].position == start }
            for phrase in instances.indices {
                if atStart == [phrase] {
                    // It is the last of the clump itself.
                    isKept[phrase][upper[phrase] - 1] = true
                } else {
                    let first = max(lower[phrase], marked[phrase])
                    for index in first..<max(first, upper[phrase]) { isKept[phrase][index] = true }
                    marked[phrase] = max(marked[phrase], upper[phrase])
                }
            }
        }
        return zip(instances, isKept).map { list, isKept in zip(list, isKept).filter(\.1).map(\.0) }
    }
}
