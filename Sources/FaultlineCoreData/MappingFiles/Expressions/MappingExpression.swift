/// An expression of a mapping model, in the parts that Core Data's expressions have.
///
///     for property in mapping.attributes { print(property.name, property.expression?.description ?? "default") }
///
/// `description` is the text of the expression in the format of Core Data, such as `$source.author.name`.
public indirect enum MappingExpression: Hashable, Sendable {
    /// A value; nil stands for no value.
    case constant(ModelVersion.Value?)
    /// `$source` and other variables, by the name after the sign.
    case variable(String)
    /// `SELF`.
    case object
    /// A path of names in the value of an expression; nil stands for the object that a condition looks at.
    case keyPath(MappingExpression?, String)
    /// A call of a method on the value of an expression: `FUNCTION(operand, "name:", arguments)`.
    case function(MappingExpression, String, [MappingExpression])
    /// A call of a function of the format, such as `uppercase:(name)`, or a sum.
    case call(String, [MappingExpression])
    /// `{a, b}`.
    case list([MappingExpression])
    /// `FETCH(request, context, NO)`.
    case fetch(MappingExpression, MappingExpression, countsOnly: Bool)
    /// `SUBQUERY(collection, $variable, condition)`.
    case subquery(MappingExpression, String, MappingPredicate)
    /// `TERNARY(condition, a, b)`.
    case conditional(MappingPredicate, MappingExpression, MappingExpression)
    /// Text or a class that this release cannot read.
    case unreadable(String)
}

extension MappingExpression: CustomStringConvertible {
    /// The expression in the format of Core Data.
    ///
    /// - Complexity: O(n) for n parts.
    public var description: String {
        switch self {
        case .constant(let value): value?.literal ?? "nil"
        case .variable(let name): "$" + name
        case .object: "SELF"
        case .keyPath(nil, let path): path
        case .keyPath(let operand?, let path): "\(operand.enclosed).\(path)"
        case .function(let operand, let name, let arguments):
            "FUNCTION(\(Self.joined([operand, .constant(.text(name))] + arguments)))"
        case .call(let name, let arguments): Self.call(name, arguments)
        case .list(let members): "{\(Self.joined(members))}"
        case .fetch(let request, let context, let countsOnly):
            "FETCH(\(request), \(context), \(countsOnly ? "YES" : "NO"))"
        case .subquery(let collection, let name, let condition): "SUBQUERY(\(collection), $\(name), \(condition))"
        case .conditional(let condition, let first, let second): "TERNARY(\(condition), \(first), \(second))"
        case .unreadable(let text): text
        }
    }

    /// Signs that stand for functions with two arguments.
    static let signs = [
        "add:to:": "+", "from:subtract:": "-", "multiply:by:": "*", "divide:by:": "/", "raise:toPower:": "**",
    ]

    private static func call(_ name: String, _ arguments: [MappingExpression]) -> String {
        if let sign = signs[name], arguments.count == 2 { return "(\(arguments[0]) \(sign) \(arguments[1]))" }
        if name == "castObject:toType:" { return "CAST(\(joined(arguments)))" }
        return "\(name)(\(joined(arguments)))"
    }

    private static func joined(_ parts: [MappingExpression]) -> String {
        parts.map(\.description).joined(separator: ", ")
    }

    /// The text in parentheses where a path could not follow it.
    private var enclosed: String {
        switch self {
        case .constant, .keyPath(nil, _): "(\(self))"
        default: description
        }
    }
}

extension ModelVersion.Value {
    /// The value as the format of Core Data writes it.
    var literal: String {
        switch self {
        case .text(let text):
            "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n") + "\""
        case .date(let date): "CAST(\(date.timeIntervalSinceReferenceDate), \"NSDate\")"
        case .data, .uuid, .url: "<\(description)>"
        case .flag, .integer, .number, .decimal: description
        }
    }
}
