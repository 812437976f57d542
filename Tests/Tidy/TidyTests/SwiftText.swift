/// Swift source with its code and its comments separated, line by line.
///
/// A small lexer splits the text. It handles nested comments, all forms of string literals, and interpolations, whose
/// code counts as part of the literal.
struct SwiftText: Sendable {
    /// The lines with comments and literals blanked out.
    let code: [String]
    /// The lines with everything but comments blanked out.
    let comments: [String]

    init(_ text: String) {
        var lexer = Lexer(bytes: Array(text.utf8))
        lexer.run()
        code = Self.lines(lexer.code)
        comments = Self.lines(lexer.comments)
    }

    private static func lines(_ bytes: [UInt8]) -> [String] {
        bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
    }
}

private struct Lexer {
    let bytes: [UInt8]
    var code: [UInt8]
    var comments: [UInt8]
    var place = 0

    init(bytes: [UInt8]) {
        self.bytes = bytes
        code = bytes
        comments = bytes.map { $0 == UInt8(ascii: "\n") ? $0 : UInt8(ascii: " ") }
    }

    mutating func run() {
        while place < bytes.count {
            switch bytes[place] {
            case UInt8(ascii: "/") where starts("//"):
                let end = bytes[place...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
                comment(to: end)
            case UInt8(ascii: "/") where starts("/*"): comment(to: endOfBlockComment())
            case UInt8(ascii: "\""), UInt8(ascii: "#"):
                if let literal = openingQuote() { skipLiteral(literal) } else { place += 1 }
            default: place += 1
            }
        }
    }

    private func starts(_ text: StaticString, at start: Int? = nil) -> Bool {
        let start = start ?? place
        guard start + text.utf8CodeUnitCount <= bytes.count else { return false }
        return (0..<text.utf8CodeUnitCount).allSatisfy { bytes[start + $0] == text.utf8Start[$0] }
    }

    private mutating func comment(to end: Int) {
        for index in place..<end where bytes[index] != UInt8(ascii: "\n") {
            comments[index] = bytes[index]
            code[index] = UInt8(ascii: " ")
        }
        place = end
    }

    private func endOfBlockComment() -> Int {
        var depth = 0
        var end = place
        while end < bytes.count {
            if starts("/*", at: end) {
                depth += 1
                end += 2
            } else if starts("*/", at: end) {
                depth -= 1
                end += 2
                if depth == 0 { return end }
            } else {
                end += 1
            }
        }
        return end
    }

    /// Returns the numbers of `#` and `"` characters at the start of the literal at `place`.
    private func openingQuote() -> (hashes: Int, quotes: Int)? {
        var end = place
        while end < bytes.count, bytes[end] == UInt8(ascii: "#") { end += 1 }
        guard end < bytes.count, bytes[end] == UInt8(ascii: "\"") else { return nil }
        return (end - place, starts("\"\"\"", at: end) ? 3 : 1)
    }

    private mutating func skipLiteral(_ literal: (hashes: Int, quotes: Int)) {
        advance(literal.hashes + literal.quotes)
        let hashes = [UInt8](repeating: UInt8(ascii: "#"), count: literal.hashes)
        let closing = [UInt8](repeating: UInt8(ascii: "\""), count: literal.quotes) + hashes
        let escape = [UInt8(ascii: "\\")] + hashes
        while place < bytes.count {
            if bytes[place...].starts(with: closing) { return advance(closing.count) }
            if literal.quotes == 1, bytes[place] == UInt8(ascii: "\n") { return }
            guard bytes[place...].starts(with: escape) else {
                advance(1)
                continue
            }
            advance(escape.count)
            if place < bytes.count, bytes[place] == UInt8(ascii: "(") { skipInterpolation() } else { advance(1) }
        }
    }

    private mutating func skipInterpolation() {
        var depth = 0
        while place < bytes.count {
            if let literal = openingQuote() {
                skipLiteral(literal)
                continue
            }
            if bytes[place] == UInt8(ascii: "(") { depth += 1 }
            if bytes[place] == UInt8(ascii: ")") { depth -= 1 }
            advance(1)
            if depth == 0 { return }
        }
    }

    /// Skips a number of bytes, and blanks them out.
    private mutating func advance(_ count: Int) {
        for index in place..<min(place + count, bytes.count) where bytes[index] != UInt8(ascii: "\n") {
            code[index] = UInt8(ascii: " ")
        }
        place = min(place + count, bytes.count)
    }
}
