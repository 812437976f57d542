/// Finds phrases that lie close together by their positions alone, as an index has them.
package enum TextNear {
    /// How many occurrences of each phrase are close to one of each other phrase, in one field.
    ///
    /// - Parameters:
    ///   - starts: For each phrase: the positions of its first terms, ascending.
    ///   - lengths: For each phrase: its number of terms.
    ///   - distance: Most terms between the end of one and the start of the last one.
    /// - Returns: A number for each phrase.
    package static func counts(starts: [[Int]], lengths: [Int], distance: Int) -> [Int] {
        let instances = starts.map { $0.map { MatchOccurrence(position: $0, range: 0..<0) } }
        return MatchNear(distance: distance).filter(instances, lengths: lengths).map(\.count)
    }
}
