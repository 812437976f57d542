/// A document that a query matches: which phrases it has, and where.
package struct TextMatch: Sendable, Equatable {
    /// An occurrence of a phrase that is part of the match.
    package struct Hit: Sendable, Equatable {
        /// The phrase's place in `TextQuery.phrases`.
        package let phrase: Int
        package let field: Int
        /// Positions of its terms.
        package let positions: Range<Int>
        /// Bytes from its first term to its last one.
        package let range: Range<Int>
    }

    /// All occurrences, by phrase, then by field and position.
    package let hits: [Hit]
    /// The number of terms in each field.
    package let lengths: [Int]

    /// How often each phrase occurs in each field, as `BM25` takes it: a list of fields for each phrase.
    package func frequencies(phraseCount: Int) -> [[Int]] {
        var frequencies = [[Int]](repeating: [Int](repeating: 0, count: lengths.count), count: phraseCount)
        for hit in hits { frequencies[hit.phrase][hit.field] += 1 }
        return frequencies
    }

    /// The bytes of a field that phrases cover, in order and without overlaps.
    package func highlights(in field: Int) -> [Range<Int>] {
        let ranges = hits.filter { $0.field == field }.map(\.range).sorted { $0.lowerBound < $1.lowerBound }
        return ranges.reduce(into: []) { merged, range in
            if let last = merged.last, range.lowerBound < last.upperBound {
                merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                merged.append(range)
            }
        }
    }
}
