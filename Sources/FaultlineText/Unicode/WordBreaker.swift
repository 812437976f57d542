/// The word boundaries of Unicode's annex 29 (UAX #29), found in UTF-8 in place.
///
/// A *segment* is the text between two boundaries: a word, a space, a punctuation mark.
struct WordBreaker {
    let reader: ScalarReader
    let table: ScalarTable

    /// The end of the segment that begins at a boundary below the text's end, and whether it has a letter, a number or
    /// an emoji.
    func segment(from start: Int) -> (end: Int, isWord: Bool) {
        var (scalar, length) = reader.scalar(at: start)
        var entry = table[scalar]
        var offset = start + length
        var isWord = entry.isWord
        /// The scalar just before `offset`; the last that is not attached to another one; the one before that.
        var last = entry.wordBreak
        var previous = last
        var before = WordBreak.other
        var indicators = previous == .regionalIndicator ? 1 : 0
        while offset < reader.count {
            (scalar, length) = reader.scalar(at: offset)
            entry = table[scalar]
            let next = entry.wordBreak
            if last.isLineEnd {
                return (last == .carriageReturn && next == .lineFeed ? offset + length : offset, isWord)
            }
            if next.isAttached {
                last = next
                offset += length
                isWord = isWord || entry.isWord
                continue
            }
            guard
                joins(previous, next, before: before, end: offset + length)
                    || last == .joiner && entry.isPictograph || last == .space && next == .space
                    || previous == .regionalIndicator && next == .regionalIndicator && indicators & 1 == 1
            else { return (offset, isWord) }
            indicators = next == .regionalIndicator ? indicators + 1 : 0
            before = previous
            previous = next
            last = next
            offset += length
            isWord = isWord || entry.isWord
        }
        return (offset, isWord)
    }

    /// Rules WB5 to WB13b for two scalars that follow each other.
    @inline(__always)
    private func joins(_ previous: WordBreak, _ next: WordBreak, before: WordBreak, end: Int) -> Bool {
        if previous.isLetter {
            if next.isLetter || next == .numeric || next == .connector { return true }
            if next.joinsLetters {
                return previous == .hebrewLetter && next == .singleQuote || following(end).isLetter
            }
            return previous == .hebrewLetter && next == .doubleQuote && following(end) == .hebrewLetter
        }
        if previous == .numeric {
            if next == .numeric || next.isLetter || next == .connector { return true }
            return next.joinsNumbers && following(end) == .numeric
        }
        if next.isLetter {
            return previous.joinsLetters && before.isLetter || previous == .connector
                || previous == .doubleQuote && next == .hebrewLetter && before == .hebrewLetter
        }
        if next == .numeric { return previous.joinsNumbers && before == .numeric || previous == .connector }
        if next == .katakana { return previous == .katakana || previous == .connector }
        return next == .connector && (previous == .katakana || previous == .connector)
    }

    /// The first scalar from an offset on that is not attached to the one before.
    func following(_ start: Int) -> WordBreak {
        var offset = start
        while offset < reader.count {
            let (scalar, length) = reader.scalar(at: offset)
            let next = table[scalar].wordBreak
            if !next.isAttached { return next }
            offset += length
        }
        return .other
    }
}
