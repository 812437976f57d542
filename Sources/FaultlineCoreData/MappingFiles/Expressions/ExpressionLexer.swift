/// The words and signs of an expression's text.
struct ExpressionLexer {
    enum Token: Equatable {
        /// A word, with the colons of a function's name.
        case word(String)
        /// A word with a sharp sign before it, which is never a reserved one.
        case name(String)
        /// The name after `$`.
        case variable(String)
        /// The name after `@`, with the sign.
        case operation(String)
        case number(String)
        case text(String)
        case sign(String)
        case end
    }

    /// The longest text that is read, in bytes.
    static let byteCountMax = 64 << 10

    private let scalars: [Unicode.Scalar]
    private(set) var position = 0

    init(_ text: String) throws(UnreadableText) {
        guard text.utf8.count <= Self.byteCountMax else {
            throw UnreadableText(position: 0, reason: "it has more than \(Self.byteCountMax) bytes")
        }
        scalars = Array(text.unicodeScalars)
    }

    private var current: Unicode.Scalar? { scalars.indices.contains(position) ? scalars[position] : nil }

    private func scalar(_ offset: Int) -> Unicode.Scalar? {
        scalars.indices.contains(position + offset) ? scalars[position + offset] : nil
    }

    private static func begins(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.isAlphabetic || scalar == "_" }
    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }
    private static func continues(_ scalar: Unicode.Scalar) -> Bool { begins(scalar) || isDigit(scalar) }

    /// The next word or sign.
    mutating func next() throws(UnreadableText) -> Token {
        while let scalar = current, scalar.properties.isWhitespace { position += 1 }
        guard let scalar = current else { return .end }
        if Self.begins(scalar) { return .word(word(withColons: true)) }
        if Self.isDigit(scalar) { return number() }
        switch scalar {
        case "\"", "'": return .text(try text(until: scalar))
        case "$": return .variable(try named("$"))
        case "@": return .operation("@" + (try named("@")))
        case "#": return .name(try named("#"))
        default: return try sign(scalar)
        }
    }

    private mutating func named(_ sign: String) throws(UnreadableText) -> String {
        position += 1
        guard let scalar = current, Self.begins(scalar) else {
            throw UnreadableText(position: position, reason: "no name follows \(sign)")
        }
        return word(withColons: false)
    }

    private mutating func word(withColons: Bool) -> String {
        var word = String.UnicodeScalarView()
        while let scalar = current {
            // The colons of `add:to:(a, b)`.
            let isColon = withColons && scalar == ":" && self.scalar(1).map { Self.begins($0) || $0 == "(" } == true
            guard Self.continues(scalar) || isColon else { break }
            word.append(scalar)
            position += 1
        }
        return String(word)
    }

    private mutating func number() -> Token {
        var digits = String.UnicodeScalarView()
        while let scalar = current {
            let isExponent = scalar == "e" || scalar == "E"
            let isSign = (scalar == "-" || scalar == "+") && (digits.last == "e" || digits.last == "E")
            let isPoint = scalar == "." && self.scalar(1).map(Self.isDigit) == true
            guard Self.isDigit(scalar) || isExponent || isSign || isPoint else { break }
            digits.append(scalar)
            position += 1
        }
        return .number(String(digits))
    }

    private mutating func text(until quote: Unicode.Scalar) throws(UnreadableText) -> String {
        let start = position
        position += 1
        var text = String.UnicodeScalarView()
        while let scalar = current {
            position += 1
            if scalar == quote { return String(text) }
            guard scalar == "\\", let escaped = current else {
                text.append(scalar)
                continue
            }
            position += 1
            switch escaped {
            case "n": text.append("\n")
            case "t": text.append("\t")
            case "r": text.append("\r")
            default: text.append(escaped)
            }
        }
        throw UnreadableText(position: start, reason: "a text has no end")
    }

    private static let pairs = ["==", "!=", "<>", "<=", "=<", ">=", "=>", "&&", "||", "**"]

    private mutating func sign(_ scalar: Unicode.Scalar) throws(UnreadableText) -> Token {
        if let following = self.scalar(1) {
            let pair = "\(scalar)\(following)"
            if Self.pairs.contains(pair) {
                position += 2
                return .sign(pair)
            }
        }
        guard "(){}[],.+-*/=<>!".unicodeScalars.contains(scalar) else {
            throw UnreadableText(position: position, reason: "the character \"\(scalar)\" has no meaning here")
        }
        position += 1
        return .sign(String(scalar))
    }
}

/// The reason why the text of an expression cannot be read, and the place in it.
struct UnreadableText: Error, CustomStringConvertible {
    /// The number of characters before the place.
    let position: Int
    let reason: String

    var description: String { "at character \(position + 1) \(reason)" }
}
