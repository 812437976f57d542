/// Divides a source text into its declarations.
///
/// It knows as much of the language as the tests need: brackets, strings, comments, attributes, conditions. A
/// declaration ends with its line, or with the line of its last closing bracket.
struct SourceText {
    private let bytes: [UInt8]

    init(_ text: String) {
        bytes = Array(text.utf8)
    }

    var all: Range<Int> { bytes.indices }

    func text(_ range: Range<Int>) -> String {
        String(decoding: bytes[range], as: UTF8.self)
    }

    /// Line and column of a position, both from 1 on.
    func place(of offset: Int) -> (line: Int, column: Int) {
        let before = bytes[..<offset]
        let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        return (before.count { $0 == UInt8(ascii: "\n") } + 1, offset - lineStart + 1)
    }

    /// The spaces that the line of a declaration begins with.
    func indentation(of declaration: Declaration) -> String {
        let start = declaration.range.lowerBound
        let lineStart = start - place(of: start).column + 1
        return text(lineStart..<end(of: lineStart) { $0 == UInt8(ascii: " ") })
    }

    /// The declarations in a range, in their order: the whole text, or what stands between the braces of a type.
    func declarations(in range: Range<Int>) -> [Declaration] {
        var declarations: [Declaration] = []
        var position = end(of: range.lowerBound, while: isSpace)
        while position < range.upperBound {
            let declaration = declaration(at: position, in: range)
            declarations.append(declaration)
            position = end(of: declaration.range.upperBound, while: isSpace)
        }
        return declarations
    }

    private func declaration(at start: Int, in range: Range<Int>) -> Declaration {
        if starts(with: "#if", at: start) {
            let end = endOfCondition(at: start)
            return Declaration(range: start..<end, attributes: [], start: start, kind: .condition)
        }
        var attributes: [Declaration.Attribute] = []
        var position = start
        while starts(with: "@", at: position) {
            let nameEnd = end(of: position + 1) { isPartOfName($0) || $0 == UInt8(ascii: ".") }
            let end = starts(with: "(", at: nameEnd) ? endOfBracket(at: nameEnd) : nameEnd
            attributes.append(.init(name: text(position + 1..<nameEnd), range: position..<end))
            position = self.end(of: end, while: isSpace)
        }
        let end = endOfDeclaration(at: position, in: range)
        return Declaration(
            range: start..<end, attributes: attributes, start: position, kind: kind(of: position..<end))
    }

    private func kind(of range: Range<Int>) -> Declaration.Kind {
        if starts(with: "#", at: range.lowerBound) {
            let nameStart = range.lowerBound + 1
            return .freestandingMacro(name: text(nameStart..<end(of: nameStart, while: isPartOfName)))
        }
        guard let brace = bytes[range].firstIndex(of: UInt8(ascii: "{")) else { return .other }
        let words = text(range.lowerBound..<brace).split(separator: " ")
        guard
            let keyword = words.indices.dropLast().first(where: { index in
                // `class` is also a modifier of members.
                ["class", "struct", "enum", "actor"].contains(words[index])
                    && !["var", "func"].contains(words[index + 1])
            })
        else { return .other }
        let name = words[keyword + 1].prefix { $0.isLetter || $0.isNumber || $0 == "_" }
        return .type(name: String(name), body: brace + 1..<endOfBracket(at: brace) - 1)
    }
}

extension SourceText {
    private func isSpace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\n")
    }

    private func isPartOfName(_ byte: UInt8) -> Bool {
        let sign = Unicode.Scalar(byte)
        return sign.properties.isAlphabetic || ("0"..."9").contains(sign) || sign == "_"
    }

    private func starts(with word: String, at position: Int) -> Bool {
        bytes[position...].starts(with: word.utf8)
    }

    /// The position behind the bytes that fulfil a condition.
    private func end(of start: Int, while condition: (UInt8) -> Bool) -> Int {
        bytes[start...].firstIndex { !condition($0) } ?? bytes.endIndex
    }

    /// The position behind `#endif`.
    private func endOfCondition(at start: Int) -> Int {
        bytes.indices[start...].first { starts(with: "#endif", at: $0) }.map { $0 + "#endif".utf8.count }
            ?? bytes.endIndex
    }

    /// The position behind the bracket that closes the one at a position.
    private func endOfBracket(at start: Int) -> Int {
        endOfText(at: start, in: all) { depth, _ in depth == 0 }.map { $0 + 1 } ?? bytes.endIndex
    }

    /// The position of the first line break outside of brackets.
    private func endOfDeclaration(at start: Int, in range: Range<Int>) -> Int {
        endOfText(at: start, in: range) { depth, byte in depth == 0 && byte == UInt8(ascii: "\n") } ?? range.upperBound
    }

    /// The first position outside of strings and comments that fulfils a condition on its byte and on the brackets that
    /// are open behind it.
    private func endOfText(
        at start: Int, in range: Range<Int>, where isEnd: (_ depth: Int, _ byte: UInt8) -> Bool
    ) -> Int? {
        var depth = 0
        var position = start
        while position < range.upperBound {
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: "\""):
                position = end(of: position + 1) { $0 != byte }
            case UInt8(ascii: "/") where starts(with: "//", at: position):
                position = end(of: position) { $0 != UInt8(ascii: "\n") }
                continue
            case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            default: break
            }
            if isEnd(depth, byte) { return position }
            position += 1
        }
        return nil
    }
}

/// A declaration in a source text, or a condition around some.
struct Declaration {
    struct Attribute {
        /// As written, without the `@`.
        let name: String
        /// With its arguments.
        let range: Range<Int>
    }

    enum Kind {
        /// A type, with what stands between its braces.
        case type(name: String, body: Range<Int>)
        case freestandingMacro(name: String)
        /// From `#if` to `#endif`: macros are expanded around it, not in it.
        case condition
        case other
    }

    let range: Range<Int>
    let attributes: [Attribute]
    /// Where it goes on behind its attributes.
    let start: Int
    let kind: Kind
}

extension String {
    /// The text with spaces before each line that is not empty.
    func indented(by spaces: String) -> String {
        split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.isEmpty ? "" : spaces + $0 }
            .joined(separator: "\n")
    }

    /// The spaces and line breaks at the end.
    var trailingSpace: String {
        String(reversed().prefix(while: \.isWhitespace).reversed())
    }

    var withoutTrailingSpace: String {
        String(dropLast(trailingSpace.count))
    }
}
