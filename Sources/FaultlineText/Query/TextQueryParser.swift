/// Parses the query language: `docs/features/SearchQueries.md` describes it.
///
///     or     = and { "OR" and }
///     and    = part { [ "AND" ] part | "NOT" part }
///     part   = "NOT" part | field ":" part | "(" or ")" | near | phrase [ "*" ] | word [ "*" ]
///     near   = "NEAR(" ( phrase | word ) ( phrase | word ) … [ "," number ] ")"
package struct TextQueryParser {
    let analyzer: TextAnalyzer
    let fields: [String]
    let text: [UInt8]
    var offset = 0

    /// Parses a query for the fields of an index.
    ///
    /// A query of spaces alone is `none`.
    ///
    /// - Throws: `TextQueryError`, which names the place and the remedy, for any text that is no query.
    package static func parse(
        _ text: String, analyzer: TextAnalyzer, fields: [String]
    ) throws(TextQueryError) -> TextQuery {
        var parser = TextQueryParser(analyzer: analyzer, fields: fields, text: Array(text.utf8))
        return try parser.query()
    }

    private mutating func query() throws(TextQueryError) -> TextQuery {
        guard text.count <= TextQuery.byteCountMax else { throw .queryTooLong(text.count) }
        skipSpace()
        guard offset < text.count else { return .none }
        let query = try alternatives(depth: 0)
        guard offset == text.count else {
            throw TextQueryError(.unbalanced, at: offset, "A closing parenthesis has no opening one. Remove it.")
        }
        return query
    }

    // MARK: Operators

    private mutating func alternatives(depth: Int) throws(TextQueryError) -> TextQuery {
        guard depth < TextQuery.depthMax else { throw .tooDeep(at: offset) }
        var operands = [try conjunction(depth: depth)]
        while takeKeyword("OR") { operands.append(try conjunction(depth: depth)) }
        return .disjunction(of: operands)
    }

    private mutating func conjunction(depth: Int) throws(TextQueryError) -> TextQuery {
        var operands = [try part(depth: depth)]
        while true {
            if takeKeyword("AND") {
                operands.append(try part(depth: depth))
            } else if offset < text.count, text[offset] != UInt8(ascii: ")"), !isKeyword("OR") {
                operands.append(try part(depth: depth))
            } else {
                return .conjunction(of: operands)
            }
        }
    }

    private mutating func part(depth: Int) throws(TextQueryError) -> TextQuery {
        guard depth < TextQuery.depthMax else { throw .tooDeep(at: offset) }
        let start = offset
        if takeKeyword("NOT") {
            return .negation(of: try part(depth: depth + 1))
        }
        guard offset < text.count, text[offset] != UInt8(ascii: ")"), !isKeyword("AND"), !isKeyword("OR") else {
            throw TextQueryError(
                .missingWord, at: offset, "A word or a phrase is missing here. Add one, or put an operator in quotes.")
        }
        if take("(") { return try group(from: start, depth: depth) }
        if takeNear() { return try near(from: start) }
        if let number = try takeField() {
            skipSpace()
            return .restriction(of: try part(depth: depth + 1), to: number)
        }
        return .sequence(of: try phrase())
    }

    private mutating func group(from start: Int, depth: Int) throws(TextQueryError) -> TextQuery {
        skipSpace()
        let query = try alternatives(depth: depth + 1)
        guard take(")") else {
            throw TextQueryError(.unbalanced, at: start, "The parenthesis is not closed. Close it.")
        }
        skipSpace()
        return query
    }

    private mutating func takeField() throws(TextQueryError) -> Int? {
        guard let end = endOfName() else { return nil }
        let name = String(decoding: text[offset..<end], as: UTF8.self)
        guard let number = fields.firstIndex(of: name) else { throw .unknownField(name, of: fields, at: offset) }
        offset = end + 1
        return number
    }

    /// Where the colon is behind a name that Swift allows for a property: `10:30` has none.
    func endOfName() -> Int? {
        var end = offset
        while end < text.count, Self.isOfName(text[end]) { end += 1 }
        guard end > offset, end < text.count, text[end] == UInt8(ascii: ":"), !Self.isDigit(text[offset]) else {
            return nil
        }
        return end
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        byte >= 0x80 || isDigit(byte) || byte == UInt8(ascii: "_")
            || byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "z")
    }

    static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

    // MARK: Reading

    mutating func skipSpace() {
        while offset < text.count, Self.isSpace(text[offset]) { offset += 1 }
    }

    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte >= 0x09 && byte <= 0x0D }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard offset < text.count, text[offset] == UInt8(ascii: character) else { return false }
        offset += 1
        return true
    }

    /// Whether a word in capital letters follows that is an operator.
    func isKeyword(_ word: StaticString) -> Bool {
        let end = offset + word.utf8CodeUnitCount
        guard end <= text.count else { return false }
        let isSame = word.withUTF8Buffer { $0.elementsEqual(text[offset..<end]) }
        return isSame && (end == text.count || text[end] != UInt8(ascii: "*") && endsWord(at: end))
    }

    private mutating func takeKeyword(_ word: StaticString) -> Bool {
        guard isKeyword(word) else { return false }
        offset += word.utf8CodeUnitCount
        skipSpace()
        return true
    }

    private mutating func takeNear() -> Bool {
        guard text[offset...].starts(with: "NEAR(".utf8) else { return false }
        offset += 5
        skipSpace()
        return true
    }
}
