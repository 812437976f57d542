extension TextAnalyzer {
    /// The terms of a part of a query, in the order of their text.
    ///
    /// Their offsets are the indices of the bytes. The text of a document that has these terms at positions that follow
    /// each other has the words of the query, and no text that has the words lacks them.
    /// - Parameters:
    ///   - content: UTF-8.
    ///   - isPrefix: Whether the last word may go on.
    /// - Returns: The terms; none if the text has no word.
    /// - Throws: `TextQueryError` for a word that is longer than a term.
    package func queryTerms(in content: ArraySlice<UInt8>, isPrefix: Bool) throws(TextQueryError) -> [TextTerm] {
        var found: [TextTerm] = []
        var last = TermKind.lastOfRun
        var cut: Int?
        content.withUnsafeBufferPointer { bytes in
            forEachTermWithKind(in: bytes) { term, _, range, kind in
                let offset = content.startIndex + range.lowerBound
                last = kind
                if kind == .cut { cut = cut ?? offset }
                // The pair before the last letter of a run has that letter too. A letter alone begins all its pairs.
                guard kind != .lastOfRun else { return }
                found.append(TextTerm(bytes: Array(term), isPrefix: kind == .single, offset: offset))
            }
        }
        if let cut {
            throw TextQueryError(
                .wordTooLong, at: cut,
                "The word has more than \(Self.termByteCountMax) bytes. Write its first letters and an asterisk.")
        }
        if isPrefix, last == .whole, let term = found.popLast() {
            found.append(TextTerm(bytes: term.bytes, isPrefix: true, offset: term.offset))
        }
        return found
    }
}
