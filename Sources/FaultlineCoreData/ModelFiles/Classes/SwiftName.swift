/// Names of Swift, made of the names of a model.
enum SwiftName {
    private static let keywords: Set<String> = [
        "Any", "as", "associatedtype", "break", "case", "catch", "class", "continue", "default", "defer", "deinit",
        "do",
        "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if", "import",
        "in",
        "init", "inout", "internal", "is", "let", "nil", "operator", "precedencegroup", "private", "protocol", "public",
        "repeat", "rethrows", "return", "self", "Self", "static", "struct", "subscript", "super", "switch", "throw",
        "throws", "true", "try", "typealias", "var", "where", "while",
    ]
    /// Names that a property of a model class cannot have.
    private static let reserved: Set<String> = [
        "self", "Self", "init", "Type", "Protocol", "subscript", "modelContext", "persistentModelID", "hasChanges",
        "isDeleted", "persistentBackingData", "schemaMetadata", "hashValue",
    ]
    /// Names that a class cannot have: those of Swift, and of modules that the macros name.
    private static let reservedTypes: Set<String> = [
        "Any", "Self", "Type", "Protocol", "Faultline", "Foundation", "Swift",
    ]
    /// The types that written classes use.
    static let usedTypes: Set<String> = [
        "Bool", "Data", "Date", "Decimal", "Double", "Float", "Int16", "Int32", "Int64", "String", "URL", "UUID",
    ]

    /// The name with characters that Swift does not allow replaced by underscores.
    static func identifier(_ name: String) -> String {
        let scalars = name.unicodeScalars.map { scalar in
            scalar.properties.isIDContinue ? String(scalar) : "_"
        }
        let identifier = scalars.joined()
        guard let first = identifier.unicodeScalars.first else { return "_" }
        return first.properties.isIDStart || (first == "_" && identifier != "_") ? identifier : "_" + identifier
    }

    /// The name of a property; another one than the model's if Swift or the library needs that one.
    static func property(_ name: String) -> String {
        let identifier = identifier(name)
        return reserved.contains(identifier) ? identifier + "_" : identifier
    }

    /// The name of a class.
    static func type(_ name: String) -> String {
        let identifier = identifier(name)
        return reservedTypes.contains(identifier) ? identifier + "_" : identifier
    }

    /// The name as source has it: keywords in backticks.
    static func quoted(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

    /// A text as a literal.
    static func literal(_ text: String) -> String {
        var literal = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": literal += "\\\(scalar)"
            case "\n": literal += "\\n"
            case "\r": literal += "\\r"
            case "\t": literal += "\\t"
            case "\u{0}"..."\u{1F}", "\u{7F}", "\u{2028}", "\u{2029}":
                literal += "\\u{\(String(scalar.value, radix: 16))}"
            default: literal.unicodeScalars.append(scalar)
            }
        }
        return literal + "\""
    }

    /// A text as one line of a comment.
    static func comment(_ text: String) -> String {
        String(text.unicodeScalars.map { $0.properties.isWhitespace || $0.value < 0x20 ? " " : Character($0) })
    }
}
