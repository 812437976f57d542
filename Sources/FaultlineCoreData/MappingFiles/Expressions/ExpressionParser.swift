/// Reads the text of expressions and conditions, in the format of Core Data.
///
/// Bounds: the bytes of the text, the depth of parts inside each other, and the number of signs that join values: each
/// makes the expression one part deeper.
struct ExpressionParser {
    /// A part of the text; parentheses enclose both kinds.
    private enum Node {
        case expression(MappingExpression)
        case predicate(MappingPredicate)
    }

    private static let depthMax = 64
    private static let signCountMax = 256

    private var lexer: ExpressionLexer
    private var token = ExpressionLexer.Token.end
    private var depth = 0
    private var signCount = 0

    private init(_ text: String) throws(UnreadableText) {
        lexer = try ExpressionLexer(text)
        token = try lexer.next()
    }

    /// The expression of a text.
    static func expression(_ text: String) throws(UnreadableText) -> MappingExpression {
        var parser = try ExpressionParser(text)
        let node = try parser.whole()
        return try parser.expression(node)
    }

    /// The condition of a text.
    static func predicate(_ text: String) throws(UnreadableText) -> MappingPredicate {
        var parser = try ExpressionParser(text)
        let node = try parser.whole()
        return try parser.predicate(node)
    }

    private mutating func whole() throws(UnreadableText) -> Node {
        let node = try disjunction()
        guard token == .end else { throw failure("more text follows the end") }
        return node
    }

    // MARK: Words and signs

    private func failure(_ reason: String) -> UnreadableText {
        UnreadableText(position: max(lexer.position - 1, 0), reason: reason)
    }

    private mutating func advance() throws(UnreadableText) { token = try lexer.next() }

    private mutating func take(_ sign: String) throws(UnreadableText) -> Bool {
        guard token == .sign(sign) else { return false }
        try advance()
        return true
    }

    private mutating func take(anyOf words: [String]) throws(UnreadableText) -> Bool {
        guard case .word(let word) = token, words.contains(word.uppercased()) else { return false }
        try advance()
        return true
    }

    private mutating func expect(_ sign: String) throws(UnreadableText) {
        guard try take(sign) else { throw failure("\"\(sign)\" is missing") }
    }

    private func expression(_ node: Node) throws(UnreadableText) -> MappingExpression {
        guard case .expression(let expression) = node else { throw failure("a condition stands where a value should") }
        return expression
    }

    private func predicate(_ node: Node) throws(UnreadableText) -> MappingPredicate {
        guard case .predicate(let predicate) = node else { throw failure("a value stands where a condition should") }
        return predicate
    }

    // MARK: Conditions

    private mutating func disjunction() throws(UnreadableText) -> Node {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.depthMax else { throw failure("parts are more than \(Self.depthMax) deep in each other") }
        let first = try conjunction()
        var parts: [MappingPredicate] = []
        while true {
            var isJoined = try take("||")
            if !isJoined { isJoined = try take(anyOf: ["OR"]) }
            guard isJoined else { break }
            if parts.isEmpty { parts = [try predicate(first)] }
            parts.append(try predicate(try conjunction()))
        }
        return parts.isEmpty ? first : .predicate(.any(parts))
    }

    private mutating func conjunction() throws(UnreadableText) -> Node {
        let first = try negation()
        var parts: [MappingPredicate] = []
        while true {
            var isJoined = try take("&&")
            if !isJoined { isJoined = try take(anyOf: ["AND"]) }
            guard isJoined else { break }
            if parts.isEmpty { parts = [try predicate(first)] }
            parts.append(try predicate(try negation()))
        }
        return parts.isEmpty ? first : .predicate(.all(parts))
    }

    private mutating func negation() throws(UnreadableText) -> Node {
        var count = 0
        while true {
            var isNegated = try take("!")
            if !isNegated { isNegated = try take(anyOf: ["NOT"]) }
            guard isNegated else { break }
            count += 1
        }
        let node = try comparison()
        guard count > 0 else { return node }
        let inner = try predicate(node)
        return .predicate(count.isMultiple(of: 2) ? inner : .not(inner))
    }

