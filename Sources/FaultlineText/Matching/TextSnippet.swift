/// A part of a field that shows a match best.
package struct TextSnippet: Sendable, Equatable {
    package let field: Int
    /// Bytes of the field.
    package let range: Range<Int>
    /// Bytes of the field that phrases of the query cover, within `range`.
    package let highlights: [Range<Int>]
    /// Whether the field has terms in front of the snippet, and behind it.
    package let isCut: (before: Bool, after: Bool)

    package static func == (left: TextSnippet, right: TextSnippet) -> Bool {
        left.field == right.field && left.range == right.range && left.highlights == right.highlights
            && left.isCut == right.isCut
    }
}

extension TextMatch {
    /// The part of a document that has the most different phrases of the query.
    ///
    /// Of equal parts that with the most occurrences counts, then the first one. Its occurrences are in its middle. If
    /// there is no occurrence to show, the part is the start of the field, or of the first one that is not empty.
    /// - Parameters:
    ///   - termCount: Most terms of the part, at least 1.
    ///   - fields: The texts that were matched.
    ///   - field: The only field to choose from; nil for all.
    ///   - analyzer: The analyzer of the match.
    /// - Returns: The part, or nil if there is no such field.
    package func snippet(
        termCount: Int, fields: [UnsafeBufferPointer<UInt8>], field: Int? = nil, analyzer: TextAnalyzer
    ) -> TextSnippet? {
        let termCount = max(termCount, 1)
        let chosen = window(of: termCount, field: field)
        let number = chosen?.field ?? field ?? lengths.firstIndex { $0 > 0 } ?? 0
        guard fields.indices.contains(number), lengths.indices.contains(number) else { return nil }
        var first = 0
        if let chosen {
            let spare = termCount - chosen.positions.count
            first = max(0, min(chosen.positions.lowerBound - spare / 2, lengths[number] - termCount))
        }
        let text = fields[number]
        let last = first + termCount - 1
        var start = 0
        var end = 0
        analyzer.forEachTerm(in: text) { _, position, range in
            if position == first { start = range.lowerBound }
            if position <= last { end = max(end, range.upperBound) }
        }
        let isCut = (before: first > 0, after: last < lengths[number] - 1)
        if !isCut.before { start = 0 }
        if !isCut.after { end = text.count }
        let highlights = highlights(in: number).compactMap { range -> Range<Int>? in
            let part = range.clamped(to: start..<end)
            return part.isEmpty ? nil : part
        }
        return TextSnippet(field: number, range: start..<end, highlights: highlights, isCut: isCut)
    }

    /// The positions from the first to the last occurrence in the best window.
    private func window(of termCount: Int, field: Int?) -> (field: Int, positions: Range<Int>)? {
        let sorted = hits.filter { field == nil || $0.field == field }.sorted {
            ($0.field, $0.positions.lowerBound) < ($1.field, $1.positions.lowerBound)
        }
        var best: (field: Int, positions: Range<Int>)?
        var bestScore = 0
        var counts: [Int: Int] = [:]
        var end = 0
        for (index, first) in sorted.enumerated() {
            // Occurrences from `index` to before `end` begin in the window.
            while end < sorted.count, sorted[end].field == first.field,
                end == index || sorted[end].positions.upperBound <= first.positions.lowerBound + termCount
            {
                counts[sorted[end].phrase, default: 0] += 1
                end += 1
            }
            let score = counts.count * 1_000_000 + min(end - index, 999_999)
            if score > bestScore {
                bestScore = score
                let upper = min(sorted[end - 1].positions.upperBound, first.positions.lowerBound + termCount)
                best = (first.field, first.positions.lowerBound..<upper)
            }
            counts[first.phrase, default: 1] -= 1
            if counts[first.phrase] == 0 { counts[first.phrase] = nil }
        }
        return best
    }
}
