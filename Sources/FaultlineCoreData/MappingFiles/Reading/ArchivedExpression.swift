/// Turns the objects of an archived expression into an expression.
///
/// Classes and fields that it does not know become findings.
struct ArchivedExpression {
    private static let depthMax = 64
    /// The class that has the functions of the format.
    private static let functionsName = "_NSPredicateUtilities"

    /// Fields and classes that are not known: their names, and the classes of their objects.
    private(set) var unknown: [(name: String, of: String)] = []

    /// The numbers of the kinds of expressions.
    private enum Kind {
        static let constant = 0
        static let object = 1
        static let variable = 2
        static let keyPath = 3
        static let function = 4
        static let path = 10
        static let subquery = 13
        static let list = 14
        static let conditional = 20
        static let fetch = 50
    }

    private static let fields: Set<String> = [
        "NSExpressionType", "NSConstantValue", "NSConstantValueClassName", "NSVariable", "NSVariableExpression",
        "NSKeyPath", "NSOperand", "NSSelectorName", "NSArguments", "NSCollection", "NSCollectionExpression",
        "NSPredicate", "NSTrueExpression", "NSFalseExpression", "NSFRExpression", "NSMOCExpression", "NSCountOnlyFlag",
    ]

    /// The expression of an object; nil for none.
    mutating func expression(_ object: ArchivedObject?) -> MappingExpression? {
        object.map { expression($0, depth: 0) }
    }

    private mutating func expression(_ object: ArchivedObject, depth: Int) -> MappingExpression {
        guard depth < Self.depthMax else { return unreadable("an expression more than \(Self.depthMax) deep") }
        for key in object.keys where !Self.fields.contains(key) {
            unknown.append((key, object.className ?? "an object"))
        }
        switch object["NSExpressionType"]?.integer {
        case Kind.constant where object["NSConstantValueClassName"] != nil: return unreadable("a class")
        case Kind.constant: return constant(object["NSConstantValue"], depth: depth)
        case Kind.object: return .object
        case Kind.variable:
            return object["NSVariable"]?.text.map(MappingExpression.variable) ?? unreadable("a variable without a name")
        case Kind.path: return path(object)
        case Kind.keyPath where object["NSSelectorName"] == nil: return path(object)
        case Kind.keyPath, Kind.function: return function(object, depth: depth)
        case Kind.list:
            guard let members = object["NSCollection"]?.list else { return unreadable("a list without members") }
            return .list(members.map { expression($0, depth: depth + 1) })
        case Kind.subquery:
            guard let variable = object["NSVariable"]?.text ?? object["NSVariableExpression"]?["NSVariable"]?.text
            else { return unreadable("a subquery without a variable") }
            let collection = part(object["NSCollectionExpression"] ?? object["NSCollection"], depth: depth)
            return .subquery(collection, variable, condition(object["NSPredicate"]))
        case Kind.conditional:
            return .conditional(
                condition(object["NSPredicate"]), part(object["NSTrueExpression"], depth: depth),
                part(object["NSFalseExpression"], depth: depth))
        case Kind.fetch:
            return .fetch(
                part(object["NSFRExpression"], depth: depth), part(object["NSMOCExpression"], depth: depth),
                countsOnly: object["NSCountOnlyFlag"]?.integer == 1)
        default: return unreadable(object.className ?? "a value that is no expression")
        }
    }

    private mutating func unreadable(_ name: String) -> MappingExpression {
        unknown.append((name, "an expression"))
        return .unreadable("<\(name)>")
    }

    private mutating func part(_ object: ArchivedObject?, depth: Int) -> MappingExpression {
        object.map { expression($0, depth: depth + 1) } ?? unreadable("a missing part")
    }

    private mutating func path(_ object: ArchivedObject) -> MappingExpression {
        object["NSKeyPath"]?.text.map { .keyPath(nil, $0) } ?? unreadable("a path without names")
    }

    /// A condition inside of an expression, by its text.
    private mutating func condition(_ object: ArchivedObject?) -> MappingPredicate {
        guard let text = ArchivedPredicate.text(of: object) else {
            unknown.append(("a missing condition", "an expression"))
            return .unreadable("<a missing condition>")
        }
        let read = MappingPredicate.reading(text)
        if read.reason != nil { unknown.append((text, "an expression")) }
        return read.predicate
    }

    /// A key path is stored as a call of `valueForKeyPath:`, and a function of the format as one without an operand, or
    /// of the class that has them.
    private mutating func function(_ object: ArchivedObject, depth: Int) -> MappingExpression {
        guard let name = object["NSSelectorName"]?.text,
            object["NSArguments"] == nil || object["NSArguments"]?.list != nil
        else { return unreadable("a function without a name or a list of arguments") }
        let arguments = (object["NSArguments"]?.list ?? []).map { expression($0, depth: depth + 1) }
        if name == "valueForKey:" || name == "valueForKeyPath:", arguments.count == 1, let path = arguments[0].pathText
        {
            let operand = object["NSOperand"].map { expression($0, depth: depth + 1) } ?? .object
            return switch operand {
            case .object: .keyPath(nil, path)
            case .keyPath(let start, let first): .keyPath(start, "\(first).\(path)")
            default: .keyPath(operand, path)
            }
        }
        guard let operand = object["NSOperand"] else { return .call(name, arguments) }
        if let type = operand["NSConstantValueClassName"] {
            guard type.text == Self.functionsName else { return unreadable(type.text ?? "a class without a name") }
            return .call(name, arguments)
        }
        return .function(expression(operand, depth: depth + 1), name, arguments)
    }

    private mutating func constant(_ object: ArchivedObject?, depth: Int) -> MappingExpression {
        guard let object else { return .constant(nil) }
        if let value = ModelVersion.Value(constant: object) { return .constant(value) }
        guard let list = object.list, depth + 1 < Self.depthMax else {
            return unreadable(object.className ?? "a constant")
        }
        return .list(list.map { constant($0, depth: depth + 1) })
    }
}

extension MappingExpression {
    /// The names of a path from the object itself, or the text of a constant.
    fileprivate var pathText: String? {
        switch self {
        case .keyPath(nil, let path), .constant(.text(let path)): path
        default: nil
        }
    }
}

extension ModelVersion.Value {
    /// The value of an archived constant, by its own type; nil if it has none.
    fileprivate init?(constant object: ArchivedObject) {
        if let text = object.text {
            self = .text(text)
        } else if object.isFlag {
            self = .flag(object.integer == 1)
        } else if let whole = object.integer {
            self = .integer(Int64(whole))
        } else if let number = object.number {
            self = .number(number)
        } else if let date = object.date {
            self = .date(date)
        } else if let id = object.uuid {
            self = .uuid(id)
        } else if let url = object.url {
            self = .url(url)
        } else if object["NS.mantissa"] != nil, let decimal = object.decimal {
            self = .decimal(decimal)
        } else if let data = object.data {
            self = .data(data)
        } else {
            return nil
        }
    }
}