    private static let signs: [String: MappingPredicate.Comparison.Sign] = [
        "=": .equal, "==": .equal, "!=": .notEqual, "<>": .notEqual, "<": .less, "<=": .lessOrEqual,
        "=<": .lessOrEqual, ">": .greater, ">=": .greaterOrEqual, "=>": .greaterOrEqual,
    ]

    private mutating func comparison() throws(UnreadableText) -> Node {
        if try take(anyOf: ["TRUEPREDICATE"]) { return .predicate(.constant(true)) }
        if try take(anyOf: ["FALSEPREDICATE"]) { return .predicate(.constant(false)) }
        var quantifier: MappingPredicate.Comparison.Quantifier?
        if try take(anyOf: ["ANY", "SOME"]) { quantifier = .any }
        if quantifier == nil, try take(anyOf: ["ALL"]) { quantifier = .all }
        if quantifier == nil, try take(anyOf: ["NONE"]) { quantifier = .notAny }
        let left = try sum()
        guard let sign = try comparisonSign() else {
            guard quantifier == nil else { throw failure("a comparison is missing") }
            return left
        }
        var comparison = MappingPredicate.Comparison(
            left: try expression(left), sign: sign, right: .object, quantifier: quantifier)
        if try take("[") {
            guard case .word(let letters) = token, letters.allSatisfy({ "cdnCDN".contains($0) }) else {
                throw failure("the options in brackets are not known")
            }
            comparison.ignoresCase = letters.lowercased().contains("c")
            comparison.ignoresDiacritics = letters.lowercased().contains("d")
            try advance()
            try expect("]")
        }
        comparison.right = try expression(try sum())
        return .predicate(.comparison(comparison))
    }

    private mutating func comparisonSign() throws(UnreadableText) -> MappingPredicate.Comparison.Sign? {
        let found: MappingPredicate.Comparison.Sign? =
            switch token {
            case .sign(let sign): Self.signs[sign]
            case .word(let word): MappingPredicate.Comparison.Sign(rawValue: word.uppercased())
            default: nil
            }
        if found != nil { try advance() }
        return found
    }

    // MARK: Arithmetic

    private mutating func sum() throws(UnreadableText) -> Node {
        try chain(of: ["+": "add:to:", "-": "from:subtract:"]) { (parser) throws(UnreadableText) in
            try parser.chain(of: ["*": "multiply:by:", "/": "divide:by:"]) { (parser) throws(UnreadableText) in
                try parser.chain(of: ["**": "raise:toPower:"]) { (parser) throws(UnreadableText) in
                    try parser.signed()
                }
            }
        }
    }

    private mutating func chain(
        of names: [String: String], _ part: (inout ExpressionParser) throws(UnreadableText) -> Node
    ) throws(UnreadableText) -> Node {
        var node = try part(&self)
        while case .sign(let sign) = token, let name = names[sign] {
            signCount += 1
            guard signCount <= Self.signCountMax else {
                throw failure("more than \(Self.signCountMax) signs join values")
            }
            try advance()
            node = .expression(.call(name, [try expression(node), try expression(try part(&self))]))
        }
        return node
    }

    private mutating func signed() throws(UnreadableText) -> Node {
        guard try take("-") else { return try path() }
        let value = try expression(try path())
        switch value {
        case .constant(.integer(let number)): return .expression(.constant(.integer(-number)))
        case .constant(.number(let number)): return .expression(.constant(.number(-number)))
        default: return .expression(.call("from:subtract:", [.constant(.integer(0)), value]))
        }
    }

    // MARK: Values

    private mutating func path() throws(UnreadableText) -> Node {
        let node = try value()
        var names: [String] = []
        while try take(".") {
            switch token {
            case .word(let name), .name(let name), .operation(let name): names.append(name)
            default: throw failure("no name follows the point")
            }
            try advance()
        }
        guard !names.isEmpty else { return node }
        let path = names.joined(separator: ".")
        switch try expression(node) {
        case .keyPath(let operand, let start): return .expression(.keyPath(operand, "\(start).\(path)"))
        case .object: return .expression(.keyPath(nil, path))
        case let operand: return .expression(.keyPath(operand, path))
        }
    }

