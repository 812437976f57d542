extension TextQueryParser {
    /// Reads `NEAR` behind its parenthesis.
    mutating func near(from start: Int) throws(TextQueryError) -> TextQuery {
        var phrases: [[TextTerm]] = []
        var distance = TextQuery.nearDistance
        while !take(")") {
            guard offset < text.count else {
                throw TextQueryError(.unbalanced, at: start, "The parenthesis of NEAR is not closed. Close it.")
            }
            if take(",") {
                distance = try nearDistance()
                guard take(")") else {
                    throw TextQueryError(
                        .invalidNear, at: offset, "NEAR ends with its number. Close the parenthesis behind it.")
                }
                break
            }
            guard text[offset] != UInt8(ascii: "("), !isKeyword("AND"), !isKeyword("OR"), !isKeyword("NOT"),
                endOfName() == nil
            else {
                throw TextQueryError(
                    .invalidNear, at: offset, "NEAR takes words and phrases. Put other parts outside of it.")
            }
            phrases.append(try phrase(isInNear: true))
        }
        guard phrases.count > 1 else {
            throw TextQueryError(.invalidNear, at: start, "NEAR takes at least two words or phrases. Add one.")
        }
        skipSpace()
        return .near(phrases, distance: distance)
    }

    private mutating func nearDistance() throws(TextQueryError) -> Int {
        skipSpace()
        let start = offset
        var number = 0
        while offset < text.count, Self.isDigit(text[offset]), number <= TextQuery.nearDistanceMax {
            number = number * 10 + Int(text[offset] - UInt8(ascii: "0"))
            offset += 1
        }
        guard offset > start, number <= TextQuery.nearDistanceMax else {
            throw TextQueryError(
                .invalidNear, at: start, "A number of words is missing here. Write one from 0 to 999,999.")
        }
        skipSpace()
        return number
    }

    /// Reads a word or a phrase in quotation marks, with the asterisk of a prefix, and the space behind it.
    ///
    /// A word of several terms is a phrase of them: `2026-11-28`.
    mutating func phrase(isInNear: Bool = false) throws(TextQueryError) -> [TextTerm] {
        let start = offset
        let content: Range<Int>
        if let quote = quotationMark(at: offset) {
            offset += quote
            let first = offset
            while offset < text.count, quotationMark(at: offset) == nil { offset += 1 }
            guard let closing = quotationMark(at: offset) else {
                throw TextQueryError(.unbalanced, at: start, "The quotation mark is not closed. Close it.")
            }
            content = first..<offset
            offset += closing
        } else {
            while offset < text.count, !endsWord(at: offset), !(isInNear && text[offset] == UInt8(ascii: ",")) {
                offset += 1
            }
            content = start..<offset
            if text[start...].first == UInt8(ascii: "-") {
                throw TextQueryError(
                    .misplacedMinus, at: start, "A minus excludes nothing. Write NOT, or put the word in quotes.")
            }
        }
        let isPrefix = take("*")
        if isPrefix, offset == start + 1 {
            throw TextQueryError(.misplacedAsterisk, at: start, "An asterisk alone is no word. Write it behind one.")
        }
        if isPrefix, offset < text.count, !endsWord(at: offset), !(isInNear && text[offset] == UInt8(ascii: ",")) {
            throw TextQueryError(
                .misplacedAsterisk, at: offset - 1,
                "An asterisk stands at the end of a word. Remove the letters behind it, or put the word in quotes.")
        }
        let found = try analyzer.queryTerms(in: text[content], isPrefix: isPrefix)
        guard !found.isEmpty else { throw .noWord(at: start) }
        skipSpace()
        return found
    }

    /// The number of bytes of a quotation mark: `"`, `“`, `”` or `„`.
    private func quotationMark(at place: Int) -> Int? {
        guard place < text.count else { return nil }
        if text[place] == UInt8(ascii: "\"") { return 1 }
        guard text[place] == 0xE2, place + 2 < text.count, text[place + 1] == 0x80 else { return nil }
        return text[place + 2] >= 0x9C && text[place + 2] <= 0x9E ? 3 : nil
    }

    func endsWord(at place: Int) -> Bool {
        Self.isSpace(text[place]) || "()*".utf8.contains(text[place]) || quotationMark(at: place) != nil
    }
}