    private mutating func value() throws(UnreadableText) -> Node {
        let token = token
        switch token {
        case .end: throw failure("the text ends where a value should stand")
        case .number(let digits):
            try advance()
            if let whole = Int64(digits) { return .expression(.constant(.integer(whole))) }
            guard let number = Double(digits), number.isFinite else { throw failure("\(digits) is no number") }
            return .expression(.constant(.number(number)))
        case .text(let text):
            try advance()
            return .expression(.constant(.text(text)))
        case .variable(let name):
            try advance()
            return .expression(.variable(name))
        case .name(let name), .operation(let name):
            try advance()
            return .expression(.keyPath(nil, name))
        case .sign("("):
            try advance()
            let node = try disjunction()
            try expect(")")
            return node
        case .sign("{"):
            try advance()
            return .expression(.list(try values(until: "}")))
        case .sign(let sign): throw failure("\"\(sign)\" stands where a value should")
        case .word(let word):
            try advance()
            return .expression(try take("(") ? try call(word) : Self.reserved(word))
        }
    }

    /// A word that stands for itself, or the name of a property.
    private static func reserved(_ word: String) -> MappingExpression {
        switch word.uppercased() {
        case "NIL", "NULL": .constant(nil)
        case "YES", "TRUE": .constant(.flag(true))
        case "NO", "FALSE": .constant(.flag(false))
        case "SELF": .object
        default: .keyPath(nil, word)
        }
    }

    /// The values up to a sign, which is taken.
    private mutating func values(until end: String) throws(UnreadableText) -> [MappingExpression] {
        var values: [MappingExpression] = []
        guard try !take(end) else { return values }
        repeat { values.append(try expression(try disjunction())) } while try take(",")
        try expect(end)
        return values
    }

    /// A call, after its opening parenthesis.
    private mutating func call(_ word: String) throws(UnreadableText) -> MappingExpression {
        let name = word.hasSuffix(":") && !word.dropLast().contains(":") ? String(word.dropLast()) : word
        switch name.uppercased() {
        case "TERNARY":
            let condition = try predicate(try disjunction())
            try expect(",")
            let branches = try values(until: ")")
            guard branches.count == 2 else { throw failure("TERNARY has a condition and two values") }
            return .conditional(condition, branches[0], branches[1])
        case "SUBQUERY":
            let collection = try expression(try disjunction())
            try expect(",")
            guard case .variable(let variable) = token else { throw failure("SUBQUERY names a variable") }
            try advance()
            try expect(",")
            let condition = try predicate(try disjunction())
            try expect(")")
            return .subquery(collection, variable, condition)
        case "FUNCTION":
            let parts = try values(until: ")")
            guard parts.count >= 2, case .constant(.text(let name)) = parts[1] else {
                throw failure("FUNCTION has an operand, and a name as a text")
            }
            return .function(parts[0], name, Array(parts.dropFirst(2)))
        case "FETCH":
            let parts = try values(until: ")")
            guard parts.count == 3, case .constant(.flag(let countsOnly)) = parts[2] else {
                throw failure("FETCH has a request, a context, and YES or NO")
            }
            return .fetch(parts[0], parts[1], countsOnly: countsOnly)
        case "CAST": return .call("castObject:toType:", try values(until: ")"))
        default:
            let parts = try values(until: ")")
            // Functions with one argument are written with and without the colon.
            return .call(parts.isEmpty || word.hasSuffix(":") ? word : name + ":", parts)
        }
    }
}

extension MappingExpression {
    /// Reads the text of an expression; text that cannot be read stays as it is, with the reason.
    static func reading(_ text: String) -> (expression: MappingExpression, reason: String?) {
        do { return (try ExpressionParser.expression(text), nil) } catch { return (.unreadable(text), "\(error)") }
    }
}

extension MappingPredicate {
    /// Reads the text of a condition; text that cannot be read stays as it is, with the reason.
    static func reading(_ text: String) -> (predicate: MappingPredicate, reason: String?) {
        do { return (try ExpressionParser.predicate(text), nil) } catch { return (.unreadable(text), "\(error)") }
    }
}
